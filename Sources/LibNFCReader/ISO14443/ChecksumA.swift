// SPDX-License-Identifier: Apache-2.0

/// CRC_A of ISO 14443-3: polynomial 1021 bit-reversed (8408), start value 6363, least significant byte first.
enum ChecksumA {
    /// The two bytes that follow a frame on the air.
    static func bytes(of frame: some Sequence<UInt8>) -> [UInt8] {
        var crc: UInt16 = 0x6363
        for byte in frame {
            crc ^= UInt16(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x8408 }
        }
        return [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)]
    }

    /// A frame without its CRC, or `nil` when that is wrong. One byte is an ACK or NAK of four bits, which has none.
    static func removed(from frame: [UInt8]) -> [UInt8]? {
        guard frame.count != 1 else { return frame }
        let content = Array(frame.dropLast(2))
        return !content.isEmpty && bytes(of: content) == Array(frame.suffix(2)) ? content : nil
    }
}
