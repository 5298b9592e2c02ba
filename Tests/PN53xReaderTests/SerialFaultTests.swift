// SPDX-License-Identifier: Apache-2.0

import CardModel
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// What becomes of an exchange that goes wrong between chip and computer, and of the one after it.
@Suite(.waits)
struct SerialFaultTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var fault: InjectedSerialFault
        /// What the exchange comes to; `nil` for the card's answer.
        var error: TransportError?

        var testDescription: String { name }
    }

    static let garbled = TransportError.corrupted(status: 0)

    static let cases = [
        Case(name: "no ACK, no answer", fault: .noAcknowledge, error: .readerTimeout),
        Case(name: "ACK only", fault: .acknowledgeOnly, error: .readerTimeout),
        Case(name: "NACK", fault: .notAcknowledge, error: garbled),
        Case(name: "syntax error frame", fault: .syntaxError, error: garbled),
        Case(name: "data checksum", fault: .wrongDataChecksum, error: garbled),
        Case(name: "length checksum", fault: .wrongLengthChecksum, error: garbled),
        Case(name: "cut in the header", fault: .truncated(count: 3), error: .readerTimeout),
        Case(name: "cut in the data", fault: .truncated(count: 12), error: .readerTimeout),
        Case(name: "cut before the postamble", fault: .truncated(count: 21), error: .readerTimeout),
        Case(name: "junk before the frame", fault: .junkBefore([0xAA, 0x55, 0x00, 0xFF]), error: garbled),
        Case(name: "split", fault: .split(count: 9, pause: .milliseconds(20)), error: nil),
        Case(name: "split in the header", fault: .split(count: 2, pause: .milliseconds(20)), error: nil),
        Case(name: "late", fault: .late(.milliseconds(300)), error: nil),
        Case(name: "too late", fault: .late(.seconds(30)), error: .readerTimeout),
        Case(name: "twice", fault: .twice, error: nil),
        Case(name: "status bit 6", fault: .statusBits(0x40), error: nil),
    ]

    @Test(arguments: cases, Way.allCases) func nextExchangeGetsItsOwnAnswer(_ test: Case, _ way: Way) throws {
        let bench = try Bench(
            way,
            serial: InjectedSerialFaults([.code(0x42): test.fault]), patience: test.error == .readerTimeout ? 1 : 20)
        try bench.activate()
        if let error = test.error {
            #expect(throws: error) { try bench.exchange(TestCard.requestSystemCode) }
        } else {
            #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
        }
        // Another command, so that the first one's answer would be seen.
        #expect(try bench.exchange(TestCard.requestResponse) == TestCard.mode)
        #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
    }

    @Test(arguments: Way.allCases) func configuresTheChipAgainAfterAFault(_ way: Way) throws {
        let bench = try Bench(way, serial: InjectedSerialFaults([.code(0x42): .wrongDataChecksum]))
        try bench.activate()
        let before = bench.server.statistics.commandsByCode
        #expect(throws: Self.garbled) { try bench.exchange(TestCard.requestSystemCode) }
        #expect(try bench.exchange(TestCard.requestResponse) == TestCard.mode)
        let after = bench.server.statistics.commandsByCode
        // One test of the line to be sure of the reader, retries and time-out set again, two exchanges.
        #expect(after[0x00, default: 0] - before[0x00, default: 0] == 1)
        #expect(after[0x32, default: 0] - before[0x32, default: 0] == 2)
        #expect(after[0x42, default: 0] - before[0x42, default: 0] == 2)
    }

    @Test(arguments: Way.allCases) func neverRetriesADeadReader(_ way: Way) throws {
        let bench = try Bench(way, serial: InjectedSerialFaults([.code(0x42): .dead]), patience: 3)
        try bench.activate()
        #expect(throws: TransportError.readerTimeout) { try bench.exchange(TestCard.requestSystemCode) }
        let asked = bench.hostCommands
        #expect(throws: TransportError.readerTimeout) { try bench.exchange(TestCard.requestSystemCode) }
        #expect(throws: TransportError.readerTimeout) { try bench.activate() }
        #expect(bench.hostCommands == asked)
        bench.reader.close()
    }

    @Test(arguments: [0x4A, 0x32] as [UInt8], Way.allCases) func recoversFromFaultsOfOtherCommands(
        _ code: UInt8, _ way: Way
    ) throws {
        let bench = try Bench(way, serial: InjectedSerialFaults([.code(code): .wrongDataChecksum]))
        // A setting is tried again at once, and so is a search through libnfc, which reports a refusal in the same way.
        if code == 0x4A, way == .serial {
            #expect(throws: Self.garbled) { try bench.activate() }
        }
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
        #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
    }

    /// A chip that refuses a setting finds no card and says so, which differs from an empty field.
    @Test(arguments: [0x05, 0x02] as [UInt8], Way.allCases) func reportsARefusedSetUp(_ item: UInt8, _ way: Way) throws
    {
        let bench = try Bench(way, serial: InjectedSerialFaults([.every(0x32, item: item): .syntaxError]))
        var error: TransportError?
        do throws(TransportError) {
            // Item 2 is needed for a card of type A or B, or a slow answer.
            _ = try bench.reader.activate(.felica(.transit))
            _ = try bench.reader.transceive(TestCard.requestSystemCode, timeout: .seconds(1))
        } catch let fault {
            error = fault
        }
        #expect(error == .readerFailed(detail: .init(.settingRefused, "320\(item)")))
    }

    /// A line that toggles at wake-up, and adapters that add a byte before each frame.
    @Test(arguments: [[0x00], [0xFF], [0xFF, 0xFF], [0x55]] as [[UInt8]])
    func skipsStrayBytesBeforeFrames(_ bytes: [UInt8]) throws {
        let bench = try Bench(.serial, line: SerialLineModel(strayBytes: bytes))
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
        try bench.work(3)
    }

    @Test(arguments: Way.allCases) func unansweredPollingDoesNotMeanRemoval(_ way: Way) throws {
        let bench = try Bench(way, serial: InjectedSerialFaults([.code(0x4A): .acknowledgeOnly]), patience: 3)
        #expect(throws: TransportError.readerTimeout) { try bench.activate() }
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
    }

    @Test(arguments: Way.allCases) func reportsAnUnpluggedReader(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        bench.server.stop()
        let gone = TransportError.readerUnavailable(reason: .absent, detail: .init(.unplugged))
        #expect(throws: gone) { try bench.exchange(TestCard.requestSystemCode) }
        #expect(throws: gone) { try bench.activate() }
        bench.reader.close()
    }

    @Test(arguments: Way.allCases) func reportsNoReaderAtASilentPort(_ way: Way) throws {
        let server = try PN532Server(field: VirtualField(), faults: InjectedSerialFaults([.command(1): .dead]))
        defer { server.stop() }
        #expect(
            throws: TransportError.readerUnavailable(reason: .absent, detail: .init(.silent, server.path))
        ) { try way.driver().open(way.id(server.path), cancellation: CancellationToken()) }
    }

    /// Faults of the commands with which libnfc opens a reader: a working reader, or none.
    @Test(
        arguments: (1...6).map { ($0, Way.libnfc) } + (1...4).map { ($0, Way.serial) },
        [
            InjectedSerialFault.wrongDataChecksum, .notAcknowledge, .syntaxError, .junkBefore([0x55]), .twice,
            .noAcknowledge,
        ])
    func openingOverABadLine(_ command: (number: Int, way: Way), _ fault: InjectedSerialFault) throws {
        let (number, way) = command
        let server = try PN532Server(
            field: VirtualField(cards: [TestCard()]), faults: InjectedSerialFaults([.command(number): fault]))
        defer { server.stop() }
        // libnfc's own times end when the machine is busy; the next attempt meets no fault.
        let opened = way == .libnfc ? try? way.open(server, patience: 1) : try way.open(server)
        let reader = try opened ?? way.open(server)
        // The first commands may still fail, since libnfc says nothing of a fault late in its opening, and more of them where its own
        // times end.
        for attempt in 0..<(way == .libnfc ? 10 : 2) {
            do {
                #expect(try reader.activateFeliCa(systems: [.transit])?.idm.bytes == TestCard.idm)
                if attempt > 0 { break }
            } catch {
                #expect([.corrupted(status: 0), .readerTimeout].contains(error))
            }
        }
        #expect(try reader.activateFeliCa(systems: [.transit])?.idm.bytes == TestCard.idm)
        #expect(try reader.transceive(TestCard.requestSystemCode, timeout: .zero) == TestCard.systemCodes)
        reader.close()
    }

    @Test(arguments: Way.allCases) func discardsLeftoversOfAnEarlierProgram(_ way: Way) throws {
        // The first program gives up on an answer that is on its way; the second opens the same port.
        let field = VirtualField(cards: [TestCard()])
        let server = try PN532Server(field: field, faults: InjectedSerialFaults([.code(0x42): .late(.seconds(30))]))
        defer { server.stop() }
        for expected in [TransportError.readerTimeout, nil] {
            let reader = try way.open(server, patience: expected == nil ? 20 : 3)
            _ = try reader.activateFeliCa(systems: [.transit])
            if let expected {
                #expect(throws: expected) { try reader.transceive(TestCard.requestResponse, timeout: .zero) }
            } else {
                #expect(try reader.transceive(TestCard.requestResponse, timeout: .zero) == TestCard.mode)
            }
            reader.close()
        }
    }
}
