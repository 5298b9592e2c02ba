// SPDX-License-Identifier: Apache-2.0

/// One frame from a reader, without preamble, sync code, parity and start and end of frame.
public struct RadioFrame: Hashable, Sendable {
    /// How it is sent.
    public var technology: RadioTechnology
    /// FeliCa: the packet with its LEN byte. Types A and B: the bytes before the CRC.
    public var bytes: [UInt8]
    /// How many bits of the last byte are sent, 1 to 8: 7 for REQA (26) and WUPA (52).
    public var lastByteBits: Int
    /// Whether a CRC follows; cards take REQA, WUPA and the anticollision commands without one, everything else with
    /// one.
    public var hasCRC: Bool

    /// A frame from a reader.
    public init(_ technology: RadioTechnology, _ bytes: [UInt8], lastByteBits: Int = 8, hasCRC: Bool = true) {
        self.technology = technology
        self.bytes = bytes
        self.lastByteBits = lastByteBits
        self.hasCRC = hasCRC
    }

    /// Whether it is a REQA or WUPA, or another frame of seven bits.
    var isTypeARequest: Bool { technology == .typeA && lastByteBits == 7 && bytes.count == 1 }

    /// Whether it is a REQA, WUPA, REQB or WUPB, with which an activation begins.
    var looksForCards: Bool {
        isTypeARequest || technology == .typeB && bytes.count == 3 && bytes[0] == TypeBCommand.request
    }

    /// What a fault plan counts by: the second byte of a FeliCa packet, the first of other frames.
    var commandCode: UInt8? {
        if case .felica = technology { bytes.count > 1 ? bytes[1] : nil } else { bytes.first }
    }
}
