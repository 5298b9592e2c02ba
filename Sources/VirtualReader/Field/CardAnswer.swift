// SPDX-License-Identifier: Apache-2.0

/// What a virtual card sends back.
public struct CardAnswer: Hashable, Sendable {
    /// The packet with its LEN byte.
    public var frame: [UInt8]
    /// How long the card took between the end of the command and the start of the answer; only the time model
    /// makes anybody wait for it.
    public var thinkingTime: Duration

    /// An answer of a card.
    public init(_ frame: [UInt8], thinkingTime: Duration = .zero) {
        self.frame = frame
        self.thinkingTime = thinkingTime
    }
}
