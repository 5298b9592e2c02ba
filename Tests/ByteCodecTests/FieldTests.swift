// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

/// Bits of numbers, binary-coded decimals, and elements that may not be there.
struct FieldTests {
    struct Bits: Sendable {
        let range: ClosedRange<Int>
        let value: UInt16
    }

    static let bits = [
        Bits(range: 0...0, value: 0), Bits(range: 2...2, value: 1), Bits(range: 0...3, value: 0xC),
        Bits(range: 9...15, value: 11), Bits(range: 5...8, value: 3), Bits(range: 0...4, value: 12),
        Bits(range: 0...15, value: 0x166C), Bits(range: 0...16, value: 0x166C), Bits(range: 4...19, value: 0x166),
        Bits(range: 15...99, value: 0), Bits(range: 16...16, value: 0), Bits(range: 16...40, value: 0),
        Bits(range: 0...Int.max, value: 0x166C), Bits(range: 4...Int.max, value: 0x166),
        Bits(range: Int.max...Int.max, value: 0),
        Bits(range: -1...3, value: 0), Bits(range: Int.min...Int.max, value: 0),
        Bits(range: Int.min...Int.min, value: 0),
    ]

    @Test(arguments: bits) func bitsOfADate(_ test: Bits) {
        #expect(UInt16(0x166C).bits(test.range) == test.value)
    }

    @Test func bitsOutsideASignedNumberAreZero() {
        #expect(Int8(-1).bits(4...11) == 0x0F)
        #expect(Int8(-128).bits(7...7) == 1)
        #expect(Int8(-128).bits(0...6) == 0)
        #expect(Int64(-1).bits(63...64) == 1)
        #expect(Int64(-1).bits(0...63) == -1)
    }

    @Test func allRangesAgreeWithOneBitAtATime() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<20 {
            let number = UInt32(truncatingIfNeeded: random.next())
            for low in 0..<34 {
                for high in low..<36 {
                    let expected = (low...high).reduce(UInt64(0)) { sum, bit in
                        sum | (bit < 32 ? UInt64(number >> UInt32(bit) & 1) : 0) << UInt64(bit - low)
                    }
                    #expect(UInt64(number.bits(low...high)) == expected, "\(number) \(low)...\(high)")
                }
            }
        }
    }

    @Test(arguments: 0...255) func decimalBytes(_ number: Int) {
        let byte = UInt8(number)
        let expected = Int(String(byte, radix: 16))
        #expect(BCD.value(byte) == expected)
        #expect(BCD.digits([byte]) == expected.map { ($0 < 10 ? "0" : "") + String($0) })
    }

    @Test func decimalDigits() {
        #expect(BCD.digits([]) == "")
        #expect(BCD.digits([0x20, 0x26, 0x01, 0x09]) == "20260109")
        #expect(BCD.digits([0x20, 0x2A]) == nil)
        #expect(BCD.digits([0xF0]) == nil)
    }

    @Test(arguments: [[UInt8](), [7], [7, 8, 9]]) func elements(_ array: [UInt8]) {
        let slice = ([0, 0] + array)[2...]
        for distance in [Int.min, -1, 0, 1, 2, 3, Int.max] {
            let expected = array.enumerated().first { $0.offset == distance }?.element
            #expect(array.element(at: distance) == expected)
            #expect(slice.element(at: distance) == expected)
        }
    }
}
