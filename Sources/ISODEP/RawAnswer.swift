// SPDX-License-Identifier: Apache-2.0

/// What a card answered to a ``RawFrame``.
public struct RawAnswer: Hashable, Sendable {
    /// The bytes, without the CRC when the chip was to check it.
    public var bytes: [UInt8]
    /// How many bits of the last byte came, 1 to 8, from the lowest: 4 for the ACK and NAK of a Type 2 Tag. 8 also
    /// when the chip does not tell.
    public var lastByteBits: Int

    /// An answer.
    public init(_ bytes: [UInt8], lastByteBits: Int = 8) {
        self.bytes = bytes
        self.lastByteBits = lastByteBits
    }
}
