// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// Lines that do not carry 921600 baud, or not well, or chips that do not change.
@Suite(.waits)
struct FastLineFaultTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var line = SerialLineModel.plain
        var faults: [InjectedSerialFaultPlace: InjectedSerialFault] = [:]
        /// How many times as long as a real chip may take this one is waited for: less where nothing comes.
        var patience = 20

        var testDescription: String { name }

        /// libnfc has asked for the firmware version once before.
        func faults(_ way: Way) -> InjectedSerialFaults {
            let places = faults.map {
                ($0.key == .code(0x02) && way == .libnfc ? .code(0x02, after: 1) : $0.key, $0.value)
            }
            return InjectedSerialFaults(Dictionary(uniqueKeysWithValues: places))
        }
    }

    static let cases = [
        Case(name: "the host reads nothing", line: SerialLineModel(fastestToHost: 115_200), patience: 8),
        Case(name: "the host reads at half the speed", line: SerialLineModel(fastestToHost: 460_800), patience: 8),
        Case(name: "the chip does not know the command", faults: [.code(0x10): .syntaxError]),
        Case(name: "the command is not heard", faults: [.code(0x10): .noAcknowledge], patience: 8),
        Case(name: "its answer is lost", faults: [.code(0x10): .acknowledgeOnly], patience: 8),
        Case(name: "its answer is damaged", faults: [.code(0x10): .wrongDataChecksum]),
        Case(name: "it is refused", faults: [.code(0x10): .notAcknowledge]),
        Case(name: "the proof is damaged", faults: [.code(0x02): .wrongDataChecksum]),
        Case(name: "the proof does not come", faults: [.code(0x02): .acknowledgeOnly], patience: 8),
    ]

    @Test(arguments: cases, Way.allCases) func leavesAnIncapableLineUnchanged(_ test: Case, _ way: Way) throws {
        let bench = try Bench(way, serial: test.faults(way), line: test.line, patience: test.patience)
        try bench.activate()
        try bench.work(40)
        #expect(bench.server.comes(to: 115_200))
        let tries = bench.speedCommands
        bench.reader.close()
        #expect(bench.speedCommands == tries)
        // Nor is it tried again in this process.
        let second = try way.open(bench.server)
        for _ in 0..<20 { #expect(try second.activateFeliCa(systems: [.transit]) != nil) }
        second.close()
        #expect(bench.speedCommands == tries)
    }

    /// The chip was not reset, so the card keeps its selected file and a verified PIN.
    @Test(arguments: Way.allCases) func keepsTheSelectedCard(_ way: Way) throws {
        let test = Self.cases[0]
        let bench = try Bench(way, card: try ISO14443Tests.cardA(), line: test.line, patience: test.patience)
        #expect(try bench.reader.activate(.typeA()) != nil)
        for _ in 0..<10 {
            #expect(try bench.exchange(ISO14443Tests.select, within: ISO14443Tests.time) == [0x90, 0x00])
        }
        #expect(bench.speedCommands > 0)
        #expect(try bench.reader.isCardPresent() == true)
    }

    /// Cannot be repaired: the chip leaves a speed only by command, and the line carries none.
    @Test(
        arguments: [SerialLineModel(fastestToChip: 115_200), .init(fastestToChip: 115_200, fastestToHost: 115_200)],
        Way.allCases)
    func losesAnUnresponsiveChip(_ line: SerialLineModel, _ way: Way) throws {
        let bench = try Bench(way, line: line, patience: 3)
        try bench.activate()
        try bench.work(2)
        #expect(throws: Chipset.stuck()) { try bench.work(1) }
        let asked = bench.hostCommands
        #expect(throws: Chipset.stuck()) { try bench.activate() }
        #expect(bench.hostCommands == asked)
        bench.reader.close()
    }

    @Test(arguments: Way.allCases) func toleratesAFewFaultsOnly(_ way: Way) throws {
        let places = [10, 20, 30].map {
            (InjectedSerialFaultPlace.code(0x42, after: $0), InjectedSerialFault.wrongDataChecksum)
        }
        let bench = try Bench(way, serial: InjectedSerialFaults(Dictionary(uniqueKeysWithValues: places)))
        try bench.activate()
        var speedCommands: [Int] = []
        for _ in 0..<40 {
            do {
                #expect(try bench.exchange(TestCard.requestResponse) == TestCard.mode)
            } catch {
                #expect(error as? TransportError == .corrupted(status: 0))
                speedCommands.append(bench.speedCommands)
            }
        }
        #expect(speedCommands == [1, 1, 2])
        #expect(bench.speedCommands == 2)
        #expect(bench.server.comes(to: 115_200))
    }

    /// The line was proven, so it is not blamed for a chip that dies later.
    @Test(arguments: Way.allCases) func reportsAReaderThatDiesLater(_ way: Way) throws {
        let bench = try Bench(way, serial: InjectedSerialFaults([.code(0x42, after: 10): .dead]), patience: 3)
        try bench.activate()
        try bench.work(10)
        #expect(throws: TransportError.readerTimeout) { try bench.work(1) }
        bench.reader.close()
    }

    /// A chip that lost its power for a moment is back at its first speed.
    @Test(arguments: Way.allCases) func findsAChipThatFellBackToTheFirstSpeed(_ way: Way) throws {
        let bench = try Bench(way, patience: 3)
        try bench.activate()
        try bench.work(20)
        let port = open(bench.server.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
        defer { close(port) }
        // Another program's SetSerialBaudRate and its ACK: what it says does not matter, only that the chip changes.
        let frame: [UInt8] = [0x00, 0x00, 0xFF, 0x03, 0xFD, 0xD4, 0x10, 0x04, 0x18, 0x00]
        let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
        let commands = bench.speedCommands
        _ = write(port, frame, frame.count)
        while bench.speedCommands == commands { sched_yield() }
        _ = write(port, acknowledge, acknowledge.count)
        #expect(bench.server.comes(to: 115_200))
        #expect(throws: TransportError.self) { try bench.exchange(TestCard.requestSystemCode) }
        try bench.work(5)
        #expect(bench.server.comes(to: 115_200))
    }
}
