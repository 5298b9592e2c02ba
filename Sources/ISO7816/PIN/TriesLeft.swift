// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What a card says of the tries that a PIN has left.
public enum TriesLeft: Hashable, Sendable {
    /// This many, 1 to 15.
    case count(Int)
    /// None: the PIN is locked (`6983`, `6984` or `63C0`).
    case locked
    /// The card asks for no PIN now: it was verified before, or is not needed (`9000`).
    case notNeeded
    /// The card does not tell (`6300`, `6700`); a VERIFY may be the last.
    case unknown(StatusWord)
    /// The card says something else, so it would not take a VERIFY either.
    case refused(StatusWord)

    /// What an answer to a VERIFY without data says.
    public init(query status: StatusWord) {
        switch status {
        case .success: self = .notNeeded
        case .authenticationBlocked, .referenceDataUnusable: self = .locked
        case 0x6300, .wrongLength: self = .unknown(status)
        default:
            guard let counter = status.counter else {
                self = .refused(status)
                return
            }
            self = counter == 0 ? .locked : .count(counter)
        }
    }
}
