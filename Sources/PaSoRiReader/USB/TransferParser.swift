// SPDX-License-Identifier: Apache-2.0

/// Takes messages out of what a reader sends, a transfer at a time; total on any bytes.
struct TransferParser<Message: TransferMessage>: Sendable {
    private var bytes: [UInt8] = []
    private var whole: Message?

    /// Adds what came.
    mutating func feed(_ more: [UInt8]) {
        whole = bytes.isEmpty ? Message.whole(more) : nil
        if whole == nil { bytes += more }
    }

    /// Forgets what came.
    mutating func reset() {
        bytes = []
        whole = nil
    }

    /// Takes the next message.
    mutating func next() -> TransferOutcome<Message> {
        if let message = whole {
            whole = nil
            return .message(message)
        }
        if bytes.isEmpty { return .incomplete }
        let outcome = Message.take(from: &bytes)
        if outcome == .damaged { reset() }
        return outcome
    }
}
