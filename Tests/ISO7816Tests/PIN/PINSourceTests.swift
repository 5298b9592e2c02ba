// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import ReaderCore
import Testing

@Suite("Sources of PINs")
struct PINSourceTests {
    /// Counts questions, and answers with the right PINs.
    private final class User {
        var asked: [PINReference] = []
        var agreed: [TriesLeft] = []
        var knows = 2

        func source(_ given: [PIN] = [], allowsLastTry: Bool = false) -> PINSource {
            let consent = PINConsent(allowsLastTry: allowsLastTry) { _, tries in
                self.agreed.append(tries)
                return true
            }
            return .asking(given: given, consent: consent) { prompt in
                self.asked.append(prompt.reference)
                guard self.asked.count <= self.knows else { return nil }
                return PIN(PINGuardTests.secrets[prompt.reference.p2] ?? [])
            }
        }
    }

    /// The PINs of a choice, passed on one by one, of which the card accepts all before this place.
    private static func passed(_ choice: PINSource.Choice, accepted: Int = .max) -> [Int] {
        var places: [Int] = []
        choice.pass { first, pins in
            places += pins.indices.map { first + $0 }
            return first < accepted
        }
        return places
    }

    private static func prompts(_ first: TriesLeft?, _ second: TriesLeft? = .count(3)) -> [PINPrompt] {
        [PINPrompt(PINGuardTests.pin1, first), PINPrompt(PINGuardTests.pin2, second)]
    }

    @Test func noneAsksForNothing() {
        #expect(PINSource.none.choose(Self.prompts(.count(3))) == nil)
    }

    @Test func asksForEachPINInOrder() throws {
        let user = User()
        let choice = try #require(user.source().choose(Self.prompts(.count(3))))
        #expect(user.asked.isEmpty, "the first is asked for when the card can take it")
        #expect(Self.passed(choice) == [0, 1])
        #expect(user.asked == [PINGuardTests.pin1, PINGuardTests.pin2])
        #expect(choice.refusal == nil)
    }

    @Test func asksForNoSecondPINAfterAWrongFirstOne() throws {
        let user = User()
        let choice = try #require(user.source().choose(Self.prompts(.count(3))))
        #expect(Self.passed(choice, accepted: 0) == [0])
        #expect(user.asked == [PINGuardTests.pin1])
    }

    static let refused: [(TriesLeft, PINGuardError)] = [
        (.locked, .locked(PINGuardTests.pin1)), (.count(1), .lastTry(PINGuardTests.pin1, .count(1))),
        (.unknown(0x6300), .lastTry(PINGuardTests.pin1, .unknown(0x6300))),
        (.refused(0x6A88), .notVerifiable(PINGuardTests.pin1, 0x6A88)),
    ]

    @Test("A PIN that must not be sent is not asked for", arguments: refused)
    func asksForNoneThatMustNotBeSent(_ tries: TriesLeft, _ error: PINGuardError) throws {
        let user = User()
        let choice = try #require(user.source().choose(Self.prompts(tries)))
        #expect(Self.passed(choice).isEmpty)
        #expect(user.asked.isEmpty)
        #expect(choice.refusal == error)
    }

    @Test func keepsTheFirstPINWhenTheSecondIsLocked() throws {
        let user = User()
        let choice = try #require(user.source().choose(Self.prompts(.count(3), .locked)))
        #expect(Self.passed(choice) == [0])
        #expect(user.asked == [PINGuardTests.pin1])
        #expect(choice.refusal == .locked(PINGuardTests.pin2))
    }

    @Test func asksAboutALastTryOnceAndBeforeAnyPIN() throws {
        let user = User()
        let choice = try #require(user.source(allowsLastTry: true).choose(Self.prompts(.count(3), .count(1))))
        #expect(user.agreed == [.count(1)] && user.asked.isEmpty)
        #expect(Self.passed(choice) == [0, 1])
        #expect(choice.consent.confirm(PINGuardTests.pin2, .count(1)))
        #expect(user.agreed == [.count(1)], "the answer is remembered")
    }

    @Test func skipsTheRestAfterAnEmptyAnswer() throws {
        let user = User()
        user.knows = 1
        let choice = try #require(user.source().choose(Self.prompts(.count(3))))
        #expect(!choice.pass { _, _ in true })
        #expect(user.asked.count == 2)
        user.asked = []
        user.knows = 0
        let none = try #require(user.source().choose(Self.prompts(.count(3), .locked)))
        #expect(!none.pass { _, _ in true }, "the second was not reached")
        #expect(user.asked.count == 1)
    }

    @Test func takesGivenPINsWithoutAsking() throws {
        let user = User()
        let choice = try #require(user.source([PIN(Array("2525".utf8))]).choose(Self.prompts(.count(3), .locked)))
        #expect(Self.passed(choice) == [0])
        #expect(user.asked.isEmpty)
        #expect(choice.refusal == nil, "the second PIN was not wanted")
    }

    @Test func refusesAGivenPINOfTheWrongForm() throws {
        let choice = try #require(PINSource.pins(PIN(Array("25255".utf8))).choose(Self.prompts(.count(3))))
        #expect(Self.passed(choice).isEmpty)
        #expect(choice.refusal == .form(PINGuardTests.pin1))
    }

    // MARK: Sessions

    @Test func verifiesThroughTheGuard() throws {
        let card = CountingCard(.counts(3, locked: 0x6984), right: PINGuardTests.secrets)
        let session = PINGuardTests.session(card)
        #expect(try session.triesLeft(of: PINGuardTests.pin1) == .count(3))
        #expect(try session.verify(PINGuardTests.pin1, with: .pins(PIN(Array("2525".utf8)))) == .verified)
        #expect(try session.verify(PINGuardTests.pin2, with: .none) == .skipped)
        #expect(card.sentPINs.map(\.p2) == [0x81])
    }

    @Test func sendsNoSecondPINAfterAWrongOne() {
        let card = CountingCard(.counts(3, locked: 0x6984), right: PINGuardTests.secrets)
        let session = PINGuardTests.session(card)
        #expect(throws: PINGuardError.wrong(PINGuardTests.pin1, .count(2))) {
            try session.verify(PINGuardTests.pin1, with: .pins(PIN(Array("9999".utf8))))
        }
        #expect(throws: PINGuardError.earlierFailure(PINGuardTests.pin1)) {
            try session.verify(PINGuardTests.pin1, with: User().source())
        }
        #expect(card.sentPINs.count == 1)
    }

    @Test func asksForNoPINOfALockedCard() {
        let card = CountingCard(.counts(0, locked: 0x6984), right: PINGuardTests.secrets)
        let user = User()
        #expect(throws: PINGuardError.locked(PINGuardTests.pin1)) {
            try PINGuardTests.session(card).verify(PINGuardTests.pin1, with: user.source())
        }
        #expect(user.asked.isEmpty)
        #expect(card.sentPINs.isEmpty)
    }
}
