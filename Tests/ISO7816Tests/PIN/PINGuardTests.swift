// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import ReaderCore
import Testing

@Suite("The PIN guard")
struct PINGuardTests {
    static let secrets: [UInt8: [UInt8]] = [0x81: Array("2525".utf8), 0x82: Array("1234".utf8)]
    static let pin1 = PINReference(
        LocalizedText("PIN 1", "暗証番号1"), path: [.masterFile], p2: 0x81, form: .digits(4))
    static let pin2 = PINReference(
        LocalizedText("PIN 2", "暗証番号2"), path: [.masterFile], p2: 0x82, form: .digits(4))

    static func session(_ card: CountingCard) -> ISO7816Session {
        ISO7816Session(channel: card) { () throws(TransportError) in try card.activate() }
    }

    static func requests(_ first: String = "2525", _ second: String = "1234") -> [PINRequest] {
        [PINRequest(pin1, PIN(Array(first.utf8))), PINRequest(pin2, PIN(Array(second.utf8)))]
    }

    static var yes: PINConsent { PINConsent(allowsLastTry: true) { _, _ in true } }

    /// What became of the PINs, or why not.
    static func verify(
        _ card: CountingCard, _ requests: [PINRequest] = requests(), _ consent: PINConsent = .never
    ) -> Result<[PINResult], PINGuardError> {
        let session = session(card)
        return Result { () throws(PINGuardError) in
            try session.pinGuard.verify(requests, in: session, consent: consent)
        }
    }

    @Test func verifiesBothInOrder() throws {
        let card = CountingCard(.counts(3, locked: 0x6984), right: PINGuardTests.secrets)
        #expect(try PINGuardTests.verify(card).get() == [.verified, .verified])
        #expect(card.sentPINs.map(\.p2) == [0x81, 0x82])
        #expect(card.sentPINs.map(\.pin) == [Array("2525".utf8), Array("1234".utf8)])
        #expect(card.exchanges == 6, "select, ask, verify, for each")
    }

    @Test func stopsWhenTheFirstPINFails() {
        let card = CountingCard(.counts(3, locked: 0x6984), right: PINGuardTests.secrets)
        let result = PINGuardTests.verify(card, PINGuardTests.requests("9999"))
        #expect(result == .failure(.wrong(PINGuardTests.pin1, .count(2))))
        #expect(card.sentPINs.map(\.p2) == [0x81])
    }

