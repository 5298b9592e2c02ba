// SPDX-License-Identifier: Apache-2.0

/// An integer in decimal digits, padded with zeros to a width.
@usableFromInline
package struct DecimalDigits: ASCIIText {
    @usableFromInline let magnitude: UInt64
    @usableFromInline let isNegative: Bool
    @usableFromInline let width: Int

    /// Creates the text of a number.
    ///
    /// - Parameter width: the minimum number of digits, 0 to 8; zero itself is written as one digit.
    @inlinable
    package init(_ value: some FixedWidthInteger, width: Int = 1) {
        magnitude = UInt64(clamping: value.magnitude)
        isNegative = value < 0
        self.width = Swift.max(1, Swift.min(width, 8))
    }

    /// Appends the sign of a negative number and the digits.
    @inlinable
    package func append(to text: inout ByteBuffer) {
        if isNegative { text.append(UInt8(ascii: "-")) }
        DecimalDigits.append(magnitude, width, to: &text)
    }

    @inlinable
    static func append(_ number: UInt64, _ width: Int, to text: inout ByteBuffer) {
        var (number, width) = (number, width)
        if number >= 100_000_000 {
            append(number / 100_000_000, 1, to: &text)
            (number, width) = (number % 100_000_000, 8)
        }
        let digits = eightDigits(UInt32(truncatingIfNeeded: number))
        let zeros = Swift.min((digits ^ 0x3030_3030_3030_3030).trailingZeroBitCount / 8, 8 - width)
        text.append(digits >> UInt64(zeros * 8), count: 8 - zeros)
    }

    /// Returns the eight digits of a number below 100,000,000, the first in the lowest byte.
    ///
    /// The halves, their halves, and the digits of those are separated side by side in one word; a multiplication and a
    /// shift divide by a hundred and by ten.
    @inlinable
    package static func eightDigits(_ number: UInt32) -> UInt64 {
        let number = UInt64(number) % 100_000_000
        let fours = number / 10_000 | (number % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let pairs = hundreds | (fours &- 100 &* hundreds) << 16
        let tens = (pairs &* 103) >> 10 & 0x000F_000F_000F_000F
        return (tens | (pairs &- 10 &* tens) << 8) | 0x3030_3030_3030_3030
    }
}

/// A short text that can be written without an intermediate `String`.
///
/// Its characters are printable ASCII without quotes and backslashes, so that it needs no escaping in JSON.
@usableFromInline
package protocol ASCIIText {
    /// Appends the characters.
    func append(to text: inout ByteBuffer)
}

extension ASCIIText {
    package var text: String {
        var buffer = ByteBuffer()
        append(to: &buffer)
        return buffer.text
    }
}
