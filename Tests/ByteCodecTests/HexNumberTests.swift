// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

/// Numbers as packed hexadecimal digits, both ways.
struct HexNumberTests {
    @Test func everyByteIsADigitOrNone() {
        for byte in UInt8.min...UInt8.max {
            let one = [byte]
            #expect(Hex.number(one.span) == Hex.value(of: byte).map(UInt64.init))
            let among = [0x31, byte, 0x46]
            #expect(Hex.number(among.span) == Hex.value(of: byte).map { 0x10F | UInt64($0) << 4 })
        }
    }

    /// Eight digits are read at once: each place of the eight, in both halves of sixteen, must know every byte.
    @Test(arguments: [8, 11, 16]) func everyByteAtEveryPlace(_ count: Int) {
        for place in 0..<count {
            for byte in UInt8.min...UInt8.max {
                var digits = [UInt8](repeating: UInt8(ascii: "1"), count: count)
                digits[place] = byte
                let expected =
                    Hex.value(of: byte) == nil ? nil : UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
                #expect(Hex.number(digits.span) == expected)
            }
        }
    }

    @Test(arguments: [0, 17, 32]) func otherLengthsAreNone(_ count: Int) {
        let digits = [UInt8](repeating: 0x30, count: count)
        #expect(Hex.number(digits.span) == nil)
    }

    @Test func readsWhatWasWritten() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let digits = Int.random(in: 1...16, using: &random)
            let number = UInt64.random(in: .min ... .max, using: &random) >> UInt64(64 - digits * 4)
            for uppercase in [true, false] {
                let text = HexDigits(number, digits: digits, uppercase: uppercase).text
                let plain = String(number, radix: 16, uppercase: uppercase)
                #expect(text == String(repeating: "0", count: digits - plain.utf8.count) + plain)
                #expect(Hex.number(text.utf8.span) == number)
            }
        }
    }
}
