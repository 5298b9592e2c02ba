// SPDX-License-Identifier: Apache-2.0

/// What a reader says, as it lies in the bytes of its transfers.
protocol TransferMessage: Hashable, Sendable {
    /// Takes the first message from bytes, of which there is at least one; total on any bytes.
    ///
    /// - Parameter bytes: what came so far; changed only when a whole message is taken away.
    static func take(from bytes: inout [UInt8]) -> TransferOutcome<Self>

    /// A message that is known only by being a whole transfer; `nil` for all others.
    static func whole(_ transfer: [UInt8]) -> Self?
}

extension TransferMessage {
    /// None.
    static func whole(_ transfer: [UInt8]) -> Self? { nil }
}
