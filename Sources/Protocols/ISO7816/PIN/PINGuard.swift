// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import Synchronization

/// The permit for a PIN command to pass through a session; only ``PINGuard`` can make one for a PIN.
struct PINPermit {
    fileprivate init() {}

    /// For a VERIFY that carries no PIN: the number of a residence card, in its own application.
    static var residenceNumber: PINPermit { PINPermit() }
}

/// The only sender of VERIFY: a PIN that is locked by wrong tries costs its holder a trip to the office.
///
/// Each session has one, or shares that of an earlier session with the same card. Its rules:
///
/// - The format of every PIN is checked before anything is sent.
/// - The remaining tries are read immediately before each VERIFY. With one left, or if the card does not report them,
///   the PIN is sent only if ``PINConsent`` allows it; locked is `6983`, `6984` and `63C0`.
/// - A PIN is sent once in a run and never again, whatever the result. After a radio error, the tries are read and
///   reported.
/// - PINs are sent in order; if one fails, no further one is sent.
package final class PINGuard: Sendable {
    private let memory = Mutex(Memory())

    private struct Memory {
        var sent: Set<Place> = []
        /// Answers of the card that did not give the remaining tries of these PINs.
        var untold: [Place: TriesLeft] = [:]
        var hasFailed = false
    }

    /// The location of a PIN on the card, whatever its name.
    private struct Place: Hashable {
        var trail: [CommandAPDU]
        var p2: UInt8
    }

    package init() {}

    /// Asks the card for the remaining tries of a PIN with a VERIFY without data, which uses none.
    ///
    /// A card that does not report them is asked only once: it may count the query as a try.
    ///
    /// - Throws: ``ISO7816Error``.
    package func triesLeft(
        of reference: PINReference, in session: ISO7816Session
    ) throws(ISO7816Error) -> TriesLeft {
        for target in reference.path { try session.select(target) }
        let place = Place(trail: session.trail, p2: reference.p2)
        if let untold = memory.withLock({ $0.untold[place] }) { return untold }
        let tries = TriesLeft(query: try query(reference, session))
        if case .unknown = tries { memory.withLock { $0.untold[place] = tries } }
        return tries
    }

    /// Returns the card's answer to a VERIFY without data, unchanged.
    ///
    /// - Throws: ``ISO7816Error``.
    package func queryStatus(
        of reference: PINReference, in session: ISO7816Session
    ) throws(ISO7816Error) -> StatusWord {
        for target in reference.path { try session.select(target) }
        return try query(reference, session)
    }

    /// Verifies PINs in order.
    ///
    /// - Parameters:
    ///   - requests: the PINs; each is overwritten, sent or not.
    ///   - session: the card.
    ///   - consent: whether a last try may be used.
    /// - Returns: the result for each.
    /// - Throws: ``PINGuardError`` for the first that was not accepted.
    package func verify(
        _ requests: [PINRequest], in session: ISO7816Session, consent: PINConsent
    ) throws(PINGuardError) -> [PINResult] {
        defer { for request in requests { request.pin.wipe() } }
        for request in requests {
            guard !request.pin.isSpent else { throw .alreadySent(request.reference) }
            guard request.pin.matches(request.reference.form) else { throw .form(request.reference) }
        }
        var outcomes: [PINResult] = []
        for request in requests { outcomes.append(try verify(request, session, consent)) }
        return outcomes
    }

    private func verify(
        _ request: PINRequest, _ session: ISO7816Session, _ consent: PINConsent
    ) throws(PINGuardError) -> PINResult {
        let reference = request.reference
        guard !memory.withLock(\.hasFailed) else { throw .earlierFailure(reference) }
        let before: TriesLeft
        do throws(ISO7816Error) {
            before = try triesLeft(of: reference, in: session)
        } catch {
            throw .triesUnreadable(reference, error)
        }
        switch before {
        case .notNeeded: return .notNeeded
        case .locked: throw .locked(reference)
        case .refused(let status): throw .notVerifiable(reference, status)
        case .count(let count) where count > 1: break
        case .count, .unknown:
            guard consent.allowsLastTry, consent.confirm(reference, before) else { throw .lastTry(reference, before) }
            try checkAgain(reference, session, before)
        }
        let place = Place(trail: session.trail, p2: reference.p2)
        let isFirst = memory.withLock { memory in
            guard memory.sent.insert(place).inserted else { return false }
            // From here on, no second PIN can be sent, whatever happens.
            memory.hasFailed = true
            return true
        }
        guard isFirst else { throw .alreadySent(reference) }
        try send(request, before, session)
        memory.withLock { $0.hasFailed = false }
        return .verified
    }

    /// The user took time to agree, so a counter is read once more.
    private func checkAgain(
        _ reference: PINReference, _ session: ISO7816Session, _ before: TriesLeft
    ) throws(PINGuardError) {
        guard case .count = before else { return }
        let now: TriesLeft
        do throws(ISO7816Error) {
            now = TriesLeft(query: try query(reference, session))
        } catch {
            throw .triesUnreadable(reference, error)
        }
        guard now == before else { throw .lastTry(reference, now) }
    }

    private func send(
        _ request: PINRequest, _ before: TriesLeft, _ session: ISO7816Session
    ) throws(PINGuardError) {
        let reference = request.reference
        let header = [reference.cla.rawValue, Instruction.verify.rawValue, 0x00, reference.p2]
        let response: ResponseAPDU?
        do throws(ISO7816Error) {
            response = try request.pin.spend(PINPermit(), after: header) { frame throws(ISO7816Error) in
                try session.exchange(frame, permit: PINPermit())
            }
        } catch {
            throw .interrupted(reference, error, before: before, after: stateAfterFailure(reference, session))
        }
        guard let response else { throw .alreadySent(reference) }
        let status = response.status
        // A VERIFY is answered by a status word alone: data before it may mean another status word with trailing bytes.
        if let flaw = flaw(of: response) {
            throw .interrupted(
                reference, .malformed(.verify, flaw), before: before, after: stateAfterFailure(reference, session))
        }
        guard status != .success else { return }
        switch TriesLeft(query: status) {
        case .count(let count): throw .wrong(reference, .count(count))
        case .locked: throw .wrong(reference, .locked)
        case .unknown(0x6300): throw .wrong(reference, .unknown(status))
        case .unknown, .refused, .notNeeded:
            guard case .count = before else { throw .refused(reference, status, nil) }
            throw .refused(reference, status, (try? query(reference, session)).map(TriesLeft.init(query:)))
        }
    }

    /// Returns the remaining tries after a radio error, as reported by the card after selecting it again.
    private func stateAfterFailure(_ reference: PINReference, _ session: ISO7816Session) -> TriesLeft? {
        do throws(ISO7816Error) {
            try session.retraceSteps()
            return TriesLeft(query: try query(reference, session))
        } catch {
            return nil
        }
    }

    private func query(
        _ reference: PINReference, _ session: ISO7816Session
    ) throws(ISO7816Error) -> StatusWord {
        let frame = [reference.cla.rawValue, Instruction.verify.rawValue, 0x00, reference.p2]
        let response = try session.exchange(frame, permit: PINPermit())
        if let flaw = flaw(of: response) { throw .malformed(.verify, flaw) }
        return response.status
    }

    private func flaw(of response: ResponseAPDU) -> ISO7816Error.Reason? {
        response.data.isEmpty ? nil : .dataLength(expected: 0, received: response.data.count)
    }
}

