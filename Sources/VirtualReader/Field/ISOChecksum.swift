// SPDX-License-Identifier: Apache-2.0

/// The CRCs of ISO 14443: polynomial 8408, least significant bit first; type A starts with 6363, type B with FFFF and is
/// inverted.
enum ISOChecksum {
    /// The two bytes that follow a frame on air.
    static func bytes(of frame: some Sequence<UInt8>, _ technology: RadioTechnology) -> [UInt8] {
        var crc: UInt16 = technology == .typeB ? 0xFFFF : 0x6363
        for byte in frame {
            crc ^= UInt16(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x8408 }
        }
        if technology == .typeB { crc = ~crc }
        return [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }
}
