// SPDX-License-Identifier: Apache-2.0

import CardModel
import LibNFCReader
import NFCTransport
import Testing
import VirtualReader

/// What the chip says of the radio reaches the caller, and the reader stays well.
struct RadioFaultTests {
    @Test(arguments: [
        (InjectedFault.silence, TransportError.noAnswer), (.absent, .noAnswer),
        (.damaged(status: 0x02), .corrupted(status: 0x02)), (.damaged(status: 0x03), .corrupted(status: 0x03)),
        (.damaged(status: 0x05), .corrupted(status: 0x05)), (.damaged(status: 0x06), .corrupted(status: 0x06)),
    ]) func chipStatusTellsSilenceFromDamage(_ fault: InjectedFault, _ error: TransportError) throws {
        let bench = try Bench(faults: .once(fault, at: 2))
        try bench.activate()
        let before = bench.hostCommands
        #expect(throws: error) { try bench.exchange(TestCard.requestSystemCode) }
        #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
        #expect(bench.hostCommands == before + 2)
    }

    @Test func aCardThatLeavesAndComesBack() throws {
        let bench = try Bench(faults: .cardAway(from: 2, until: 4))
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
        #expect(throws: TransportError.noAnswer) { try bench.exchange(TestCard.requestSystemCode) }
        // One Polling, which the chip does not repeat.
        #expect(try bench.activate() == nil)
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
    }

    @Test func aCardThatAnswersAtOneSpeedOnly() throws {
        let bench = try Bench(card: TestCard(bitRates: [.kbps212]))
        #expect(try bench.activate(bitRate: .kbps424) == nil)
        #expect(try bench.activate(bitRate: .kbps212)?.bitRate == .kbps212)
        #expect(try bench.reader.feliCaTargets(systems: [.transit, .any]).count == 1)
    }

    /// Answers of every length that a chip can pass on; the card's bytes arrive as they are.
    @Test(arguments: [1, 2, 9, 254, 255]) func answersOfAnyLength(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: count - $0) }
        let bench = try Bench(card: StubbornCard(bytes))
        try bench.activate()
        #expect(try bench.exchange(TestCard.requestSystemCode) == bytes)
    }

    @Test func noCardIsNoError() throws {
        let bench = try Bench()
        bench.field.removeCards()
        #expect(try bench.activate() == nil)
        #expect(throws: TransportError.noAnswer) { try bench.exchange(TestCard.requestSystemCode) }
    }

    @Test func anEmptyFrameIsNotSent() throws {
        let bench = try Bench()
        try bench.activate()
        let before = bench.hostCommands
        #expect(throws: TransportError.unsupported(detail: .init(.emptyFrame))) { try bench.exchange([]) }
        #expect(bench.hostCommands == before)
    }
}
