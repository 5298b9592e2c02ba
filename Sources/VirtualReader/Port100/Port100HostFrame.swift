// SPDX-License-Identifier: Apache-2.0

/// The frames of a Port-100 as the chip reads and writes them.
enum Port100HostFrame {
    /// What a host sent, from the command code on; `nil` when it is no frame of a command.
    static func command(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 12, bytes[0...4] == [0, 0, 0xFF, 0xFF, 0xFF] else { return nil }
        let length = Int(bytes[5]) | Int(bytes[6]) << 8
        guard bytes[5] &+ bytes[6] &+ bytes[7] == 0, length >= 2, bytes.count == length + 10 else { return nil }
        let data = bytes[8..<8 + length]
        guard data.reduce(bytes[8 + length], &+) == 0, bytes[9 + length] == 0, bytes[8] == 0xD6 else { return nil }
        return Array(data.dropFirst())
    }

    /// The frame of an answer.
    static func encode(_ data: [UInt8]) -> [UInt8] {
        let low = UInt8(data.count & 0xFF)
        let high = UInt8(data.count >> 8 & 0xFF)
        let sum = data.reduce(0 as UInt8, &+)
        return [0, 0, 0xFF, 0xFF, 0xFF, low, high, ~(low &+ high) &+ 1] + data + [~sum &+ 1, 0]
    }
}
