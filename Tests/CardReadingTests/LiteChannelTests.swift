// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import FeliCa
import ReaderCore
import Testing
import VirtualReader

/// Proofs, and blocks with MACs, against virtual cards with the rules of real ones.
struct LiteChannelTests {
    @Test(arguments: [LiteMemory.Kind.lite, .liteS]) func provesTheRightKeyOnly(_ kind: LiteMemory.Kind) throws {
        let card = LiteFixture.card(kind, key: LiteFixture.key)
        #expect(try LiteFixture.channel(card).beginSession(LiteFixture.liteKey()))
        #expect(try !LiteFixture.channel(card).beginSession(LiteFixture.liteKey((1...16).map { UInt8($0) * 2 })))
        #expect(try !LiteFixture.channel(LiteFixture.card(kind)).beginSession(LiteFixture.liteKey()))
    }

    /// A wrong key costs no write: WCNT stays.
    @Test func proofsWriteNothing() throws {
        let card = LiteFixture.card(key: LiteFixture.key)
        let count = card.lite?[0x90]
        #expect(try LiteFixture.channel(card).beginSession(LiteFixture.liteKey()))
        #expect(card.lite?[0x90] == count)
    }

    /// A recording of the genuine card: every answer with a MAC is the one to the recorded challenge.
    @Test func recordingsProveNothing() throws {
        let genuine = LiteFixture.card(key: LiteFixture.key)
        nonisolated(unsafe) var recorded: CardAnswer?
        let recording = TamperedCard(genuine) { command, answer in
            if command[1] == 0x06, command.suffix(2) == [0x80, 0x91] { recorded = answer }
            return answer
        }
        #expect(try LiteFixture.channel(recording).beginSession(LiteFixture.liteKey()))
        let replayed = recorded
        #expect(replayed != nil)
        let copy = TamperedCard(LiteFixture.card()) { command, answer in
            command[1] == 0x06 && command.suffix(2) == [0x80, 0x91] ? replayed : answer
        }
        #expect(try !LiteFixture.channel(copy).beginSession(LiteFixture.liteKey()))
    }

    /// Another genuine card with the same key answers for this IDm.
    @Test func anotherGenuineCardProvesNothing() throws {
        let genuine = LiteFixture.card(key: LiteFixture.key)
        let foreign: [UInt8] = [0x01, 0x2E, 0, 0, 0, 0, 0, 1]
        let relay = RelayCard(genuine, LiteFixture.idm.bytes, as: foreign)
        #expect(try !LiteFixture.channel(relay).beginSession(LiteFixture.liteKey()))
    }

    @Test func changedDataIsNoticed() throws {
        let block = try LiteFixture.block("01" + String(repeating: "00", count: 15))
        let genuine = LiteFixture.card(key: LiteFixture.key, [0: block])
        let changing = TamperedCard(genuine) { command, answer in
            guard var answer, command[1] == 0x06, command.suffix(4) == [0x80, 0x00, 0x80, 0x91] else { return answer }
            answer.frame[13] ^= 2
            return answer
        }
        let channel = try LiteFixture.channel(changing)
        #expect(throws: LiteError.unstable) {
            try channel.inSession(LiteFixture.liteKey(), mutual: false) { card throws(LiteError) in try card.read([0]) }
        }
    }

    @Test func readsAndWritesWhatNeedsTheKey() throws {
        let configuration = try LiteFixture.block("FFFF0001070102000200020001000000")
        let card = LiteFixture.card(key: LiteFixture.key, [0x88: configuration, 0x90: .zero])
        let channel = try LiteFixture.channel(card)
        #expect(throws: LiteError.refused(block: 1, StatusFlags(0x01, 0xB1))) { try channel.read([1]) }
        let data = try LiteFixture.block("000102030405060708090A0B0C0D0E0F")
        let key = try LiteFixture.liteKey()
        let read = try channel.inSession(key, mutual: true) { card throws(LiteError) in
            try card.write(1, data)
            return try card.read([0, 1, 2, 3, 4])
        }
        #expect(read == [.zero, data, .zero, .zero, .zero])
        #expect(card.lite?[1] == data)
    }

    /// 45 bytes are the proof; 64 are common; below that it is refused.
    @Test(arguments: [(45, true), (64, true), (255, true), (44, false), (29, false)])
    func smallReaders(_ longest: Int, _ works: Bool) throws {
        let channel = try LiteFixture.channel(LiteFixture.card(key: LiteFixture.key), longestAnswer: longest)
        let key = try LiteFixture.liteKey()
        if works {
            #expect(try channel.beginSession(key))
            let read = try channel.inSession(key, mutual: true) { card throws(LiteError) in try card.read([0, 1, 2]) }
            #expect(read.count == 3)
        } else {
            #expect(throws: LiteError.readerTooSmall(longest: longest, needed: 45)) { try channel.beginSession(key) }
        }
    }

    @Test func countersAtTheirEnd() throws {
        let locked = try LiteFixture.block("FFFF0001070000000000000001000000")
        for (configuration, count) in [(locked, "00FEFF"), (nil, "FFFFFF")] as [(Block?, String)] {
            var blocks: BlockTable = [0x90: try LiteFixture.block(count + String(repeating: "00", count: 13))]
            if let configuration { blocks[0x88] = configuration }
            let channel = try LiteFixture.channel(LiteFixture.card(key: LiteFixture.key, blocks))
            #expect(throws: LiteError.writesUsedUp) {
                try channel.inSession(LiteFixture.liteKey(), mutual: true) { _ throws(LiteError) in }
            }
            #expect(try channel.beginSession(LiteFixture.liteKey()))
        }
    }

    /// The card loses its power, or an answer is lost or damaged, at each exchange of a session with a write.
    @Test func sessionsSurviveOneFault() throws {
        let key = try LiteFixture.liteKey()
        let data = try LiteFixture.block("000102030405060708090A0B0C0D0E0F")
        func run(_ faults: InjectedFaults) throws -> (Int, Block?) {
            let card = LiteFixture.card(key: LiteFixture.key)
            let channel = try LiteFixture.channel(card, faults)
            try channel.inSession(key, mutual: true) { card throws(LiteError) in
                if try card.read([3]).first != data { try card.write(3, data) }
            }
            let reader = try #require(channel.session.reader as? InProcessReader)
            return (reader.field.statistics.exchanges, card.lite?[3])
        }
        let exchanges = try run([]).0
        #expect(exchanges > 8)
        for place in 1..<exchanges {
            for fault in [InjectedFault.silence, .absent, .damaged(status: 2), .flipped(offset: 20, mask: 1)] {
                #expect(try run(.once(fault, at: place)).1 == data, "\(fault) at \(place)")
            }
        }
    }
}

/// A card that passes on what another one is asked, with another IDm.
private final class RelayCard: VirtualPacketCard, @unchecked Sendable {
    private let card: VirtualFeliCaCard
    private let (own, foreign): ([UInt8], [UInt8])

    init(_ card: VirtualFeliCaCard, _ own: [UInt8], as foreign: [UInt8]) {
        (self.card, self.own, self.foreign) = (card, own, foreign)
    }

    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        var inner = frame
        if frame.count >= 10, frame[1] != 0 {
            guard Array(frame[2..<10]) == foreign else { return nil }
            inner.replaceSubrange(2..<10, with: own)
        }
        guard var answer = card.answer(inner, at: bitRate) else { return nil }
        answer.frame.replaceSubrange(2..<10, with: foreign)
        return answer
    }

    func losePower() { card.losePower() }
}
