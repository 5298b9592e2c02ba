// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What lets a PIN command through a session; nothing but ``PINGuard`` can make one.
struct PINPermit {
    fileprivate init() {}
}

/// Sends VERIFY, and is all that can: a PIN that is locked by wrong tries costs its holder a trip to the office.
///
/// Each session has one. What it holds to:
///
/// - The form of every PIN is checked before anything is sent.
/// - The tries that are left are read right before each VERIFY. With one left, or when the card does not say, the PIN
///   is sent only when ``PINConsent`` says so; locked is `6983`, `6984` and `63C0`.
/// - A PIN is sent once in a run and never again, whatever came of it. After a radio error the tries are read and told.
/// - PINs go in order; when one fails, no further one is sent.
package final class PINGuard {
    private var sent: Set<Place> = []
    /// What a card said that does not tell the tries of these PINs.
    private var untold: [Place: TriesLeft] = [:]
    private var hasFailed = false

    /// Which PIN of the card, wherever the name comes from.
    private struct Place: Hashable {
        var trail: [CommandAPDU]
        var p2: UInt8
    }

    init() {}

    /// Asks the card how many tries a PIN has left: a VERIFY without data, which uses none.
    ///
    /// A card that does not tell is asked once only: it may be one that takes the question for a try.
    ///
    /// - Throws: ``ISO7816Error``.
    package func triesLeft(
        of reference: PINReference, in session: ISO7816Session
    ) throws(ISO7816Error) -> TriesLeft {
        for target in reference.path { try session.select(target) }
        let place = Place(trail: session.trail, p2: reference.p2)
        if let untold = untold[place] { return untold }
        let tries = TriesLeft(query: try query(reference, session))
        if case .unknown = tries { untold[place] = tries }
        return tries
    }

    /// What the card answers to a VERIFY without data, as it is.
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
    /// - Returns: what became of each.
    /// - Throws: ``PINGuardError`` for the first that was not taken.
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
        guard !hasFailed else { throw .earlierFailure(reference) }
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
        guard sent.insert(Place(trail: session.trail, p2: reference.p2)).inserted else {
            throw .alreadySent(reference)
        }
        // From here on there is no way back to a second one, whatever happens.
        hasFailed = true
        try send(request, before, session)
        hasFailed = false
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
        // A VERIFY has no answer but a status word: with data before it, it may be another one with bytes behind it.
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

    /// After a radio error: what the card, selected anew, says of the tries.
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

/// Why a PIN was not sent, or was sent in vain.
@nonexhaustive
public enum PINGuardError: Error, Hashable, Sendable {
    /// It does not have the form that the card's PIN has; nothing was sent to the card at all.
    case form(PINReference)
    /// This PIN was sent in this run already; it was not sent again.
    case alreadySent(PINReference)
    /// An earlier PIN failed in this run, so this one was not sent.
    case earlierFailure(PINReference)
    /// It is locked; it was not sent.
    case locked(PINReference)
    /// It was not sent, since another wrong one may lock it and nobody agreed to that: one try is left, or the card
    /// does not say how many.
    case lastTry(PINReference, TriesLeft)
    /// It was not sent, since the tries could not be read.
    case triesUnreadable(PINReference, ISO7816Error)
    /// It was not sent, since the card does not take it: the status word that it gave when asked for the tries.
    case notVerifiable(PINReference, StatusWord)
    /// It was sent, and it is wrong; so many tries are left.
    case wrong(PINReference, TriesLeft)
    /// It was sent, and the card refused with a status word that does not say whether it is wrong.
    case refused(PINReference, StatusWord, TriesLeft?)
    /// It was sent, but the answer did not come. What the card says of the tries after that; `nil` when it could not be
    /// asked. It is not sent again.
    case interrupted(PINReference, ISO7816Error, before: TriesLeft, after: TriesLeft?)

    /// What is known of the tries now: what the card said last, or `before` where nothing was sent since.
    ///
    /// - Parameter before: what the card said before; `nil` when it was not asked.
    /// - Returns: `nil` when nobody knows.
    package func triesLeft(before: TriesLeft?) -> TriesLeft? {
        switch self {
        case .locked: .locked
        case .lastTry(_, let now), .wrong(_, let now): now
        case .notVerifiable(_, let status): .refused(status)
        case .refused(_, _, let now), .interrupted(_, _, _, let now): now
        case .form, .alreadySent, .earlierFailure, .triesUnreadable: before
        }
    }

    /// Which PIN.
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

/// Whether a VERIFY may be sent that can lock the PIN.
public struct PINConsent {
    /// Whether the user asked for it beforehand (`--allow-last-try`).
    public var allowsLastTry: Bool
    /// Asks the user, who has to type the answer; called only when ``allowsLastTry`` is set.
    public var confirm: (PINReference, TriesLeft) -> Bool

    /// Both have to say yes.
    public init(allowsLastTry: Bool, confirm: @escaping (PINReference, TriesLeft) -> Bool) {
        self.allowsLastTry = allowsLastTry
        self.confirm = confirm
    }

    /// Never.
    public static var never: PINConsent { PINConsent(allowsLastTry: false) { _, _ in false } }
}

/// What became of a PIN that was not refused.
package enum PINResult: Hashable, Sendable {
    /// The card took it.
    case verified
    /// The card asked for none, so it was not sent.
    case notNeeded
}

/// A PIN and which of the card's PINs it is.
package struct PINRequest {
    /// Which PIN of the card.
    package var reference: PINReference
    /// What the user gave.
    package var pin: PIN

    /// A PIN to be verified.
    package init(_ reference: PINReference, _ pin: PIN) {
        self.reference = reference
        self.pin = pin
    }
}
