// SPDX-License-Identifier: Apache-2.0

/// The CRC of ISO 14443-3: polynomial 8408, bits from the lowest, sent low byte first.
public enum Checksum: Hashable, Sendable {
    /// CRC_A: starts with 6363.
    case a
    /// CRC_B: starts with FFFF and is inverted.
    case b

    /// The two bytes that follow `bytes` in the air.
    public func bytes(of bytes: some Sequence<UInt8>) -> [UInt8] {
        var register: UInt16 = self == .a ? 0x6363 : 0xFFFF
        for byte in bytes {
            register ^= UInt16(byte)
            for _ in 0..<8 { register = register & 1 == 0 ? register >> 1 : register >> 1 ^ 0x8408 }
        }
        if self == .b { register = ~register }
        return [UInt8(truncatingIfNeeded: register), UInt8(truncatingIfNeeded: register >> 8)]
    }

    /// The bytes before the CRC, or `nil` when the last two are not the CRC of those before.
    public func verified(_ frame: [UInt8]) -> [UInt8]? {
        guard frame.count > 2 else { return nil }
        let content = Array(frame.dropLast(2))
        return bytes(of: content).elementsEqual(frame.suffix(2)) ? content : nil
    }
}
