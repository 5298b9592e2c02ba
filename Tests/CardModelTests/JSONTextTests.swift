// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import CardModel

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

    /// The invisible characters of Unicode 16 that are never written as they are.
    static let hidden = """
        0000-001F 007F-009F 00AD 061C 180E 200E-200F 2028-202E 2060-206F FEFF FFF9-FFFB E0000-E007F
        """.split(separator: " ").compactMap { text -> ClosedRange<UInt32>? in
            let ends = text.split(separator: "-").compactMap { UInt32($0, radix: 16) }
            return ends.first.flatMap { first in ends.last.map { first...$0 } }
        }

    static let scalars = [0...0x30FF, 0xD7F0...0x100FF, 0xDFF00...0xE01FF].flatMap { (range: ClosedRange<UInt32>) in
        range
    }
    .compactMap(Unicode.Scalar.init)

    @Test func everyHiddenCharacter() {
        let wrong = Self.scalars.filter { scalar in
            let isHidden = Self.hidden.contains { $0.contains(scalar.value) }
            return HiddenCharacters.contains(scalar) != isHidden
        }
        #expect(wrong.isEmpty)
        // What the property of a character says: no control, no line separator, no mark of direction is left out.
        let never: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
        let shown = Self.scalars.filter { never.contains($0.properties.generalCategory) }
        #expect(shown.allSatisfy(HiddenCharacters.contains))
        #expect(
            Self.scalars.allSatisfy { !$0.properties.isBidiControl || HiddenCharacters.contains($0) })
    }

    /// The first bytes of hidden characters, by their UTF-8; in words, those beyond ASCII.
    @Test func whereAHiddenCharacterMayBegin() {
        let hidden = Self.hidden.flatMap { Array($0) }.compactMap(Unicode.Scalar.init)
        let first = Set(hidden.compactMap { Array(String($0).utf8).first })
        let others: [UInt64] = [
            0x6161_6161_6161_6161, 0x82E3_8182_E381_82E3, 0xFFFF_FFFF_FFFF_FFFF, 0x8080_8080_8080_8080,
        ]
        for byte in UInt8.min...UInt8.max {
            #expect(HiddenCharacters.mayBegin(with: byte) == first.contains(byte))
            for other in others {
                for place in 0..<8 {
                    let word = other & ~(0xFF << UInt64(place * 8)) | UInt64(byte) << UInt64(place * 8)
                    let isFound = HiddenCharacters.mayBegin(in: word) != 0
                    #expect(isFound == (byte >= 0x80 && first.contains(byte)), "\(byte) at \(place) of \(other)")
                }
            }
        }
    }

    @Test func hiddenCharactersOfMessages() {
        let text = "a\u{202E}b\nか\u{7F}\u{E0041}\tz"
        #expect(HiddenCharacters.escaped(text, keepingLineEnds: true) == "a\\u{202E}b\nか\\u{7F}\\u{E0041}\\u{9}z")
        #expect(HiddenCharacters.escaped("a\nb", keepingLineEnds: false) == "a\\u{A}b")
        #expect(HiddenCharacters.escaped("\u{7F}\u{1B}", keepingLineEnds: true) == "\\u{7F}\\u{1B}")
        #expect(HiddenCharacters.escaped("a\nb", keepingLineEnds: true) == "a\nb")
        #expect(HiddenCharacters.escaped("é\u{A0}”かざす😀", keepingLineEnds: false) == "é\u{A0}”かざす😀")
    }

    /// A text in JSON, one character after the other.
    private static func slowly(_ text: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"]
        return text.unicodeScalars.reduce("\"") { done, scalar in
            if let escape = escapes[scalar] { return done + escape }
            guard hidden.contains(where: { $0.contains(scalar.value) }) else { return done + String(scalar) }
            return String(scalar).utf16.reduce(done) { done, unit in
                let digits = String(unit, radix: 16)
                return done + "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        } + "\""
    }

    /// Texts are written and read eight bytes at once: each place must know what is special.
    @Test func everyCharacterAtEveryPlace() throws {
        let edges = Self.hidden.flatMap { [$0.lowerBound &- 1, $0.lowerBound, $0.upperBound, $0.upperBound + 1] }
        let special = Set(Array(0...0xFF) + edges).compactMap(Unicode.Scalar.init) + ["か", "😀"]
        for scalar in special {
            let expected = Self.slowly(String(scalar)).unicodeScalars.dropFirst().dropLast()
            for length in [1, 2, 7, 8, 9, 10, 15, 16, 17] {
                for place in 0..<length {
                    let (before, after) = (
                        "aaaaaaaaaaaaaaaaaa".prefix(place), "aaaaaaaaaaaaaaaaaa".prefix(length - place - 1)
                    )
                    var text = String(before)
                    text.unicodeScalars.append(scalar)
                    text += after
                    let written = JSONValue.string(text).compactText
                    let slow = "\"\(before)".unicodeScalars + expected + "\(after)\"".unicodeScalars
                    #expect(written.unicodeScalars.elementsEqual(slow))
                    #expect(try JSONValue(parsing: Array(written.utf8)) == .string(text))
                    // Unescaped, a text may contain anything but control characters.
                    let plain = Array("\"\(text)\"".utf8)
                    if scalar.value < 0x20 {
                        #expect(throws: DocumentError.self) { try JSONValue(parsing: plain) }
                    } else if scalar != "\"", scalar != "\\" {
                        #expect(try JSONValue(parsing: plain) == .string(text))
                    }
                }
            }
        }
        #expect(JSONValue.string("").compactText == "\"\"")
    }

    @Test func textsOfManyCharactersAreWrittenAsOneAfterTheOther() throws {
        var random = SeededGenerator(seed: 11)
        let special = Self.hidden.flatMap { [$0.lowerBound, $0.upperBound] }.compactMap(Unicode.Scalar.init)
        for _ in 0..<3000 {
            let length = Int.random(in: 0...40, using: &random)
            let text = String(
                String.UnicodeScalarView(
                    (0..<length).compactMap { _ in
                        switch Int.random(in: 0..<40, using: &random) {
                        case 0: special.randomElement(using: &random)
                        case 1...3: Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
                        case 4...12: Unicode.Scalar(UInt32.random(in: 0x3040...0x30FF, using: &random))
                        default: Unicode.Scalar(UInt8.random(in: 0x20...0x7E, using: &random))
                        }
                    }))
            let written = JSONValue.string(text).compactText
            #expect(written == Self.slowly(text))
            #expect(try JSONValue(parsing: Array(written.utf8)) == .string(text))
        }
    }

    @Test func findsInvalidUTF8Anywhere() {
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

    /// Commas and blanks between entries count, too: a line has 110 characters at most.
    @Test(arguments: [109, 110, 111, 112]) func linesWithSeveralEntries(_ length: Int) {
        // Six characters of brackets and separators beside the three entries.
        let value: JSONValue = [1, 2, .string(String(repeating: "x", count: length - 10))]
        #expect(value.compactText.utf8.count + 2 == length)
        #expect(value.prettyText.split(separator: "\n").count == (length > 110 ? 5 : 1))
    }

    /// A long document leaves the writer in pieces of at least 64 KiB, and a line more at most.
    @Test func longDocumentsAreWrittenInPieces() {
        var pieces: [[UInt8]] = []
        var writer = JSONPrettyWriter { bytes in pieces.append(bytes.indices.map { bytes[$0] }) }
        let value: JSONValue = .array((0..<2000).map { .string(String(repeating: "x", count: 90) + "\($0)") })
        writer.value(value)
        writer.finish()
        #expect(pieces.count == 4)
        #expect(pieces.dropLast().allSatisfy { (1 << 16..<1 << 16 + 110).contains($0.count) })
        #expect(String(decoding: pieces.joined(), as: UTF8.self) == value.prettyText + "\n")
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
