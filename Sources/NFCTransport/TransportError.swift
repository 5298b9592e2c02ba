// SPDX-License-Identifier: Apache-2.0

/// Why an exchange with a card, or with the reader, failed.
@nonexhaustive
package enum TransportError: Error, Hashable, Sendable {
    /// The card kept silent: it left, or it does not know the command, the mode or the IDm.
    case noAnswer
    /// The answer came damaged (CRC, parity, framing, collision); `status` is the chip's own code, or 0 when it was
    /// damaged between reader and computer and the reader is well again. Worth another try.
    case corrupted(status: UInt8)
    /// The chip says that the card is no longer selected.
    case cardReleased
    /// The reader did not answer in time; what it may still send belongs to no later command.
    case readerTimeout
    /// The reader answered something that is no valid answer.
    case readerFailed(detail: String)
    /// The frame is longer than the reader can send; nothing was sent.
    case frameTooLong(length: Int, limit: Int)
    /// The answer is longer than the reader can pass on.
    case answerTooLong
    /// The reader cannot be used.
    case readerUnavailable(reason: UnavailableReason, detail: String)
    /// The reader cannot do this.
    case unsupported(detail: String)
    /// Work was cancelled through a ``CancellationToken``.
    case cancelled
    /// A replayed or scripted exchange was not the one expected next.
    case outOfScript(detail: String)

    /// Whether the same exchange may succeed when it is tried again at once.
    package var isTransient: Bool {
        if case .corrupted = self { true } else { false }
    }

    /// Whether the reader can no longer be used without opening it anew.
    package var isReaderError: Bool {
        switch self {
        case .readerTimeout, .readerFailed, .readerUnavailable: true
        default: false
        }
    }
}

extension TransportError {
    /// The reader was closed by who uses it.
    package static let closed = TransportError.readerUnavailable(reason: .absent, detail: "the reader was closed")
}
