// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("Type A: states and anticollision")
struct TypeASelectionTests {
    private static func card(_ uid: String, sak: UInt8 = 0x20) throws -> VirtualFileCard {
        VirtualFileCard(
            .typeA(try #require(TypeAIdentity(uid: try Hex.decode(uid), sak: sak))), files: VirtualFileTree())
    }

    @Test func sevenByteUIDTakesTwoLevels() throws {
        let raw = RawCard(card: try Self.card("04a8d862bc2b80"), technology: .typeA)
        #expect(try raw.ask("26", bits: 7, crc: false) == "4400")
        #expect(try raw.ask("9320", crc: false) == "8804a8d8fc")
        #expect(try raw.ask("93708804a8d8fc") == "04")
        #expect(try raw.ask("9520", crc: false) == "62bc2b8075")
        #expect(try raw.ask("957062bc2b8075") == "20")
        #expect(try raw.ask("e080") == "0578008102")
    }

    /// The bits that the reader knows come first; the card gives the rest, aligned.
    @Test func partOfTheUID() throws {
        let raw = RawCard(card: try Self.card("01020304"), technology: .typeA)
        _ = try raw.ask("26", bits: 7, crc: false)
        #expect(try raw.ask("933001", crc: false) == "02030404")
        #expect(try raw.ask("93320102", bits: 2, crc: false) == "00030404")
        #expect(try raw.ask("93210f", bits: 1, crc: false) == "0002030404")
        #expect(try raw.ask("932100", bits: 1, crc: false) == nil, "another bit")
        #expect(try raw.ask("9320", crc: false) == nil, "it fell back to idle")
    }

    @Test(arguments: ["937001020305", "93700102030404ff", "9370010203", "9520", "9328", "9362", "93", "e080", "30"])
    func unexpectedCommandsLeadToIdle(_ frame: String) throws {
        let raw = RawCard(card: try Self.card("01020304"), technology: .typeA)
        #expect(try raw.ask("26", bits: 7, crc: false) == "0400")
        #expect(try raw.ask(frame, crc: frame.count > 6) == nil)
        #expect(try raw.ask("9320", crc: false) == nil)
        #expect(try raw.ask("26", bits: 7, crc: false) == "0400")
    }

    @Test func haltedCardAnswersWakeUpOnly() throws {
        let raw = try RawCard.typeA(Self.card("01020304"), rats: nil)
        #expect(try raw.ask("5000") == nil)
        #expect(try raw.ask("26", bits: 7, crc: false) == nil)
        #expect(try raw.ask("52", bits: 7, crc: false) == "0400")
        #expect(try raw.ask("26", bits: 7, crc: false) == nil, "an error leads back to halted")
        #expect(try raw.ask("26", bits: 7, crc: false) == nil)
        raw.card.losePower()
        #expect(try raw.ask("26", bits: 7, crc: false) == "0400")
    }

    @Test(arguments: ["01020304", "04a8d862bc2b80", "04112233445566778899"])
    func readersFindEveryLength(_ uid: String) throws {
        let reader = InProcessReader(try Self.card(uid))
        guard case .typeA(let target) = try reader.activate(.typeA()) else {
            Issue.record("no card of type A")
            return
        }
        #expect(Hex.encode(target.uid) == uid)
        #expect(target.sak == 0x20)
        #expect(target.ats == [0x05, 0x78, 0x00, 0x81, 0x02])
        #expect(target.isISODEP)
        #expect(try reader.activate(.typeA()) != nil, "again, although it was selected")
        #expect(try reader.activate(.typeB()) == nil)
        #expect(try reader.activate(.felica(.any)) == nil)
    }

    /// Cards that differ in any one bit of their UID are told apart; the one with a zero there is found first.
    @Test(arguments: 0..<32) func collidingCardsAreFoundOneAfterAnother(bit: Int) throws {
        var other: [UInt8] = [0x01, 0x02, 0x03, 0x04]
        other[bit / 8] ^= 1 << UInt8(bit % 8)
        let cards = [try Self.card("01020304"), try Self.card(Hex.encode(other))]
        let field = VirtualField(cards: cards, collision: .damaged)
        let initiator = TypeAInitiator { frame, _ in
            switch field.exchange(frame) {
            case .silence: .failed(status: 0x01)
            case .damaged(let status): .failed(status: status)
            case .answer(let answer): .answer(answer)
            }
        }
        var found: Set<[UInt8]> = []
        for _ in 0..<2 {
            guard case .found(let identity) = initiator.activate() else { break }
            found.insert(identity.uid)
            initiator.halt()
        }
        #expect(found == [[0x01, 0x02, 0x03, 0x04], other])
        #expect(initiator.activate() == .nothing)
        #expect(
            initiator.activate(isWakeUp: true, uid: other) == .found(try #require(TypeAIdentity(uid: other, sak: 0x20)))
        )
    }

    @Test func noOtherLengths() {
        for count in [0, 1, 3, 5, 6, 8, 9, 11, 200] {
            #expect(TypeAIdentity(uid: [UInt8](repeating: 1, count: count), sak: 0) == nil)
        }
    }
}
