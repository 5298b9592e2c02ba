// SPDX-License-Identifier: Apache-2.0

public import CardModel

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
    public func triesLeft(before: TriesLeft?) -> TriesLeft? {
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
