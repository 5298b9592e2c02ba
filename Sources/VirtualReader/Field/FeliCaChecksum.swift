// SPDX-License-Identifier: Apache-2.0

/// The CRC of a FeliCa packet: polynomial 1021, start value 0000, most significant byte first
/// (proxmark3 `armsrc/felica.c`).
enum FeliCaChecksum {
    /// The two bytes that follow a packet on air.
    static func bytes(of packet: some Sequence<UInt8>) -> [UInt8] {
        var crc: UInt16 = 0
        for byte in packet {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        }
        return [UInt8(truncatingIfNeeded: crc >> 8), UInt8(truncatingIfNeeded: crc)]
    }
}
