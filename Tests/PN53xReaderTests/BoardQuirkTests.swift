// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import ReaderTesting
import SimulatedChips
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// PN532 boards and ACR122U readers with each oddity of `Docs/quirks.md` that a switch imitates: what is read is right, or
/// there is one clear error.
@Suite(.waits)
struct BoardQuirkTests {
    /// A switch, and how it ends by each way.
    struct Row: Sendable, CustomTestStringConvertible {
        var quirk: String
        /// Whether libnfc opens it.
        var opensByLibNFC = true
        /// Whether a card of type B is found.
        var findsTypeB = true

        var testDescription: String { quirk }
    }

    static let boards = [
        Row(quirk: "hsu-deaf"), Row(quirk: "hsu-deaf=2"), Row(quirk: "hsu-late-ack"),
        Row(quirk: "hsu-zero", opensByLibNFC: false), Row(quirk: "hsu-zero=FF", opensByLibNFC: false),
        Row(quirk: "hsu-echo", opensByLibNFC: false), Row(quirk: "version"),
        Row(quirk: "no-version"), Row(quirk: "version-error"), Row(quirk: "no-diagnose", opensByLibNFC: false),
        Row(quirk: "no-type", findsTypeB: false), Row(quirk: "no-baud"), Row(quirk: "baud-lies"), Row(quirk: "cold-b"),
    ]

    static func field(_ quirk: String) throws -> VirtualField {
        let text = """
            {"schema":"kazasu.card/1","virtual":{"quirks":["\(quirk)"]},"cards":[
              {"idm":"0101031234567890","pmm":"0120220427674eff","systems":[{"code":"0003"}]},
              {"typeA":{"uid":"04a8d862bc2b80"},"masterFile":{"files":{"2F01":"0102030405"}}},
              {"typeB":{"pupi":"e8253eec"},"masterFile":{"files":{"2F01":"0102030405"}}}]}
            """
        return try VirtualField(cardFile: Array(text.utf8))
    }

    /// Reads all three cards.
    static func read(_ reader: any Reader, findsTypeB: Bool = true) throws {
        guard case .felica(let card)? = try reader.activate(.felica(.transit)) else {
            Issue.record("no FeliCa card")
            return
        }
        #expect(card.idm.bytes == TestCard.idm)
        let systems = try reader.transceive([0x0A, 0x0C] + card.idm.bytes, timeout: .seconds(1))
        #expect(systems == [0x0D, 0x0D] + card.idm.bytes + [0x01, 0x00, 0x03])
        for request in [ActivationRequest.typeA(), .typeB()] {
            guard findsTypeB || request.technology == .typeA else {
                #expect(throws: TransportError.heard(.refused(request.technology))) { try reader.activate(request) }
                continue
            }
            let picc = try reader.activate(request)
            #expect(picc?.technology == request.technology && picc?.isISODEP == true)
            let selection = try reader.transceive([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01], timeout: .seconds(1))
            #expect(selection == [0x90, 0x00])
            let data = try reader.transceive([0x00, 0xB0, 0x00, 0x00, 0x05], timeout: .seconds(1))
            #expect(data == [1, 2, 3, 4, 5, 0x90, 0x00])
        }
    }

    @Test(arguments: Way.with(boards)) func readsOrSaysWhy(_ row: Row, _ way: Way) throws {
        let server = try PN532Server(field: Self.field(row.quirk))
        defer { server.stop() }
        // The second run finds what the first one left behind.
        for _ in 0..<2 {
            guard way == .serial || row.opensByLibNFC else {
                #expect(throws: (any Error).self) { try way.open(server, patience: 1) }
                continue
            }
            let reader = try way.open(server)
            defer { reader.close() }
            try Self.read(reader, findsTypeB: row.findsTypeB)
        }
    }

    /// Of each kind one, since the suites take long.
    static let ofEachKind = boards.filter {
        ["hsu-deaf=2", "hsu-zero=FF", "hsu-echo", "version-error", "no-baud", "cold-b"].contains($0.quirk)
    }

    /// What the oddity changes is the way to the chip, and not what cards are.
    @Test(arguments: Way.with(ofEachKind)) func conforms(_ row: Row, _ way: Way) throws {
        guard way == .serial || row.opensByLibNFC else { return }
        var servers: [PN532Server] = []
        defer { for server in servers { server.stop() } }
        let report = try ReaderConformance.check(readerQuirks: [row.quirk]) { field, cancellation in
            let server = try PN532Server(field: field)
            servers.append(server)
            return try way.open(server, cancellation)
        }
        #expect(report == ConformanceReport())
    }

    @Test(arguments: ["no-rfconfig", "no-rfconfig=02"], Way.allCases) func saysThatASettingIsRefused(
        _ quirk: String, _ way: Way
    ) throws {
        let server = try PN532Server(field: Self.field(quirk))
        defer { server.stop() }
        do {
            let reader = try way.open(server)
            defer { reader.close() }
            try Self.read(reader)
            Issue.record("nothing refused")
        } catch let error as TransportError {
            #expect(error == .readerFailed(detail: .init(.settingRefused, quirk.hasSuffix("02") ? "3202" : "3205")))
        }
    }

