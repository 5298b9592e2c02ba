// SPDX-License-Identifier: Apache-2.0

/// A whole number in decimal digits, with as many leading zeros as it takes to have a width.
package struct DecimalDigits: ASCIIText {
    let magnitude: UInt64
    let isNegative: Bool
    let width: Int

    /// A number.
    ///
    /// - Parameter width: the fewest digits to write, 0 to 8; zero itself is written as one digit.
    package init(_ value: some FixedWidthInteger, width: Int = 1) {
        magnitude = UInt64(clamping: value.magnitude)
        isNegative = value < 0
        self.width = Swift.max(1, Swift.min(width, 8))
    }

    /// Adds the sign of a negative number and the digits.
    package func append(to text: inout ByteBuffer) {
        if isNegative { text.append(UInt8(ascii: "-")) }
        DecimalDigits.append(magnitude, width, to: &text)
    }

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

    /// The eight digits of a number below 100,000,000 at once, the first in the lowest byte.
    ///
    /// The halves, their halves, and the digits of those are parted side by side in one word; a multiplication and a
    /// shift divide by a hundred and by ten.
    package static func eightDigits(_ number: UInt32) -> UInt64 {
        let number = UInt64(number) % 100_000_000
        let fours = number / 10_000 | (number % 10_000) << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let pairs = hundreds | (fours &- 100 &* hundreds) << 16
        let tens = (pairs &* 103) >> 10 & 0x000F_000F_000F_000F
        return (tens | (pairs &- 10 &* tens) << 8) | 0x3030_3030_3030_3030
    }
}

/// A short text that can be written without a `String` in between.
///
/// Its characters are printable ASCII, and no quote or backslash is among them, so that it stands in JSON as it is.
package protocol ASCIIText {
    /// Adds the characters at the end.
    func append(to text: inout ByteBuffer)
}

extension ASCIIText {
    /// The text as a string.
    package var text: String {
        var buffer = ByteBuffer()
        append(to: &buffer)
        return buffer.text
    }
}
