// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Testing

/// Hexadecimal digits of bytes and of numbers.
struct HexEncodingTests {
    @Test func bytes() {
        let bytes: [UInt8] = [0x00, 0x0F, 0xA5, 0xFF]
        #expect(Hex.encode(bytes) == "000fa5ff")
        #expect(Hex.encode(bytes, uppercase: true) == "000FA5FF")
        #expect(Hex.encode(bytes, separator: " ") == "00 0f a5 ff")
        #expect(Hex.encode(bytes, uppercase: true, separator: ", ") == "00, 0F, A5, FF")
        #expect(Hex.encode([UInt8]()) == "")
        #expect(Hex.encode([0xAB as UInt8], separator: ":") == "ab")
        #expect(Hex.encode((1...3).lazy.map { UInt8($0) }) == "010203")
    }

    struct Case: Sendable {
        let value: Int64
        let digits: Int
        let text: String
    }

    static let numbers = [
        Case(value: 0x090F, digits: 4, text: "090F"), Case(value: 0x090F, digits: 3, text: "90F"),
        Case(value: 0x090F, digits: 1, text: "F"), Case(value: 0, digits: 2, text: "00"),
        Case(value: 5, digits: 0, text: ""), Case(value: 5, digits: -1, text: ""),
        Case(value: 5, digits: .min, text: ""),
        Case(value: 5, digits: 16, text: "0000000000000005"), Case(value: 5, digits: 17, text: "0000000000000005"),
        Case(value: 5, digits: .max, text: "0000000000000005"), Case(value: -1, digits: 2, text: "FF"),
        Case(value: -1, digits: 16, text: "FFFFFFFFFFFFFFFF"), Case(value: .min, digits: 16, text: "8000000000000000"),
    ]

    @Test(arguments: numbers) func number(_ test: Case) {
        #expect(Hex.encode(test.value, digits: test.digits) == test.text)
        #expect(Hex.encode(test.value, digits: test.digits, uppercase: false) == test.text.lowercased())
    }
}
