// SPDX-License-Identifier: Apache-2.0

/// One frame for a card of ISO 14443 as a chip without a protocol of its own sends it: without parity, start and end
/// of frame.
public struct RawFrame: Hashable, Sendable {
    /// The modulation, at 106 kbit/s.
    public enum Modulation: Hashable, Sendable {
        /// ISO 14443 type A.
        case typeA
        /// ISO 14443 type B.
        case typeB
    }

    /// How it is sent.
    public var modulation: Modulation
    /// The bytes before the CRC.
    public var bytes: [UInt8]
    /// How many bits of the last byte are sent, 1 to 8, from the lowest: 7 for REQA and WUPA.
    public var lastByteBits: Int
    /// Whether the chip adds the CRC.
    public var addsCRC: Bool
    /// Whether the chip checks the answer's CRC and takes it off; else the answer comes as it is.
    public var checksCRC: Bool

    /// A frame.
    public init(
        _ modulation: Modulation, _ bytes: [UInt8], lastByteBits: Int = 8, addsCRC: Bool = true, checksCRC: Bool = true
    ) {
        self.modulation = modulation
        self.bytes = bytes
        self.lastByteBits = lastByteBits
        self.addsCRC = addsCRC
        self.checksCRC = checksCRC
    }
}
