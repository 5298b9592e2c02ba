// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Testing
import VirtualReader

/// The field: counting, faults, several cards.
struct VirtualFieldTests {
    static let polling: [UInt8] = [0x06, 0x00, 0xFF, 0xFF, 0x00, 0x00]
    static let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    static let read: [UInt8] = [0x10, 0x06] + idm + [1, 0x0B, 0x10, 1, 0x80, 0x00]

    static func card(_ idm: String = "0102030405060708", _ system: String = "0003") throws -> VirtualFeliCaCard {
        try .from(
            """
            {"schema": "kazasu.card/1", "idm": "\(idm)", "pmm": "01368B868FBECBFF",
             "systems": [{"code": "\(system)", "blocks": {"100B": 2}}]}
            """)
    }

    /// The answer's bytes, or nothing.
    static func frame(_ outcome: FieldResult) -> [UInt8]? {
        if case .answer(let answer) = outcome { answer.frame } else { nil }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let fault: InjectedFault
        /// What becomes of an answer to the read.
        let change: @Sendable ([UInt8]) -> [UInt8]
        var testDescription: String { "\(fault)" }
    }

    static let cases: [Case] = [
        Case(fault: .flipped(offset: 12, mask: 0x01)) { bytes in
            var bytes = bytes
            bytes[12] ^= 0x01
            return bytes
        },
        Case(fault: .flipped(offset: 29, mask: 0xFF)) { [$0[0] ^ 0xFF] + $0.dropFirst() },
        Case(fault: .flipped(offset: -1, mask: 0xFF)) { $0 },
        Case(fault: .truncated(to: 5)) { Array($0.prefix(5)) },
        Case(fault: .truncated(to: 0)) { _ in [] },
        Case(fault: .truncated(to: -3)) { _ in [] },
        Case(fault: .truncated(to: 300)) { $0 },
        Case(fault: .lengthened(by: [0xAA, 0xBB])) { $0 + [0xAA, 0xBB] },
        Case(fault: .otherIDm) { bytes in
            var bytes = bytes
            bytes[9] = 0xF7
            return bytes
        },
        Case(fault: .wrongResponseCode) { [$0[0], 0x27] + $0.dropFirst(2) },
        Case(fault: .wrongCount) { $0.prefix(12) + [0x02] + $0.dropFirst(13) },
        Case(fault: .late(.milliseconds(7))) { $0 },
    ]

    @Test(arguments: cases) func faultsChangeAnswers(_ fault: Case) throws {
        let good = try #require(Self.frame(VirtualField(cards: [try Self.card()]).exchange(Self.read, at: .kbps212)))
        let field = VirtualField(cards: [try Self.card()], faults: .once(fault.fault, at: 2))
        #expect(Self.frame(field.exchange(Self.read, at: .kbps212)) == good)
        #expect(Self.frame(field.exchange(Self.read, at: .kbps212)) == fault.change(good))
        #expect(Self.frame(field.exchange(Self.read, at: .kbps212)) == good)
    }

    @Test(
        arguments: [
            ([0x0A, 0x0C], 10), ([0x0D, 0x02, 1, 0xFF, 0xFF], 10), ([0x0D, 0x32, 1, 0xFF, 0xFF], 13),
        ] as [([UInt8], Int)])
    func countsOfOtherAnswers(_ parts: [UInt8], _ offset: Int) throws {
        let frame = parts.prefix(2) + Self.idm + parts.dropFirst(2)
        let field = VirtualField(cards: [try Self.card()], faults: .once(.wrongCount, at: 2))
        let good = try #require(Self.frame(field.exchange(Array(frame), at: .kbps212)))
        let bad = try #require(Self.frame(field.exchange(Array(frame), at: .kbps212)))
        #expect(zip(good, bad).enumerated().filter { $1.0 != $1.1 }.map(\.offset) == [offset])
    }

    @Test func lateAnswersOnlyTakeLonger() throws {
        let field = VirtualField(cards: [try Self.card()], faults: .once(.late(.milliseconds(7)), at: 2))
        guard case .answer(let first) = field.exchange(Self.read, at: .kbps212),
            case .answer(let second) = field.exchange(Self.read, at: .kbps212)
        else {
            Issue.record("no answer")
            return
        }
        #expect(second.thinkingTime - first.thinkingTime == .milliseconds(7))
    }

