// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

/// Hexadecimal text as people write it.
struct HexDecodingTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let text: String
        let expected: Result<[UInt8], HexError>
        var testDescription: String { "\"\(text)\"" }

        init(_ text: String, _ bytes: [UInt8]) {
            (self.text, expected) = (text, .success(bytes))
        }

        init(_ text: String, _ error: HexError) {
            (self.text, expected) = (text, .failure(error))
        }
    }

    static let accepted = [
        Case("", []), Case("  \t\r\n:-", []),
        Case("00", [0]), Case("fF", [0xFF]),
        Case("0123456789abcdefABCDEF", [1, 35, 69, 103, 137, 171, 205, 239, 171, 205, 239]),
        Case("12 34 56", [0x12, 0x34, 0x56]), Case("12:34:56", [0x12, 0x34, 0x56]),
        Case("12-34-56", [0x12, 0x34, 0x56]),
        Case(" 1234  56\n", [0x12, 0x34, 0x56]), Case("12, 34".replacing(",", with: ":"), [0x12, 0x34]),
        Case("0x1234", [0x12, 0x34]), Case("0X12 0x34", [0x12, 0x34]), Case("0x12:0x34", [0x12, 0x34]),
        Case("12 0x34", [0x12, 0x34]), Case("120x34", [0x12, 0x34]), Case("0x00", [0]),
        Case("0x0 0".replacing(" ", with: ""), [0]),
    ]

    static let refused = [
        Case("1", .oddDigits(offset: 0)), Case("123", .oddDigits(offset: 2)), Case("12 3", .oddDigits(offset: 3)),
        Case("1 2", .oddDigits(offset: 0)), Case("12 3 45", .oddDigits(offset: 3)), Case("0x1", .oddDigits(offset: 2)),
        Case("0", .oddDigits(offset: 0)), Case("0 x", .oddDigits(offset: 0)),
        Case("0x", .notADigit(offset: 1)), Case("0x ", .notADigit(offset: 1)), Case("0x 12", .notADigit(offset: 1)),
        Case("12 0x", .notADigit(offset: 4)), Case("0x0x12", .notADigit(offset: 3)),
        Case("0xx1", .notADigit(offset: 1)),
        Case("00x0", .notADigit(offset: 2)), Case("10x2", .notADigit(offset: 2)), Case("x12", .notADigit(offset: 0)),
        Case("g1", .notADigit(offset: 0)), Case("1g", .notADigit(offset: 1)), Case("12 3/", .notADigit(offset: 4)),
        Case("12,34", .notADigit(offset: 2)), Case("12_34", .notADigit(offset: 2)),
        Case("12\u{0}", .notADigit(offset: 2)),
        Case("é", .notADigit(offset: 0)), Case("かざす12", .notADigit(offset: 0)), Case("12 か", .notADigit(offset: 3)),
        Case("１２", .notADigit(offset: 0)), Case("12\u{A0}34", .notADigit(offset: 2)),
    ]

    @Test(arguments: accepted + refused) func reads(_ test: Case) {
        let result = Result { () throws(HexError) in try Hex.decode(test.text) }
        #expect(result == test.expected)
    }

    @Test func offsetsOfAPartCountFromItsStart() {
        let text = "12 34 5z"
        #expect(throws: HexError.notADigit(offset: 1)) { try Hex.decode(text.suffix(2)) }
    }

    @Test(arguments: 0...255) func onlyDigitsHaveAValue(_ character: Int) {
        let digits = "0123456789abcdef"
        let scalar = Unicode.Scalar(UInt8(character))
        let expected =
            digits.unicodeScalars.firstIndex(of: scalar) ?? digits.uppercased().unicodeScalars.firstIndex(of: scalar)
        let value = Hex.value(of: UInt8(character))
        #expect(value.map(Int.init) == expected.map { digits.unicodeScalars.distance(from: digits.startIndex, to: $0) })
    }

    @Test func writtenBytesComeBack() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let separator = ["", " ", ":", "-", "\n", " 0x", ": 0X"].randomElement(using: &random) ?? ""
            let text = Hex.encode(bytes, uppercase: .random(using: &random), separator: separator)
            #expect(try Hex.decode(text) == bytes, "\(text)")
            #expect(text.utf8.count == bytes.count * 2 + max(0, bytes.count - 1) * separator.utf8.count)
        }
    }

    @Test func randomTextNeverTraps() {
        var random = SeededGenerator(seed: 2)
        let alphabet = Array("0019aFxX :-g\té")
        var accepted = 0
        for _ in 0..<5000 {
            let text = String(
                (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
            do {
                let bytes = try Hex.decode(text)
                accepted += 1
                #expect(bytes.count * 2 <= text.utf8.count)
            } catch {
                switch error {
                case .notADigit(let offset), .oddDigits(let offset):
                    #expect((0..<text.utf8.count).contains(offset), "\(text)")
                @unknown default: Issue.record("\(error)")
                }
            }
        }
        #expect((1..<5000).contains(accepted))
    }
}
