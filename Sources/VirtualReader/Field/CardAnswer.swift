// SPDX-License-Identifier: Apache-2.0

/// What a virtual card sends back.
public struct CardAnswer: Hashable, Sendable {
    /// FeliCa: the packet with its LEN byte. Types A and B: the bytes before the CRC.
    public var frame: [UInt8]
    /// How many bits of the last byte are sent, 1 to 8: 4 for the ACK and NAK of a Type 2 Tag.
    public var lastByteBits: Int
    /// Whether a CRC follows: not after an ATQA, a UID or an ACK of four bits.
    public var hasCRC: Bool
    /// How long the card took between the end of the command and the start of the answer; only the time model
    /// makes anybody wait for it.
    public var thinkingTime: Duration

    /// An answer of a card.
    public init(_ frame: [UInt8], lastByteBits: Int = 8, hasCRC: Bool = true, thinkingTime: Duration = .zero) {
        self.frame = frame
        self.lastByteBits = lastByteBits
        self.hasCRC = hasCRC
        self.thinkingTime = thinkingTime
    }
}
