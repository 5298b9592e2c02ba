// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The data objects in an answer to Switch Protocol or Transparent Exchange; total on any bytes.
///
/// `C0 03 00 SW1 SW2` the inner status, `92 01 bits`, `96 02 status` how it came through the air, `97 LEN data`, `FF 6D LEN`
/// Sony's own. Source: felica-rs's `port400/pcsc.rs`.
struct Port400Objects: Hashable, Sendable {
    /// The inner status word; 9000 when there is none.
    private(set) var status: UInt16 = 0x9000
    /// How many bits of the last byte came, 1 to 8.
    private(set) var lastByteBits = 8
    /// How the answer came through the air: bit 0 CRC, 1 collision, 2 parity, 3 framing, as in PC/SC part 3.
    private(set) var damage: UInt8 = 0
    /// What the card answered, `nil` when the reader gave nothing.
    private(set) var data: [UInt8]?

    /// Reads the objects; `nil` when their lengths do not fit.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        while reader.remaining > 0 {
            guard let tag = try? reader.readUInt8() else { return nil }
            // Sony's tag has a second byte.
            if tag == 0xFF, (try? reader.readUInt8()) == nil { return nil }
            guard let length = Self.length(&reader), let value = try? reader.readBytes(length) else { return nil }
            take(tag, Array(value))
        }
    }

    private mutating func take(_ tag: UInt8, _ value: [UInt8]) {
        switch (tag, value.count) {
        case (0xC0, 3): status = UInt16(value[1]) << 8 | UInt16(value[2])
        case (0x92, 1): lastByteBits = value[0] & 0x07 == 0 ? 8 : Int(value[0] & 0x07)
        case (0x96, 2): damage = value[0] & 0x0F
        case (0x97, _): data = value
        default: break
        }
    }

    private static func length(_ reader: inout ByteReader) -> Int? {
        guard let first = try? reader.readUInt8() else { return nil }
        switch first {
        case 0..<0x80: return Int(first)
        case 0x81: return (try? reader.readUInt8()).map(Int.init)
        case 0x82: return (try? reader.readUInt16(.big)).map(Int.init)
        default: return nil
        }
    }
}