/// Why a PIN was not sent, or was sent without success.
@nonexhaustive
public enum PINGuardError: Error, Hashable, Sendable {
    /// It does not have the format of the card's PIN; nothing at all was sent to the card.
    case form(PINReference)
    /// This PIN was already sent in this run; it was not sent again.
    case alreadySent(PINReference)
    /// An earlier PIN failed in this run, so this one was not sent.
    case earlierFailure(PINReference)
    /// It is locked; it was not sent.
    case locked(PINReference)
    /// It was not sent, since another wrong try may lock it and the user did not agree to that.
    ///
    /// One try is left, or the card does not report how many.
    case lastTry(PINReference, TriesLeft)
    /// It was not sent, since the tries could not be read.
    case triesUnreadable(PINReference, ISO7816Error)
    /// It was not sent, since the card does not accept it; contains the status word of the query for the tries.
    case notVerifiable(PINReference, StatusWord)
    /// It was sent and is wrong; contains the remaining tries.
    case wrong(PINReference, TriesLeft)
    /// It was sent, and the card refused with a status word that does not reveal whether it is wrong.
    case refused(PINReference, StatusWord, TriesLeft?)
    /// It was sent, but no answer arrived. It is not sent again.
    ///
    /// `after` is what the card reported about the tries after that; `nil` if it could not be asked.
    case interrupted(PINReference, ISO7816Error, before: TriesLeft, after: TriesLeft?)

    /// Returns what is known about the tries now: the card's last report, or `before` if nothing was sent since.
    ///
    /// - Parameter before: the card's earlier report; `nil` if it was not asked.
    /// - Returns: `nil` if unknown.
    package func triesLeft(before: TriesLeft?) -> TriesLeft? {
        switch self {
        case .locked: .locked
        case .lastTry(_, let now), .wrong(_, let now): now
        case .notVerifiable(_, let status): .refused(status)
        case .refused(_, _, let now), .interrupted(_, _, _, let now): now
        case .form, .alreadySent, .earlierFailure, .triesUnreadable: before
        }
    }

    /// The PIN concerned.
    public var reference: PINReference {
        switch self {
        case .form(let reference), .alreadySent(let reference), .earlierFailure(let reference),
            .locked(let reference), .lastTry(let reference, _), .triesUnreadable(let reference, _),
            .notVerifiable(let reference, _), .wrong(let reference, _), .refused(let reference, _, _),
            .interrupted(let reference, _, _, _):
            reference
        }
    }
}

