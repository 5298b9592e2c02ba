// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// Cards of type A that support more than 106 kbit/s, or say so.
@Suite(.waits)
struct BitRateTests {
    private static let content = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 5 &+ 3) }
    /// Any file identifier will do.
    private static let select: [UInt8] = [0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01]
    private static let read: [UInt8] = [0x00, 0xB0, 0x00, 0x00, 0xC8]
    /// InPSL.
    private static let changeRates: UInt8 = 0x4E

    /// - Parameters:
    ///   - rates: TA(1) of its ATS.
    ///   - quirks: as in `virtual.quirks`.
    static func bench(_ way: Way, rates: String, quirks: [String] = []) throws -> Bench {
        let data = content.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let text = """
            {"schema":"kazasu.card/1","typeA":{"uid":"04a8d862bc2b80","ats":"0578\(rates)8102"},
             "masterFile":{"files":{"2F01":"\(data)"}},
             "virtual":{"quirks":[\(quirks.map { "\"\($0)\"" }.joined(separator: ","))]}}
            """
        return try Bench(way, field: VirtualField(cardFile: Array(text.utf8)))
    }

    /// Selects a file and reads it; returns the time on air of the read.
    @discardableResult
    private static func work(_ bench: Bench) throws -> Duration {
        #expect(try bench.exchange(select, within: ISO14443Tests.time) == [0x90, 0x00])
        let before = bench.field.statistics.time
        #expect(try bench.exchange(read, within: ISO14443Tests.time) == content + [0x90, 0x00])
        return bench.field.statistics.time - before
    }

    private static func changes(_ bench: Bench) -> Int {
        bench.server.statistics.commandsByCode[changeRates, default: 0]
    }

    /// 77: up to 848 both ways, of which the chip supports 424; B3: the same up to 424; 33 and 11 likewise.
    @Test("The highest speed of both is used", arguments: Way.with([("77", 4), ("b3", 4), ("33", 4), ("11", 2)]))
    func highest(_ row: (String, Int), _ way: Way) throws {
        let slow = try Self.bench(way, rates: "00")
        let fast = try Self.bench(way, rates: row.0)
        for bench in [slow, fast] { #expect(try bench.reader.activate(.typeA())?.isISODEP == true) }
        let times = (try Self.work(slow), try Self.work(fast))
        #expect(abs((times.0 - times.1 * row.1) / .microseconds(1)) < 1)
        #expect(Self.changes(slow) == 0)
        #expect(Self.changes(fast) == 1)
    }

    /// 80 demands the same both ways and names no speed, 08 is reserved, D1 has none in common.
    @Test("Without a speed in common nothing changes", arguments: Way.with(["80", "08", "7f", "d1"]))
    func none(_ rates: String, _ way: Way) throws {
        let bench = try Self.bench(way, rates: rates)
        _ = try bench.reader.activate(.typeA())
        try Self.work(bench)
        #expect(Self.changes(bench) == (rates == "d1" ? 1 : 0))
    }

    @Test("A search alone leaves the speed alone", arguments: Way.allCases) func poll(_ way: Way) throws {
        let bench = try Self.bench(way, rates: "77")
        _ = try bench.reader.activate(.typeA())
        #expect(try bench.reader.isCardPresent() == true)
        #expect(Self.changes(bench) == 0)
        // A block was sent: the card takes no PPS any more.
        try Self.work(bench)
        #expect(Self.changes(bench) == 0)
    }

    /// The first read is right in any case, and a card of this kind is not asked again.
    @Test("A speed that fails is given up", arguments: Way.with(["dep-pps-mute", "dep-pps-deaf", "no-psl"]))
    func fails(_ quirk: String, _ way: Way) throws {
        let bench = try Self.bench(way, rates: "77", quirks: [quirk])
        for _ in 0..<3 {
            #expect(try bench.reader.activate(.typeA())?.isISODEP == true)
            try Self.work(bench)
        }
        #expect(Self.changes(bench) == 1)
    }

    /// Nothing is sent twice that was answered before: the caller selects the card again, and it is read at 106 kbit/s.
    @Test("Damage in the middle ends the speed", arguments: Way.allCases) func damage(_ way: Way) throws {
        let bench = try Self.bench(way, rates: "77", quirks: ["dep-pps-damage"])
        _ = try bench.reader.activate(.typeA())
        #expect(try bench.exchange(Self.select, within: ISO14443Tests.time) == [0x90, 0x00])
        #expect { try bench.exchange(Self.read, within: ISO14443Tests.time) } throws: {
            if case TransportError.corrupted = $0 { true } else { false }
        }
        #expect(throws: TransportError.cardReleased) { try bench.exchange(Self.read) }
        _ = try bench.reader.activate(.typeA())
        try Self.work(bench)
        #expect(Self.changes(bench) == 1)
    }

    /// What changes a card is never sent twice.
    @Test("The first command is repeated only where it changes nothing", arguments: Way.allCases)
    func firstCommand(_ way: Way) throws {
        let bench = try Self.bench(way, rates: "77", quirks: ["dep-pps-deaf"])
        _ = try bench.reader.activate(.typeA())
        #expect(throws: TransportError.noAnswer) {
            try bench.exchange([0x00, 0x20, 0x00, 0x81, 0x04, 1, 2, 3, 4], within: ISO14443Tests.time)
        }
        #expect(bench.field.statistics.apdus == 0)
        _ = try bench.reader.activate(.typeA())
        try Self.work(bench)
    }
}
