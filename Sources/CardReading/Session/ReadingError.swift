// SPDX-License-Identifier: Apache-2.0

public import FeliCa
public import NFCTransport

/// Why reading a card ended before its end.
@nonexhaustive
public enum ReadingError: Error, Hashable, Sendable {
    /// The card left the field, or another one lies there now.
    case cardLost
    /// The same exchange came back damaged each time it was tried.
    case radio(TransportError)
    /// The card answered something that no card may answer, each time it was asked.
    case badAnswer(FeliCaError)
    /// The reader failed.
    case reader(TransportError)
    /// Work was cancelled.
    case cancelled

    /// The word for it in the `missing` list of a dump.
    public var word: String {
        switch self {
        case .cardLost: "cardLost"
        case .radio: "radioError"
        case .badAnswer: "badAnswer"
        case .reader: "readerFailed"
        case .cancelled: "cancelled"
        }
    }
}
