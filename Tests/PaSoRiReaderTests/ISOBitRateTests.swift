// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ISO7816
import ReaderCore
import SimulatedChips
import Synchronization
import TestSupport
import Testing
import VirtualReader

@testable import PaSoRiReader

/// Cards of type A and B on an RC-S380 that support more than 106 kbit/s, or say so.
struct ISOBitRateTests {
    private static let content = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 5 &+ 3) }
    private static let select: [UInt8] = [0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01]
    private static let read: [UInt8] = [0x00, 0xB0, 0x00, 0x00, 0xC8]
    private static let types: [Technology] = [.typeA, .typeB]

    /// - Parameters:
    ///   - rates: TA(1) of its ATS, or the first byte of its protocol info.
    ///   - quirks: as in `virtual.quirks`.
    private static func bench(
        _ type: Technology, rates: String, quirks: [String] = [], refusesFasterRates: Bool = false
    ) throws -> Port100Bench {
        let data = content.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let identity =
            type == .typeA
            ? #""typeA":{"uid":"04a8d862bc2b80","ats":"0578\#(rates)8102"}"#
            : #""typeB":{"pupi":"e8253eec","protocolInfo":"\#(rates)8181"}"#
        let text = """
            {"schema":"kazasu.card/1",\(identity),"masterFile":{"files":{"2F01":"\(data)"}},
             "virtual":{"quirks":[\(quirks.map { "\"\($0)\"" }.joined(separator: ","))]}}
            """
        return try Port100Bench(VirtualField(cardFile: Array(text.utf8)), refusesFasterRates: refusesFasterRates)
    }

    private static func activate(_ bench: Port100Bench, _ type: Technology) throws {
        let picc = try bench.reader.activate(type == .typeA ? .typeA() : .typeB())
        #expect(picc?.technology == type && picc?.isISODEP == true)
    }

    /// Selects a file and reads it; returns the time on air of the read.
    @discardableResult
    private static func work(_ bench: Port100Bench) throws -> Duration {
        #expect(try bench.reader.transceive(select, timeout: .seconds(1)) == [0x90, 0x00])
        let before = bench.field.statistics.time
        #expect(try bench.reader.transceive(read, timeout: .seconds(1)) == content + [0x90, 0x00])
        #expect(bench.chip.statistics.complaints == [])
        return bench.field.statistics.time - before
    }

    /// Whether the chip was set to a speed above 106 kbit/s.
    private static func raises(_ log: [String]) -> Int {
        log.count { line in
            ["d60004040f04", "d60005050f05", "d60003080f08", "d60003090f09"].contains { line.contains($0) }
        }
    }

    /// 77: up to 848 both ways, of which the chip supports 424; B3: the same up to 424; 11: 212; 31: 212 to the card and 424 from
    /// it, of which 212 is used.
    @Test(arguments: types, [("77", 4), ("b3", 4), ("33", 4), ("11", 2), ("31", 2)])
    func usesTheHighestSpeed(_ type: Technology, _ row: (String, Int)) throws {
        let slow = try Self.bench(type, rates: "00")
        let fast = try Self.bench(type, rates: row.0)
        for bench in [slow, fast] { try Self.activate(bench, type) }
        let times = (try Self.work(slow), try Self.work(fast))
        #expect(abs((times.0 - times.1 * row.1) / .microseconds(1)) < 2)
        // Back at 106 kbit/s, and found again.
        try Self.activate(fast, type)
        #expect(try Self.work(fast) == times.1)
    }

    @Test(arguments: types, ["00", "80", "08", "7f", "21"])
    func changesNothingWithoutACommonSpeed(_ type: Technology, _ rates: String) throws {
        let bench = try Self.bench(type, rates: rates)
        _ = bench.link.takeLog()
        try Self.activate(bench, type)
        try Self.work(bench)
        #expect(Self.raises(bench.link.takeLog()) == 0)
    }

    @Test func searchingAloneLeavesTheSpeedAlone() throws {
        let bench = try Self.bench(.typeA, rates: "77")
        _ = bench.link.takeLog()
        try Self.activate(bench, .typeA)
        #expect(try bench.reader.isCardPresent() == true)
        // A block was sent: the card takes no PPS any more.
        try Self.work(bench)
        #expect(Self.raises(bench.link.takeLog()) == 0)
    }

    /// The first read is right in any case, and no card is raised on this reader again.
    @Test(arguments: types, ["dep-pps-mute", "dep-pps-deaf"])
    func givesUpASpeedThatFails(_ type: Technology, _ quirk: String) throws {
        let bench = try Self.bench(type, rates: "77", quirks: [quirk])
        try Self.activate(bench, type)
        try Self.work(bench)
        _ = bench.link.takeLog()
        try Self.activate(bench, type)
        try Self.work(bench)
        #expect(Self.raises(bench.link.takeLog()) == 0)
    }

    @Test(arguments: types) func readsWithAChipThatRefusesTheSpeed(_ type: Technology) throws {
        let bench = try Self.bench(type, rates: "77", refusesFasterRates: true)
        for expected in [1, 0] {
            _ = bench.link.takeLog()
            try Self.activate(bench, type)
            try Self.work(bench)
            #expect(Self.raises(bench.link.takeLog()) == expected)
        }
    }

    /// Nothing is sent twice that was answered before.
    @Test(arguments: types) func damageEndsTheSpeed(_ type: Technology) throws {
        let bench = try Self.bench(type, rates: "77", quirks: ["dep-pps-damage"])
        try Self.activate(bench, type)
        #expect(try bench.reader.transceive(Self.select, timeout: .seconds(1)) == [0x90, 0x00])
        #expect { try bench.reader.transceive(Self.read, timeout: .seconds(1)) } throws: {
            if case TransportError.corrupted = $0 { true } else { false }
        }
        #expect(throws: TransportError.cardReleased) { try bench.reader.transceive(Self.read, timeout: .seconds(1)) }
        try Self.activate(bench, type)
        try Self.work(bench)
    }

    /// What changes a card is never sent twice.
    @Test(arguments: types) func repeatsOnlyWhatChangesNothing(_ type: Technology) throws {
        let bench = try Self.bench(type, rates: "77", quirks: ["dep-pps-deaf"])
        try Self.activate(bench, type)
        #expect(throws: TransportError.noAnswer) {
            try bench.reader.transceive([0x00, 0x20, 0x00, 0x81, 0x04, 1, 2, 3, 4], timeout: .seconds(1))
        }
        #expect(bench.field.statistics.apdus == 0)
        try Self.activate(bench, type)
        try Self.work(bench)
    }

    /// What a residence card of type B costs on air and in the card, and the bytes of its APDUs.
    private static func residenceCard(rates: String) throws -> (air: Duration, bytes: Int) {
        var text = String(decoding: try TestFiles.read("Fixtures/iso7816/residence/second.json"), as: UTF8.self)
        let start = try #require(text.firstRange(of: "\"typeB\""))
        let end = try #require(text[start.lowerBound...].firstRange(of: "}"))
        text.replaceSubrange(
            start.lowerBound..<end.upperBound, with: #""typeB":{"pupi":"e8253eec","protocolInfo":"\#(rates)8181"}"#)
        let bench = try Port100Bench(VirtualField(cardFile: Array(text.utf8)))
        let bytes = Mutex(0)
        let recorder = RecordingReader(bench.reader) { entry in
            guard case .transceive(let command, _, let answer) = entry.event else { return }
            bytes.withLock { $0 += command.count + ((try? answer.get())?.count ?? 0) }
        }
        let picc = try #require(try recorder.activate(.typeB()))
        let session = ISO7816Session(reader: recorder, picc: picc, request: .typeB())
        var reader = try ResidenceReader(session, picc.identity) { count in
            (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
        }
        reader.unlock(try #require(ResidenceNumber("AA12345678BB")))
        let dump = reader.finish()
        #expect(reader.error == nil)
        #expect(dump.applications.flatMap(\.files).allSatisfy { $0.state == .read })
        return (bench.field.statistics.time, bytes.withLock { $0 })
    }

    /// A quarter of the time, and little more than what the bytes take at 424 kbit/s.
    @Test func residenceCardsOfTypeBAreReadAtTheHighestSpeed() throws {
        let (slow, fast) = (try Self.residenceCard(rates: "00"), try Self.residenceCard(rates: "b3"))
        #expect(slow.bytes == fast.bytes)
        #expect(slow.air > fast.air * 3.5)
        let least = Duration.microseconds(fast.bytes * 9 * 1000) / 423.75
        #expect(fast.air <= least * 1.3, "\(fast.air) for \(least)")
    }
}