    @Test func silenceAndDamage() throws {
        let field = VirtualField(
            cards: [try Self.card()],
            faults: [
                InjectedFaultRule(.silence, .during(1...2)), InjectedFaultRule(.damaged(status: 0x03), .during(2...3)),
            ])
        let outcomes = (1...4).map { _ in field.exchange(Self.polling, at: .kbps212) }
        #expect(outcomes[0] == .silence)
        #expect(outcomes[1] == .silence)
        #expect(outcomes[2] == .damaged(status: 0x03))
        #expect(Self.frame(outcomes[3]) != nil)
        #expect(field.statistics.exchanges == 4)
        #expect(field.statistics.answered == 1)
        #expect(field.statistics.unanswered == 2)
        #expect(field.statistics.damaged == 1)
    }

    @Test func silenceCannotBeDamaged() {
        let field = VirtualField(faults: .once(.damaged(status: 0x02), at: 1))
        #expect(field.exchange(Self.polling, at: .kbps212) == .silence)
    }

    @Test func lostAnswerKeepsTheWrite() throws {
        let card = try VirtualFeliCaCard.from(
            """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368B868FBECBFF",
             "systems": [{"code": "0003", "blocks": {"1009": 1}}]}
            """)
        let field = VirtualField(cards: [card], faults: .once(.silence, at: 1))
        let data = [UInt8](repeating: 0x5A, count: 16)
        let write = [0x20, 0x08] + Self.idm + [1, 0x09, 0x10, 1, 0x80, 0x00] + data
        #expect(field.exchange(write, at: .kbps212) == .silence)
        #expect(card.systems.first?.blocks(ServiceCode(rawValue: 0x1009))[0]?.bytes == data)
    }

