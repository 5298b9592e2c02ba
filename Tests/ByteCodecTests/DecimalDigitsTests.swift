// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

/// Decimal digits, against those of the standard library.
struct DecimalDigitsTests {
    private static func padded(_ number: some FixedWidthInteger, _ width: Int) -> String {
        let digits = String(number.magnitude)
        let zeros = String(repeating: "0", count: max(0, width - digits.utf8.count))
        return (number < 0 ? "-" : "") + zeros + digits
    }

    @Test func everyNumberOfFourDigitsAtEveryWidth() {
        for number in 0..<10_000 {
            #expect(DecimalDigits(number).text == String(number))
            #expect(DecimalDigits(number, width: 4).text == Self.padded(number, 4))
        }
    }

    @Test func numbersOfEveryLength() {
        var random = SeededGenerator(seed: 11)
        for bits in 0..<64 {
            for _ in 0..<40 {
                let number = Int64(truncatingIfNeeded: UInt64.random(in: .min ... .max, using: &random)) >> Int64(bits)
                let width = Int.random(in: 0...8, using: &random)
                #expect(DecimalDigits(number, width: width).text == Self.padded(number, max(width, 1)))
            }
        }
        #expect(DecimalDigits(UInt64.max).text == "18446744073709551615")
        #expect(DecimalDigits(Int64.min).text == "-9223372036854775808")
    }

    @Test(arguments: [(-3, "7"), (0, "7"), (8, "00000007"), (99, "00000007")])
    func aWidthOutOfRangeIsTheNearest(_ width: Int, _ text: String) {
        #expect(DecimalDigits(7, width: width).text == text)
    }

    @Test func eightDigitsAreThoseOfTheRemainder() {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<2000 {
            let number = UInt32.random(in: .min ... .max, using: &random)
            var word = DecimalDigits.eightDigits(number)
            var text = ""
            for _ in 0..<8 {
                text.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: word)))
                word >>= 8
            }
            #expect(text == Self.padded(number % 100_000_000, 8))
        }
    }
}