extension LocalizedText {
    /// The English name within a sentence, as in `check number B`, `PIN 1`: a message begins in lower case.
    package var inSentence: String {
        guard let second = english.dropFirst().first, second.isLowercase else { return english }
        return english.prefix(1).lowercased() + english.dropFirst()
    }
}

extension PINGuardError: SelfDescribing {
    /// What happened to the PIN, with its name and what is known about the tries left.
    public var message: LocalizedText {
        let (name, japaneseName) = (reference.name.inSentence, reference.name.japanese)
        switch self {
        case .form(let reference):
            return LocalizedText(
                "\(name) must be \(reference.form.message.english); nothing was sent",
                "\(japaneseName)は\(reference.form.message.japanese)で入力してください。カードには送っていません（残り回数は減りません）")
        case .alreadySent:
            return LocalizedText(
                "\(name) was already sent in this run and is not sent again", "\(japaneseName)はこの実行で送信済みのため、再送しません")
        case .earlierFailure:
            return LocalizedText(
                "\(name) was not sent, because an earlier PIN failed", "先の暗証番号が照合できなかったため、\(japaneseName)は送っていません")
        case .locked:
            return LocalizedText("\(name) is locked; nothing was sent", "\(japaneseName)は閉塞しています。何も送っていません")
        case .lastTry(_, let tries):
            return LocalizedText(
                "\(name) was not sent: \(tries.message.english)", "\(japaneseName)は送っていません: \(tries.message.japanese)")
        case .triesUnreadable(_, let error):
            return LocalizedText(
                "\(name) was not sent, because the number of remaining tries cannot be read: \(error.message.english)",
                "残り回数を読めないため、\(japaneseName)は送っていません: \(error.message.japanese)")
        case .notVerifiable(_, let status):
            return LocalizedText(
                "\(name) was not sent: the card says \(status.text.english)",
                "\(japaneseName)は送っていません: カードの応答 \(status.text.japanese)")
        case .wrong(_, .locked):
            return LocalizedText("\(name) is wrong and is now locked", "\(japaneseName)が違います。閉塞しました")
        case .wrong(_, let tries):
            return LocalizedText(
                "\(name) is wrong; \(tries.message.english)", "\(japaneseName)が違います。\(tries.message.japanese)")
        case .refused(_, let status, let tries):
            let left = tries?.message
            return LocalizedText(
                "the card did not accept \(name): \(status.text.english)\(left.map { "; \($0.english)" } ?? "")",
                "カードが\(japaneseName)を受け付けません: \(status.text.japanese)\(left.map { "。\($0.japanese)" } ?? "")")
        case .interrupted(_, let error, let before, let after):
            let effect = PINGuardError.effect(before, after)
            return LocalizedText(
                "the exchange failed while \(name) was sent (\(error.message.english)); \(effect.english); "
                    + "it is not sent again",
                "\(japaneseName)の送信中に通信が途切れました（\(error.message.japanese)）。\(effect.japanese)。再送はしません")
        }
    }

    /// What an interrupted VERIFY did to the tries.
    private static func effect(_ before: TriesLeft, _ after: TriesLeft?) -> LocalizedText {
        guard let after else {
            return LocalizedText("the card's state could not be checked", "カードの状態は確認できませんでした")
        }
        let left = after.message
        return switch (before, after) {
        case (_, .locked):
            LocalizedText("it counted as a wrong PIN and is now locked", "照合の誤りとして数えられ、閉塞しました")
        case (.count(let before), .count(let after)) where after < before:
            LocalizedText("it counted as a wrong PIN: \(left.english)", "照合の誤りとして数えられました: \(left.japanese)")
        case (.count, .count):
            LocalizedText("no try was used: \(left.english)", "回数は減っていません: \(left.japanese)")
        default: LocalizedText("its effect is unknown: \(left.english)", "照合されたかどうかは不明です: \(left.japanese)")
        }
    }
}

/// Whether a VERIFY that can lock the PIN may be sent.
public struct PINConsent {
    /// Whether the user requested it in advance (`--allow-last-try`).
    public var allowsLastTry: Bool
    /// Asks the user, who must type the answer; called only if ``allowsLastTry`` is set.
    public var confirm: (PINReference, TriesLeft) -> Bool

    /// Makes a consent; both conditions must be met.
    public init(allowsLastTry: Bool, confirm: @escaping (PINReference, TriesLeft) -> Bool) {
        self.allowsLastTry = allowsLastTry
        self.confirm = confirm
    }

    /// Never.
    public static var never: PINConsent { PINConsent(allowsLastTry: false) { _, _ in false } }
}

/// The result of a PIN that was not refused.
@nonexhaustive
public enum PINResult: Hashable, Sendable {
    /// The card accepted it.
    case verified
    /// The card required none, so it was not sent.
    case notNeeded
    /// There was none to send.
    case skipped
}

/// A PIN and its reference on the card.
package struct PINRequest {
    /// The PIN of the card.
    package var reference: PINReference
    /// The value that the user gave.
    package var pin: PIN

    package init(_ reference: PINReference, _ pin: PIN) {
        self.reference = reference
        self.pin = pin
    }
}
