// SPDX-License-Identifier: Apache-2.0

/// A number as hexadecimal digits, most significant first.
public struct HexDigits: ASCIIText {
    @usableFromInline let bits: UInt64
    @usableFromInline let count: Int
    @usableFromInline let isUppercase: Bool

    /// The low `digits` nibbles of a number.
    ///
    /// - Parameter digits: how many digits to write, 0 to 16.
    @inlinable
    public init(_ value: some BinaryInteger, digits: Int, uppercase: Bool = true) {
        bits = UInt64(truncatingIfNeeded: value)
        count = Swift.max(0, Swift.min(digits, 16))
        isUppercase = uppercase
    }

    /// Adds the digits.
    @inlinable
    public func append(to text: inout ByteBuffer) {
        if count > 8 { HexDigits.append(UInt32(truncatingIfNeeded: bits >> 32), count - 8, isUppercase, to: &text) }
        HexDigits.append(UInt32(truncatingIfNeeded: bits), Swift.min(count, 8), isUppercase, to: &text)
    }

    @inlinable @inline(__always)
    static func append(_ bits: UInt32, _ count: Int, _ isUppercase: Bool, to text: inout ByteBuffer) {
        text.append(eightDigits(bits, isUppercase).byteSwapped >> UInt64((8 - count) * 8), count: count)
    }

    /// The eight digits of 32 bits at once, the most significant in the highest byte.
    @inlinable
    static func eightDigits(_ bits: UInt32, _ uppercase: Bool) -> UInt64 {
        // One nibble a byte.
        var nibbles = UInt64(bits)
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in each byte whose nibble is a letter: 10 and more reach 16 when 6 is added.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* (uppercase ? 0x07 : 0x27)
    }
}
