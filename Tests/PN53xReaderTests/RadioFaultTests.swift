// SPDX-License-Identifier: Apache-2.0

import CardModel
import PN53xReader
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// What the chip says of the radio reaches the caller, and the reader stays well.
@Suite(.waits)
struct RadioFaultTests {
    @Test(
        arguments: [
            (InjectedFault.silence, TransportError.noAnswer), (.absent, .noAnswer),
            (.damaged(status: 0x02), .corrupted(status: 0x02)), (.damaged(status: 0x03), .corrupted(status: 0x03)),
            (.damaged(status: 0x05), .corrupted(status: 0x05)), (.damaged(status: 0x06), .corrupted(status: 0x06)),
        ], Way.allCases)
    func chipStatusDistinguishesSilenceFromDamage(_ fault: (happens: InjectedFault, is: TransportError), _ way: Way)
        throws
    {
        let (fault, error) = fault
        let bench = try Bench(way, faults: .once(fault, at: 2))
        try bench.activate()
        let before = bench.hostCommands
        #expect(throws: error) { try bench.exchange(TestCard.requestSystemCode) }
        #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
        #expect(bench.hostCommands == before + 2)
    }

    @Test(arguments: Way.allCases) func cardThatLeavesAndReturns(_ way: Way) throws {
        let bench = try Bench(way, faults: .cardAway(from: 2, until: 4))
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
        #expect(throws: TransportError.noAnswer) { try bench.exchange(TestCard.requestSystemCode) }
        // One Polling, which the chip does not repeat.
        #expect(try bench.activate() == nil)
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
    }

    @Test(arguments: Way.allCases) func cardThatAnswersAtOneBitRateOnly(_ way: Way) throws {
        let bench = try Bench(way, card: TestCard(bitRates: [.kbps212]))
        #expect(try bench.activate(bitRate: .kbps424) == nil)
        #expect(try bench.activate(bitRate: .kbps212)?.bitRate == .kbps212)
        #expect(try bench.reader.activateFeliCa(systems: [.any, .transit])?.bitRate == .kbps212)
    }

    /// Answers of every length that a chip can pass on; the card's bytes arrive as they are.
    @Test(arguments: [1, 2, 9, 254, 255], Way.allCases) func answersOfAnyLength(_ count: Int, _ way: Way) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: count - $0) }
        let bench = try Bench(way, card: StubbornCard(bytes))
        try bench.activate()
        #expect(try bench.exchange(TestCard.requestSystemCode) == bytes)
    }

    @Test(arguments: Way.allCases) func returnsNilWithoutACard(_ way: Way) throws {
        let bench = try Bench(way)
        bench.field.removeCards()
        #expect(try bench.activate() == nil)
        #expect(throws: TransportError.noAnswer) { try bench.exchange(TestCard.requestSystemCode) }
    }

    @Test(arguments: Way.allCases) func rejectsAnEmptyFrame(_ way: Way) throws {
        let bench = try Bench(way)
        try bench.activate()
        let before = bench.hostCommands
        #expect(throws: TransportError.unsupported(detail: .init(.emptyFrame))) { try bench.exchange([]) }
        #expect(bench.hostCommands == before)
    }
}