    /// libnfc sends PowerDown when it closes the reader, so that its second run fails; `pn532:` does not.
    @Test(arguments: Way.allCases) func worksAgainUnlessThePowerIsDown(_ way: Way) throws {
        let server = try PN532Server(field: Self.field("powerdown-dead"))
        defer { server.stop() }
        let first = try way.open(server)
        try Self.read(first)
        first.close()
        guard way == .serial else {
            #expect(throws: (any Error).self) { try way.open(server, patience: 1) }
            return
        }
        let second = try way.open(server)
        try Self.read(second)
        second.close()
    }

    /// Bit 7 of a status is about the card's node address and says nothing of the exchange.
    @Test func readsThroughAStatusWithBit7() throws {
        let server = try PN532Server(field: Self.field("mi-status"))
        defer { server.stop() }
        let reader = try Way.serial.open(server)
        defer { reader.close() }
        try Self.read(reader)
    }

    /// Diagnose 06 stops the USB of a PN533 with some cards (libnfc issue 267).
    @Test(arguments: Way.allCases) func neverAsksTheChipForThePresenceOfACard(_ way: Way) throws {
        let server = try PN532Server(field: Self.field("no-baud"))
        defer { server.stop() }
        let reader = try way.open(server)
        defer { reader.close() }
        #expect(try reader.activate(.typeA()) != nil)
        let before = server.statistics.commandsByCode[0x00]
        // One more, and the chip is tested after it has refused a faster line.
        for _ in 0..<2 { #expect(try reader.isCardPresent() == true) }
        #expect(server.statistics.commandsByCode[0x00] == before)
    }

    /// The chip is asked again until it is in step (libnfc issue 167).
    @Test(arguments: Way.allCases) func goesOnIfTheCommandAfterAnAbortIsLost(_ way: Way) throws {
        func bench(_ faults: [InjectedSerialFaultPlace: InjectedSerialFault]) throws -> Bench {
            try Bench(way, serial: InjectedSerialFaults(faults), patience: 3)
        }
        let first = try bench([:])
        try first.activate()
        let tests = first.server.statistics.commandsByCode[0x00, default: 0]
        let second = try bench([.code(0x42): .acknowledgeOnly, .code(0x00, after: tests): .noAcknowledge])
        try second.activate()
        #expect(throws: TransportError.readerTimeout) { try second.exchange(TestCard.requestSystemCode) }
        #expect(try second.activate()?.idm.bytes == TestCard.idm)
        #expect(try second.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
    }

    @Test(arguments: Way.allCases) func goesOnAfterALossOfPower(_ way: Way) throws {
        let text = """
            {"schema":"kazasu.card/1","idm":"0101031234567890","pmm":"0120220427674eff","systems":[{"code":"0003"}],
             "virtual":{"quirks":["brownout=2"]}}
            """
        let server = try PN532Server(field: VirtualField(cardFile: Array(text.utf8)))
        defer { server.stop() }
        let reader = try way.open(server, patience: 1)
        defer { reader.close() }
        var answers = 0
        // On a busy machine an answer may be late, too.
        for _ in 0..<20 where answers < 2 {
            guard case .felica(let card)? = try? reader.activate(.felica(.transit)) else { continue }
            let answer = try? reader.transceive([0x0A, 0x0C] + card.idm.bytes, timeout: .seconds(1))
            if let answer { #expect(answer == [0x0D, 0x0D] + card.idm.bytes + [0x01, 0x00, 0x03]) }
            answers += answer == nil ? 0 : 1
        }
        #expect(answers == 2)
    }

    // MARK: ACR122U

    static let readers = [
        "acr-twice", "acr-no-led", "acr-no-picc", "acr-error-fe", "acr-status-02",
        "acr-empty",
        "acr-no-6b", "acr-wtx", "acr-wtx=30", "version", "acr-version", "acr-63-7f",
    ]

    @Test(arguments: readers) func readsThroughAnACR122U(_ quirk: String) throws {
        let bench = ACR122Bench(try Self.field(quirk))
        let reader = try bench.open()
        defer { reader.close() }
        if quirk == "acr-version" { #expect(reader.information.name.contains("RF1258V603")) }
        let findsTypeB = quirk != "acr-63-7f"
        try Self.read(reader, findsTypeB: findsTypeB)
        bench.field.removeCards()
        for request in [ActivationRequest.felica(.transit), .typeA(), .typeB()] {
            guard findsTypeB || request.technology != .typeB else { continue }
            #expect(try reader.activate(request) == nil)
        }
        // Lights and buzzer are left alone.
        #expect(!bench.link.log.contains { $0.contains("ff0040") || $0.contains("ff0052") })
    }

    @Test(arguments: readers.filter { $0 != "acr-63-7f" }) func conforms(_ quirk: String) throws {
        let report = try ReaderConformance.check(readerQuirks: [quirk]) { field, cancellation in
            try ACR122Bench(field, cancellation: cancellation).open()
        }
        #expect(report == ConformanceReport())
    }

    /// What a recording of such a reader has to show before it can be fixed.
    @Test(arguments: ["acr-lag", "acr-lag-seq"]) func doesNotOpenAnACR122UThatLags(_ quirk: String) throws {
        let bench = ACR122Bench(try Self.field(quirk))
        #expect(throws: TransportError.readerTimeout) { try bench.open() }
    }
}
