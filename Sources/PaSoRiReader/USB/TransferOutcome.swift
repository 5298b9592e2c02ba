// SPDX-License-Identifier: Apache-2.0

/// What the bytes that came from a reader begin with.
enum TransferOutcome<Message: Hashable & Sendable>: Hashable, Sendable {
    /// A whole message, which is taken away.
    case message(Message)
    /// The beginning of a message, or nothing.
    case incomplete
    /// Something that is no message; everything is thrown away.
    case damaged
}