    @Test func sendsNothingMoreAfterAFailure() throws {
        let card = CountingCard(.counts(3, locked: 0x6984), right: PINGuardTests.secrets)
        let session = PINGuardTests.session(card)
        #expect(throws: PINGuardError.wrong(PINGuardTests.pin1, .count(2))) {
            try session.pinGuard.verify(PINGuardTests.requests("9999"), in: session, consent: .never)
        }
        for first in ["2525", "9999"] {
            #expect(throws: PINGuardError.earlierFailure(PINGuardTests.pin1)) {
                try session.pinGuard.verify(PINGuardTests.requests(first), in: session, consent: PINGuardTests.yes)
            }
        }
        #expect(throws: PINGuardError.earlierFailure(PINGuardTests.pin2)) {
            try session.pinGuard.verify(
                [PINRequest(PINGuardTests.pin2, PIN("1234".utf8))], in: session, consent: PINGuardTests.yes)
        }
        #expect(card.sentPINs.count == 1)
    }

    @Test func sendsAPINOnce() throws {
        let card = CountingCard(.counts(3, locked: 0x6984), right: PINGuardTests.secrets)
        let session = PINGuardTests.session(card)
        let request = PINRequest(PINGuardTests.pin1, PIN("2525".utf8))
        #expect(try session.pinGuard.verify([request], in: session, consent: .never) == [.verified])
        #expect(request.pin.isSpent)
        for again in [request, PINRequest(PINGuardTests.pin1, PIN("2525".utf8))] {
            #expect(throws: PINGuardError.alreadySent(PINGuardTests.pin1)) {
                try session.pinGuard.verify([again], in: session, consent: PINGuardTests.yes)
            }
        }
        #expect(card.sentPINs.count == 1)
    }

    /// A card that tells the tries left when asked, but not after a wrong PIN.
    private final class SilentCard: CardChannel {
        let pin: PIN
        /// Whether the PIN counted as sent while the card had it.
        private(set) var wasSpent = false

        init(_ pin: PIN) { self.pin = pin }

        func activate() throws(TransportError) -> Bool { true }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            guard frame[1] == 0x20 else { return [0x90, 0x00] }
            guard frame.count > 5 else { return [0x63, 0xC3] }
            wasSpent = pin.isSpent
            return [0x63, 0x00]
        }
    }

    @Test func treats6300AsAWrongPIN() {
        let request = PINRequest(PINGuardTests.pin1, PIN("9999".utf8))
        let card = SilentCard(request.pin)
        let session = ISO7816Session(channel: card) { () throws(TransportError) in try card.activate() }
        #expect(throws: PINGuardError.wrong(PINGuardTests.pin1, .unknown(0x6300))) {
            try session.pinGuard.verify([request], in: session, consent: .never)
        }
        #expect(card.wasSpent)
    }

    static let wrongForms: [(form: PINForm, text: String)] = [
        (.digits(4), ""), (.digits(4), "123"), (.digits(4), "12345"), (.digits(4), "12a4"), (.digits(4), "１２３４"),
        (.digits(4), "****"), (.capitalsAndDigits(6...16), "ABC12"), (.capitalsAndDigits(6...16), "ABCDEf"),
        (.capitalsAndDigits(6...16), "ABCDEFGHIJKLMNOPQ"), (.printable(4...8), "a\u{7F}cd"),
        (.printable(4...8), "abc"), (.exactly([0x2A, 0x2A, 0x2A, 0x2A]), "1234"),
    ]

    @Test(arguments: wrongForms) func neverSendsAMalformedPIN(_ row: (form: PINForm, text: String)) {
        let card = CountingCard(.counts(3, locked: 0x6984), right: PINGuardTests.secrets)
        var reference = PINGuardTests.pin2
        reference.form = row.form
        let good = PINRequest(PINGuardTests.pin1, PIN("2525".utf8))
        let result = PINGuardTests.verify(card, [good, PINRequest(reference, PIN(row.text.utf8))])
        #expect(result == .failure(.form(reference)))
        #expect(card.exchanges == 0, "also when it is the second that is wrong")
        #expect(good.pin.isSpent, "overwritten all the same")
    }

    @Test func rightForms() {
        #expect(PIN("0123".utf8).matches(.digits(4)))
        #expect(PIN("ABCDEFGHIJ012345".utf8).matches(.capitalsAndDigits(6...16)))
        #expect(PIN("p w!".utf8).matches(.printable(4...8)))
        #expect(PIN("****".utf8).matches(.exactly([0x2A, 0x2A, 0x2A, 0x2A])))
    }

    @Test func acceptsEveryCharacterOfTheForm() {
        let digits = Array("0123456789".utf8)
        let capitals = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(PIN([byte]).matches(.digits(1)) == digits.contains(byte))
            #expect(PIN([byte]).matches(.capitalsAndDigits(1...1)) == (digits + capitals).contains(byte))
            #expect(PIN([byte]).matches(.printable(1...1)) == (byte >= 0x20 && byte < 0x7F))
        }
    }

    static let locked: [CountingCard.Counter] = [
        .counts(0, locked: 0x6983), .counts(0, locked: 0x6984), .counts(0, locked: 0x63C0),
    ]

    @Test(arguments: locked) func lockedIsLocked(_ counter: CountingCard.Counter) {
        let card = CountingCard(counter, right: PINGuardTests.secrets)
        let result = PINGuardTests.verify(card, PINGuardTests.requests(), PINGuardTests.yes)
        #expect(result == .failure(.locked(PINGuardTests.pin1)))
        #expect(card.sentPINs.isEmpty)
    }

    @Test(arguments: locked) func reportsAFailedLastTryAsLocked(_ counter: CountingCard.Counter) {
        guard case .counts(_, let word) = counter else { return }
        let card = CountingCard(.counts(1, locked: word), right: PINGuardTests.secrets)
        let result = PINGuardTests.verify(card, PINGuardTests.requests("0000"), PINGuardTests.yes)
        #expect(result == .failure(.wrong(PINGuardTests.pin1, .locked)))
        #expect(card.sentPINs.count == 1)
    }

    /// The flag alone is not enough, nor is the answer alone.
    @Test(arguments: [false, true], [false, true])
    func lastTryNeedsBothConsents(allows: Bool, answer: Bool) {
        var asked: [TriesLeft] = []
        let consent = PINConsent(allowsLastTry: allows) { _, tries in
            asked.append(tries)
            return answer
        }
        for (counter, tries) in [
            (CountingCard.Counter.counts(1, locked: 0x6984), TriesLeft.count(1)),
            (.word(0x6300), .unknown(0x6300)), (.word(0x6700), .unknown(0x6700)),
        ] {
            asked = []
            let card = CountingCard(counter, right: PINGuardTests.secrets)
            let result = PINGuardTests.verify(
                card, [PINRequest(PINGuardTests.pin1, PIN("2525".utf8))], consent)
            #expect(
                result == (allows && answer ? .success([.verified]) : .failure(.lastTry(PINGuardTests.pin1, tries))))
            #expect(card.sentPINs.count == (allows && answer ? 1 : 0))
            #expect(asked == (allows ? [tries] : []), "nobody is asked in vain")
        }
    }

    /// While the user was asked, somebody else used the card.
    @Test func stopsWhenTheCounterChanged() {
        let card = CountingCard(.counts(1, locked: 0x6984), right: PINGuardTests.secrets)
        let consent = PINConsent(allowsLastTry: true) { _, _ in
            _ = try? card.transceive([0x00, 0x20, 0x00, 0x81, 0x04, 0x30, 0x30, 0x30, 0x30], timeout: .zero)
            return true
        }
        #expect(
            PINGuardTests.verify(card, PINGuardTests.requests(), consent)
                == .failure(.lastTry(PINGuardTests.pin1, .locked)))
        #expect(card.sentPINs.count == 1, "the other one's")
    }

    @Test func neverSendsAVerifiedPINAgain() throws {
        let card = CountingCard(.word(0x9000), right: PINGuardTests.secrets)
        #expect(try PINGuardTests.verify(card).get() == [.notNeeded, .notNeeded])
        #expect(card.sentPINs.isEmpty)
    }

    @Test(arguments: [0x6A88, 0x6D00, 0x6E00, 0x6982, 0x6985, 0x6A82, 0x61FF, 0x6C10, 0xFFFF, 0x0000] as [StatusWord])
    func uninformativeStatusWords(_ word: StatusWord) {
        let card = CountingCard(.word(word.rawValue), right: PINGuardTests.secrets)
        let result = PINGuardTests.verify(card, PINGuardTests.requests(), PINGuardTests.yes)
        #expect(result == .failure(.notVerifiable(PINGuardTests.pin1, word)))
        #expect(card.sentPINs.isEmpty)
        #expect(card.exchanges == 2, "no GET RESPONSE, no second length")
    }

    static let radio: [(fault: CountingCard.InjectedFault, pin: String, after: TriesLeft?)] = [
        (.lostCommand, "9999", .count(3)), (.lostAnswer, "9999", .count(2)), (.lostAnswer, "2525", .count(3)),
        (.released, "9999", .count(3)), (.readerTimeout, "9999", .count(3)), (.damaged, "9999", .count(2)),
        (.oneByte, "9999", .count(2)), (.empty, "9999", .count(2)), (.cancelled, "9999", .count(3)),
        (.otherCard, "9999", nil),
    ]

    /// The exchange that fails is the VERIFY itself.
    @Test(arguments: radio)
    func reportsTheStateAfterARadioError(
        _ row: (fault: CountingCard.InjectedFault, pin: String, after: TriesLeft?)
    ) {
        let card = CountingCard(
            .counts(3, locked: 0x6984), right: PINGuardTests.secrets, fault: (row.fault, 3))
        guard
            case .failure(.interrupted(let reference, _, .count(3), let after)) = PINGuardTests.verify(
                card, PINGuardTests.requests(row.pin), PINGuardTests.yes)
        else {
            Issue.record("no interruption")
            return
        }
        #expect(reference == PINGuardTests.pin1)
        #expect(after == row.after)
        #expect(card.sentPINs.count == 1, "never again")
    }

    /// Bytes behind the status word make the last two of them look like one.
    @Test(arguments: [2, 3]) func rejectsAnAnswerWithData(exchange: Int) {
        let card = CountingCard(
            .counts(3, locked: 0x6984), right: PINGuardTests.secrets, fault: (.trailingSuccess, exchange))
        let flaw = ISO7816Error.malformed(.verify, .dataLength(expected: 0, received: 2))
        #expect(
            PINGuardTests.verify(card, PINGuardTests.requests("9999"))
                == .failure(
                    exchange == 2
                        ? .triesUnreadable(PINGuardTests.pin1, flaw)
                        : .interrupted(PINGuardTests.pin1, flaw, before: .count(3), after: .count(2))))
        #expect(card.sentPINs.count == exchange - 2)
    }

    @Test func oddWordAfterVerify() {
        let card = CountingCard(
            .counts(3, locked: 0x6984), right: PINGuardTests.secrets, fault: (.oddWord, 3))
        #expect(
            PINGuardTests.verify(card, PINGuardTests.requests("9999"))
                == .failure(.refused(PINGuardTests.pin1, 0x1234, .count(2))))
        #expect(card.sentPINs.count == 1)
    }
}
