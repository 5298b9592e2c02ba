// SPDX-License-Identifier: Apache-2.0

/// Takes messages out of what a reader sends, a transfer at a time; total on any bytes.
struct TransferParser<Message: TransferMessage>: Sendable {
    private var bytes: [UInt8] = []

    /// Adds what came.
    mutating func feed(_ more: [UInt8]) {
        bytes += more
    }

    /// Forgets what came.
    mutating func reset() {
        bytes = []
    }

    /// Takes the next message.
    mutating func next() -> TransferOutcome<Message> {
        if bytes.isEmpty { return .incomplete }
        let outcome = Message.take(from: &bytes)
        if outcome == .damaged { reset() }
        return outcome
    }
}
