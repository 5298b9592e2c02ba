// SPDX-License-Identifier: Apache-2.0

/// The CRC of an ISO 14443 frame: polynomial 8408, least significant bit and byte first (ISO 14443-3, annex B).
enum RadioChecksum {
    /// CRC_A: start value 6363.
    static func typeA(_ frame: some Sequence<UInt8>) -> [UInt8] { bytes(of: frame, from: 0x6363, mask: 0) }

    /// CRC_B: start value FFFF, inverted at the end.
    static func typeB(_ frame: some Sequence<UInt8>) -> [UInt8] { bytes(of: frame, from: 0xFFFF, mask: 0xFFFF) }

    private static func bytes(of frame: some Sequence<UInt8>, from start: UInt16, mask: UInt16) -> [UInt8] {
        var crc = start
        for byte in frame {
            crc ^= UInt16(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x8408 }
        }
        crc ^= mask
        return [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }
}
