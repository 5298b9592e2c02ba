// SPDX-License-Identifier: Apache-2.0

import CardModel
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// A long run over a bad line: every exchange gets its own answer or an error, never another's.
@Suite(.waits)
struct StaleAnswerTests {
    /// The answer comes after the next command's ACK, where libnfc itself would take it for that command's.
    @Test(arguments: Way.allCases) func ignoresAnAnswerAfterTheNextAcknowledgement(_ way: Way) throws {
        let server = try PN532Server(field: VirtualField(cards: [TestCard()]))
        let line = try RudeLine(to: server)
        let opened = try way.driver().open(way.id("\(line.path):115200"), cancellation: CancellationToken())
        let reader = try #require(opened)
        #expect(try reader.activateFeliCa(systems: [.transit]) != nil)
        #expect(throws: TransportError.readerTimeout) {
            try reader.transceive(TestCard.requestSystemCode, timeout: .zero)
        }
        #expect(try reader.transceive(TestCard.requestResponse, timeout: .zero) == TestCard.mode)
        #expect(try reader.transceive(TestCard.requestSystemCode, timeout: .zero) == TestCard.systemCodes)
        reader.close()
        server.stop()
        line.stop()
    }

    @Test(arguments: [1, 2, 3] as [UInt64], Way.allCases) func neverMixesUpAnswers(_ seed: UInt64, _ way: Way) throws {
        var random = Generator(state: seed)
        var faults: [InjectedSerialFaultPlace: InjectedSerialFault] = [:]
        for occurrence in 0..<200 where random.next() % 4 == 0 {
            faults[.code(0x42, after: occurrence)] = Self.fault(&random)
        }
        // The commands that bring the reader back meet faults as well, never so many in a row that it counts as lost.
        for occurrence in 1..<200 where occurrence % 3 != 0 {
            faults[.code(0x00, after: occurrence)] = Self.fault(&random)
        }
        let bench = try Bench(way, serial: InjectedSerialFaults(faults))
        try bench.activate()
        var answered = 0
        for number in 0..<60 {
            let echo: [UInt8] = [5, 0xF0, 0x00, UInt8(number), UInt8(number) ^ 0xFF]
            do {
                #expect(try bench.exchange(echo) == [5, 0xF1] + echo[2...])
                answered += 1
            } catch {
                #expect(error as? TransportError == .corrupted(status: 0))
            }
        }
        #expect(answered > 30)
    }

    /// Only faults that cost no time-out.
    private static func fault(_ random: inout Generator) -> InjectedSerialFault {
        let junk = (0..<(1 + random.next() % 30)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        return switch random.next() % 7 {
        case 0: .notAcknowledge
        case 1: .syntaxError
        case 2: .wrongDataChecksum
        case 3: .wrongLengthChecksum
        case 4: .junkBefore([0x00] + junk)
        case 5: .split(count: Int(random.next() % 12), pause: .milliseconds(2))
        default: .twice
        }
    }

    /// Marsaglia's xorshift.
    private struct Generator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
