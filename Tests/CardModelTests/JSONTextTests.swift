// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// How JSON values are written.
struct JSONTextTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let value: JSONValue
        let text: String
        var testDescription: String { text }
    }

    static let compact = [
        Case(value: nil, text: "null"), Case(value: true, text: "true"), Case(value: false, text: "false"),
        Case(value: 0, text: "0"), Case(value: -5, text: "-5"),
        Case(value: .integer(.max), text: "9223372036854775807"),
        Case(value: .integer(.min), text: "-9223372036854775808"),
        Case(value: .number(0.5), text: "0.5"), Case(value: .number(1e300), text: "1e+300"),
        Case(value: .number(.infinity), text: "null"), Case(value: .number(.nan), text: "null"),
        Case(value: "", text: "\"\""), Case(value: "かざす 😀 é", text: "\"かざす 😀 é\""),
        Case(value: "\"\\/\u{8}\u{C}\n\r\t", text: #""\"\\/\u0008\u000c\n\r\t""#),
        Case(value: "\u{0}\u{1F}\u{7F}\u{80}", text: #""\u0000\u001f\u007f\u0080""#),
        Case(value: "\r\n", text: #""\r\n""#), Case(value: "e\u{301}", text: "\"e\u{301}\""),
        Case(value: [], text: "[]"), Case(value: [:], text: "{}"),
        Case(value: [1, [2, []], [:]], text: "[1,[2,[]],{}]"),
        Case(value: ["b": 1, "a": nil, "\n": [true]], text: #"{"b":1,"a":null,"\n":[true]}"#),
        Case(value: ["a": 1, "b": 2, "a": 3], text: #"{"a":3,"b":2}"#),
        Case(value: .int(UInt64.max), text: "9223372036854775807"), Case(value: .int(7 as UInt8), text: "7"),
        Case(value: .text(nil), text: "null"), Case(value: .text("x"), text: "\"x\""),
        Case(value: .optional(nil as Int?), text: "null"), Case(value: .optional(3 as UInt16?), text: "3"),
    ]

    @Test(arguments: compact) func oneLine(_ test: Case) throws {
        #expect(test.value.compactText == test.text)
        // What is written can be read, but for numbers that JSON does not have.
        let back = try JSONValue(parsing: Array(test.text.utf8))
        #expect(try JSONValue(parsing: Array(back.compactText.utf8)) == back)
    }

    /// Texts are written and read eight bytes at once: each place must know what is special.
    @Test func everyCharacterAtEveryPlace() throws {
        let special: [Unicode.Scalar] = (0...0xFF).map { Unicode.Scalar(UInt8($0)) } + ["か", "😀"]
        for length in 0...18 {
            for place in 0..<max(length, 1) {
                for scalar in special {
                    var scalars = [Unicode.Scalar](repeating: "a", count: length)
                    if length > 0 { scalars[place] = scalar }
                    var text = ""
                    text.unicodeScalars.append(contentsOf: scalars)
                    let written = JSONValue.string(text).compactText
                    if scalar.value >= 0x20, !"\"\\\u{AD}".unicodeScalars.contains(scalar),
                        !(0x7F...0x9F).contains(scalar.value)
                    {
                        #expect(written == "\"\(text)\"")
                    }
                    #expect(try JSONValue(parsing: Array(written.utf8)) == .string(text))
                    guard length > 0, scalar.value < 0x20 else { continue }
                    // A control character must not stand in a text as it is.
                    #expect(throws: DocumentError.self) { try JSONValue(parsing: Array("\"\(text)\"".utf8)) }
                }
            }
        }
    }

    @Test func bytesThatAreNoUTF8AreFoundAtEveryPlace() {
        for length in 1...18 {
            for place in 0..<length {
                var bytes = [UInt8](repeating: 0x61, count: length)
                bytes[place] = 0xC3
                #expect(throws: DocumentError.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
            }
        }
    }

    @Test func severalLines() {
        let short: JSONValue = ["b": 1, "a": [:], "c": "x"]
        #expect(short.prettyText == #"{"b": 1, "a": {}, "c": "x"}"#)
        let nested: JSONValue = ["list": [1, 2], "none": [], "deep": [["k": [nil]]]]
        #expect(
            nested.prettyText == """
                {
                  "list": [1, 2],
                  "none": [],
                  "deep": [
                    {
                      "k": [null]
                    }
                  ]
                }
                """)
    }

    @Test(arguments: [104, 105, 106, 107, 108]) func longLinesAreBroken(_ length: Int) {
        // Brackets and quotes are four bytes, and so 106 still fit in a line of 110.
        let value: JSONValue = [.string(String(repeating: "x", count: length))]
        #expect(value.prettyText.contains("\n") == (length > 106))
        // The blanks before a line count.
        let inner: JSONValue = [value]
        #expect(inner.prettyText.split(separator: "\n").count == (length > 104 ? 5 : 3))
    }

    @Test func randomValuesComeBack() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            let value = Self.value(&random, depth: 4)
            #expect(try JSONValue(parsing: Array(value.compactText.utf8)) == value)
            #expect(try JSONValue(parsing: Array(value.prettyText.utf8)) == value)
            #expect(!value.compactText.contains("\n"))
        }
    }

    /// Keys are in the order of their names, since that is how they are read.
    private static func value(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
        switch Int.random(in: 0...(depth > 0 ? 7 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(Int64(bitPattern: random.next()))
        case 3: return .number(Double(Int.random(in: -1000...1000, using: &random)) + 0.25)
        case 4, 5: return .string(text(&random))
        case 6: return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random, depth: depth - 1) })
        default:
            let keys = Set((0..<Int.random(in: 0...4, using: &random)).map { _ in text(&random) }).sorted()
            return .object(JSONObject(keys.map { ($0, value(&random, depth: depth - 1)) }))
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        let scalars = (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in
            Unicode.Scalar(UInt32.random(in: 0...(Bool.random(using: &random) ? 0x80 : 0x10FFFF), using: &random))
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