    @Test func absentCardReceivesNothingAndLosesPower() throws {
        let card = try VirtualFeliCaCard.from(LiteTests.text())
        let field = VirtualField(cards: [card], faults: .cardAway(from: 2, until: 4))
        let data = [UInt8](repeating: 0x5A, count: 16)
        let idm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE4, 0x45, 0x05, 0x5B, 0x87]
        let challenge = [0x20, 0x08] + idm + [1, 0x09, 0x00, 1, 0x80, 0x80] + data
        #expect(Self.frame(field.exchange(challenge, at: .kbps212)) != nil)
        #expect(card.lite?[0x80]?.bytes == data)
        #expect(field.exchange(challenge, at: .kbps212) == .silence)
        #expect(card.lite?[0x80] == .zero)
        #expect(field.exchange(Self.polling, at: .kbps212) == .silence)
        #expect(Self.frame(field.exchange(Self.polling, at: .kbps212)) != nil)
    }

    @Test func cardThatNeverReturns() throws {
        let field = VirtualField(cards: [try Self.card()], faults: .cardAway(from: 2))
        #expect(Self.frame(field.exchange(Self.polling, at: .kbps212)) != nil)
        for _ in 0..<20 { #expect(field.exchange(Self.polling, at: .kbps212) == .silence) }
        #expect(InjectedFaults.cardAway(from: 5, until: 5).rules.isEmpty)
        #expect(InjectedFaults.cardAway(from: 5, until: Int.min).rules.isEmpty)
    }

    @Test(arguments: [(3, [3, 6, 9]), (1, Array(1...10)), (0, []), (-2, [])] as [(Int, [Int])])
    func everyKth(_ period: Int, _ silent: [Int]) throws {
        let field = VirtualField(cards: [try Self.card()], faults: [InjectedFaultRule(.silence, .every(period))])
        #expect((1...10).filter { _ in field.exchange(Self.polling, at: .kbps212) == .silence } == silent)
    }

    @Test func onlyOneCommand() throws {
        let field = VirtualField(
            cards: [try Self.card()], faults: [InjectedFaultRule(.silence, .during(2...2), command: 0x06)])
        let frames = [Self.read, Self.polling, Self.read, Self.polling, Self.read]
        #expect(frames.map { field.exchange($0, at: .kbps212) == .silence } == [false, false, true, false, false])
        #expect(field.statistics.byCommand == [0x00: 2, 0x06: 3])
        #expect(field.statistics.count(of: 0x06) == 3)
    }

    @Test func randomFaultsAreTheSameForTheSameSeed() throws {
        func silent(_ seed: UInt64, _ perThousand: Int) throws -> [Bool] {
            let field = VirtualField(
                cards: [try Self.card()],
                faults: [InjectedFaultRule(.silence, .random(perThousand: perThousand, seed: seed))])
            return (0..<1000).map { _ in field.exchange(Self.polling, at: .kbps212) == .silence }
        }
        let first = try silent(5, 200)
        #expect(first == (try silent(5, 200)))
        #expect(first != (try silent(6, 200)))
        #expect((150...250).contains(first.count { $0 }))
        #expect(try silent(5, 0).allSatisfy { !$0 })
        #expect(try silent(5, -1).allSatisfy { !$0 })
        #expect(try silent(5, 1000).allSatisfy { $0 })
    }

    // MARK: several cards

    @Test func firstCardWinsWhenTwoAnswer() throws {
        let field = VirtualField(cards: [try Self.card(), try Self.card("0102030405060799", "FE00")])
        #expect(Self.frame(field.exchange(Self.polling, at: .kbps212))?[9] == 0x08)
        let common: [UInt8] = [0x06, 0x00, 0xFE, 0x00, 0x00, 0x00]
        #expect(Self.frame(field.exchange(common, at: .kbps212))?[9] == 0x99)
        #expect(Self.frame(field.exchange(Self.read, at: .kbps212))?.count == 29)
    }

    @Test func twoAnswersInOneSlotCollide() throws {
        let cards = [try Self.card(), try Self.card("0102030405060799")]
        let field = VirtualField(cards: cards, collision: .damaged)
        #expect(field.exchange(Self.polling, at: .kbps212) == .damaged(status: 0x02))
        #expect(Self.frame(field.exchange(Self.read, at: .kbps212))?.count == 29)
    }

    @Test func timeSlotsKeepTwoCardsApart() throws {
        let cards = [try Self.card(), try Self.card("0102030405060799")]
        let field = VirtualField(cards: cards, collision: .damaged)
        let slots: [UInt8] = [0x06, 0x00, 0xFF, 0xFF, 0x00, 0x0F]
        let heard = (0..<64).compactMap { _ in Self.frame(field.exchange(slots, at: .kbps212))?[9] }
        #expect(Set(heard) == [0x08, 0x99])
    }

    @Test func cardsComeAndGo() throws {
        let field = VirtualField()
        #expect(field.exchange(Self.polling, at: .kbps212) == .silence)
        field.place(try Self.card())
        #expect(field.cards.count == 1)
        #expect(Self.frame(field.exchange(Self.polling, at: .kbps212)) != nil)
        field.plan(.once(.silence, at: 3))
        #expect(field.exchange(Self.polling, at: .kbps212) == .silence)
        field.removeCards()
        #expect(field.exchange(Self.polling, at: .kbps212) == .silence)
        #expect(field.cards.isEmpty)
    }

    @Test func switchingOffBringsTheFirstSystemBack() throws {
        let card = try VirtualFeliCaCard.from(LiteTests.text())
        let field = VirtualField(cards: [card])
        let data = [UInt8](repeating: 0x11, count: 16)
        let idm: [UInt8] = [0x01, 0x2E, 0x4C, 0xE4, 0x45, 0x05, 0x5B, 0x87]
        _ = field.exchange([0x20, 0x08] + idm + [1, 0x09, 0x00, 1, 0x80, 0x80] + data, at: .kbps212)
        #expect(card.lite?[0x80]?.bytes == data)
        field.switchOff()
        #expect(card.lite?[0x80] == .zero)
    }

    @Test func countsFramesWithoutACommandCode() {
        let field = VirtualField()
        for frame: [UInt8] in [[], [0x01]] { #expect(field.exchange(frame, at: .kbps424) == .silence) }
        #expect(field.statistics.exchanges == 2)
        #expect(field.statistics.byCommand.isEmpty)
        #expect(field.statistics.count(of: nil) == 0)
    }
}
