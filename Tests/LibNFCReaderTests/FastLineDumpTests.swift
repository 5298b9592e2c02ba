// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import LibNFCReader
import NFCTransport
import TestSupport
import Testing
import VirtualReader

/// The long job itself: whatever the line does at 921600 baud, the dump is what it would have been.
struct FastLineDumpTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var line = SerialLineModel.plain
        var faults: [SerialFaultPlace: SerialFault] = [:]
        /// How often the chip is told to change its speed, closing included.
        var speedCommands: Int

        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "a good line", speedCommands: 2),
        // Told once to be fast, then by hand to be slow, once heard by the chip and twice no longer.
        Case(name: "garbage at 921600", line: SerialLineModel(fastestToHost: 115_200), speedCommands: 2),
        Case(
            name: "a noisy line",
            faults: [20, 31, 42].reduce(into: [:]) { $0[.code(0x42, after: $1)] = .wrongDataChecksum },
            speedCommands: 2),
    ]

    @Test(arguments: cases) func theDumpIsComplete(_ test: Case) throws {
        let file = try TestFiles.read("Fixtures/cards/suica-p1/card.json")
        let undisturbed = try dump(InProcessReader(VirtualField(cards: [try VirtualCardFile.load(file)])))
        let server = try PN532Server(
            field: VirtualField(cards: [try VirtualCardFile.load(file)]), faults: SerialFaultPlan(test.faults),
            serialLine: test.line)
        defer { server.stop() }
        let reader = try #require(try LibNFCDriver().open(server.connectionString, cancellation: CancellationToken()))
        let outcome = try dump(reader)
        reader.close()
        #expect(outcome.interruption == nil)
        #expect(outcome.dump == undisturbed.dump)
        #expect(server.statistics.commandsByCode[0x10] == test.speedCommands)
        #expect(server.statistics.bitsPerSecond == 115_200)
    }

    private func dump(_ reader: any Reader) throws -> CardDumper.Outcome {
        guard case .found(let target, _) = try CardFinder(reader: reader).find([.any], requestCode: 1, timeout: .zero)
        else { throw TransportError.noAnswer }
        return CardDumper(session: CardSession(reader: reader, target: target)).dump()
    }
}
