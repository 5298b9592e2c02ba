// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import PN53xReader

/// The long job itself: whatever the line does at 921600 baud, the dump is what it would have been.
@Suite(.waits)
struct FastLineDumpTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var line = SerialLineModel.plain
        var faults: [InjectedSerialFaultPlace: InjectedSerialFault] = [:]
        /// How often the chip is told to change its speed, closing included.
        var speedCommands: ClosedRange<Int>
        /// How many times as long as a real chip may take this one is waited for.
        var patience = 20

        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "a good line", speedCommands: 2...2),
        // Told once to be fast, then three times by hand to be slow, of which the chip hears the first, and the others when
        // it is slow to hear that.
        Case(
            name: "garbage at 921600", line: SerialLineModel(fastestToHost: 115_200), speedCommands: 2...4,
            patience: 3),
        Case(
            name: "a noisy line",
            faults: [20, 31, 42].reduce(into: [:]) { $0[.code(0x42, after: $1)] = .wrongDataChecksum },
            speedCommands: 2...2),
    ]

    @Test(arguments: cases, Way.allCases) func dumpIsComplete(_ test: Case, _ way: Way) throws {
        let file = try TestFiles.read("Fixtures/cards/suica-p1/card.json")
        let undisturbed = try dump(InProcessReader(VirtualField(cards: [try VirtualCardFile.load(file)])))
        let server = try PN532Server(
            field: VirtualField(cards: [try VirtualCardFile.load(file)]), faults: InjectedSerialFaults(test.faults),
            serialLine: test.line)
        defer { server.stop() }
        let reader = try way.open(server, patience: test.patience)
        let outcome = try dump(reader)
        reader.close()
        #expect(outcome.interruption == nil)
        #expect(outcome.dump == undisturbed.dump)
        #expect(test.speedCommands.contains(server.statistics.commandsByCode[0x10, default: 0]))
        #expect(server.comes(to: 115_200))
    }

    /// A weak supply, or long leads: the chip starts again in the middle of the job, whatever the speed of its line.
    @Test(
        arguments: [(0x42, 0), (0x42, 3), (0x42, 25), (0x42, 60), (0x4A, 1), (0x10, 0), (0x02, 1), (0x32, 2)]
            as [(UInt8, Int)], Way.allCases)
    func dumpIsCompleteAfterABrownout(_ place: (code: UInt8, after: Int), _ way: Way) throws {
        let file = try TestFiles.read("Fixtures/cards/suica-p1/card.json")
        let undisturbed = try dump(InProcessReader(VirtualField(cards: [try VirtualCardFile.load(file)])))
        for speed in way == .serial ? ["", ":115200", ":921600"] : [""] {
            let server = try PN532Server(
                field: VirtualField(cards: [try VirtualCardFile.load(file)]),
                faults: InjectedSerialFaults([.code(place.code, after: place.after): .brownout]))
            defer { server.stop() }
            let reader = try way.open(server, speed: speed, patience: 8)
            let outcome = try dump(reader)
            reader.close()
            #expect(outcome.interruption == nil, "\(speed)")
            let isSame = outcome.dump == undisturbed.dump
            #expect(isSame, "\(speed)")
            #expect(server.comes(to: 115_200), "\(speed)")
        }
    }

    private func dump(_ reader: any Reader) throws -> DumpOutcome {
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw TransportError.noAnswer }
        return CardDumper(session: CardSession(reader: reader, target: target)).dump()
    }
}
