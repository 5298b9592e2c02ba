// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// How JSON texts are read.
struct JSONParsingTests {
    static func parse(_ text: String) throws(DocumentError) -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    struct Case: CustomTestStringConvertible, Sendable {
        let text: String
        let value: JSONValue
        var testDescription: String { text }
    }

    static let cases = [
        Case(text: "null", value: nil), Case(text: " true ", value: true), Case(text: "\r\n\t[ ]", value: []),
        Case(text: "0", value: 0),
        Case(text: "-0", value: 0), Case(text: "1e3", value: 1000), Case(text: "0.5", value: .number(0.5)),
        Case(text: "9223372036854775807", value: .integer(.max)),
        Case(text: "-9223372036854775808", value: .integer(.min)),
        Case(text: "9223372036854775808", value: .number(0x1p63)),
        Case(text: "18446744073709551616", value: .number(0x1p64)),
        Case(text: "-1e300", value: .number(-1e300)),
        Case(text: #""\u3042\ud83d\ude00\/\b\f""#, value: "あ😀/\u{8}\u{C}"),
        Case(
            text: #""\ud800\udc00\uD800\uDFFF\udbff\udc00\udbff\udfff""#,
            value: "\u{10000}\u{103FF}\u{10FC00}\u{10FFFF}"),
        Case(text: #""\ud7ff\ue000\uABCD\uef01""#, value: "\u{D7FF}\u{E000}\u{ABCD}\u{EF01}"),
        Case(text: #""\n x !\t#[]^~""#, value: "\n x !\t#[]^~"),
        Case(text: "9007199254740992.0", value: .number(0x1p53)),
        Case(text: "9007199254740991.0", value: .integer(9_007_199_254_740_991)),
        Case(text: "-9007199254740992.0", value: .number(-0x1p53)),
        Case(text: "-1E+2", value: -100), Case(text: "25e-1", value: .number(2.5)),
        Case(text: #""\u0000""#, value: "\u{0}"), Case(text: #"{"":{"":[]}}"#, value: ["": ["": []]]),
        Case(text: #"["[{\"]}","\\"]"#, value: ["[{\"]}", "\\"]),
        Case(text: "\u{FEFF}[1]", value: [1]),
        Case(text: "[null,true,false,1,0.5,\"\",[],{}]", value: [nil, true, false, 1, .number(0.5), "", [], [:]]),
    ]

    @Test(arguments: cases) func reads(_ test: Case) throws {
        #expect(try Self.parse(test.text) == test.value)
    }

    @Test func membersKeepTheirOrder() throws {
        let text = #"{"b":1,"a":{"z":1,"y":2},"B":3,"あ":4,"":5}"#
        #expect(try Self.parse(text).compactText == text)
    }

    @Test func ofANameThatStandsTwiceTheFirstCounts() throws {
        for _ in 0..<20 {
            #expect(try Self.parse(#"{"a":1,"b":0,"a":2,"a":3}"#) == ["a": 1, "b": 0])
            #expect(try Self.parse("{\"\u{E9}\":1,\"e\u{301}\":2}").compactText.hasSuffix(":1}"))
        }
    }

    static let wrong = [
        "", " ", "nul", "tru", "True", "[1", "[1 2]", "[,1]", "[1,]", "[1+2]", "[1]]", "[1] x", "]", "}", "{", "{\"a\"",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\" 1}", "{a:1}", "{1:2}", "{,}", "['a']", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"",
        "\"\\ud800\"",
        "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"a\nb\"", "\"a\tb\"", "\"\u{1}\"", "{\"\\ud800\":1}", "01", "+1", ".5",
        "5.", "1e", "1e+", "-",
        "0x10", "1_000", "NaN", "Infinity", "-Infinity", "[1e400]", "// x\n1", "/* x */1", "１", "\u{FEFF}", "[1}", "{]",
    ]

    @Test(arguments: wrong) func refuses(_ text: String) {
        let error = #expect(throws: DocumentError.self) { try Self.parse(text) }
        guard case .notJSON(let reason, let line, let byte)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect([.syntax, .endsEarly, .numberTooLarge].contains(reason))
        #expect(line >= 1 && byte >= 1)
    }

    @Test(arguments: ["", "[", "{\"a\":", "[{\"a\":[1,", "\"a", "{\"a\":\"b", "[\"\\\"", "-", "[tru", "\"\\u00"])
    func namesAnEndThatComesTooEarly(_ text: String) {
        let early = DocumentError.notJSON(.endsEarly, line: 1, byte: text.utf8.count + 1)
        #expect(throws: early) { try Self.parse(text) }
    }

    @Test(arguments: [
        ("{\n\"a\": 1,\n}", 3, 1), ("[1 2]", 1, 4), ("[\n  tru]", 2, 6),
        ("\"a\\x\"", 1, 4), ("[1e400]", 1, 2),
        ("\"a\nb\"", 1, 3), ("[1,\n2,]", 2, 3), ("{\"a\":1,}", 1, 8),
        ("\"\\udc00\\udc00\"", 1, 8), ("\"\\ud800\\udbff\"", 1, 14), ("\"\\ud800\\ue000\"", 1, 14),
        ("\"\\n\u{1F}\"", 1, 4), ("{\r\n \"a\" 1}", 2, 6), ("[1]\n\n]", 3, 1), ("\u{FEFF}[x]", 1, 5),
        ("[1:2]", 1, 3), ("[0.5:]", 1, 5),
    ]) func namesThePlace(_ text: String, _ line: Int, _ byte: Int) {
        let reason = text == "[1e400]" ? DocumentError.Reason.numberTooLarge : .syntax
        #expect(throws: DocumentError.notJSON(reason, line: line, byte: byte)) { try Self.parse(text) }
    }

    @Test func onlyUTF8IsRead() throws {
        let bad: [([UInt8], Int)] = [
            ([0x22, 0xFF, 0x22], 2), ([0x22, 0xC3, 0x22], 2), ([0x22, 0xED, 0xA0, 0x80, 0x22], 2),
            ([0x22, 0x61, 0xF4, 0x90, 0x80, 0x80, 0x22], 3),
        ]
        for (bytes, place) in bad {
            #expect(throws: DocumentError.notJSON(.notUTF8, line: 1, byte: place)) {
                try JSONValue(parsing: bytes)
            }
        }
        let wide: [[UInt8]] = [
            [0x5B, 0, 0x5D, 0], [0, 0x5B, 0, 0x5D], [0x5B, 0, 0, 0, 0x5D, 0, 0, 0], [0x31, 0x20, 0],
            [0xC0, 0x80], [0xFF, 0xFE, 0x31, 0x00], [0x31, 0xE3, 0x81],
        ]
        for bytes in wide { #expect(throws: DocumentError.self) { try JSONValue(parsing: bytes) } }
    }

    @Test(arguments: ["[", "{\"a\":"]) func nestingIsBounded(_ opening: String) throws {
        let (closing, core) = opening == "[" ? ("]", "") : ("}", "0")
        func text(_ depth: Int) -> String {
            String(repeating: opening, count: depth) + core + String(repeating: closing, count: depth)
        }
        let deepest = JSONValue.deepestNesting
        let value = try Self.parse(text(deepest))
        #expect(value.compactText == text(deepest))
        for depth in [deepest + 1, 513, 10_000, 100_000] {
            let error = #expect(throws: DocumentError.self) { try Self.parse(text(depth)) }
            guard case .notJSON(let reason, _, _)? = error else { continue }
            #expect(reason == .tooDeep)
            let open = String(repeating: opening, count: depth)
            #expect(throws: DocumentError.self) { try Self.parse(open) }
        }
        // Brackets within texts, and beside one another, do not count.
        _ = try Self.parse("[\"" + String(repeating: "[", count: 100) + "\"]")
        _ = try Self.parse("[" + String(repeating: "[],", count: 100) + "0]")
    }

    /// The array is the first of its values; the one after the last that is allowed is named by its place.
    @Test func theNumberOfValuesIsBounded() {
        let text = [UInt8]("[".utf8) + (0..<262_144).flatMap { _ in [0x30, 0x2C] as [UInt8] }
        #expect(throws: DocumentError.notJSON(.tooManyValues, line: 1, byte: 2 * 262_144)) {
            try JSONValue(parsing: text)
        }
    }

    /// Up to two dozen members are compared one by one, more are looked up: no number of them makes a difference.
    @Test(arguments: [1, 2, 22, 23, 24, 25, 26, 27, 60]) func aNameThatStandsTwiceIsFoundAmongAnyNumber(_ count: Int)
        throws
    {
        for again in 0..<count {
            let pairs = (0..<count).map { ("k\($0)", JSONValue.integer(Int64($0))) } + [("k\(again)", "again")]
            let text = "{" + pairs.map { "\"\($0)\":\($1.compactText)" }.joined(separator: ",") + ",\"z\":0,\"z\":1}"
            let first = JSONValue.object(JSONObject(Array(pairs.dropLast()) + [("z", 0)]))
            #expect(try Self.parse(text).compactText == first.compactText)
            let last = JSONObject(pairs + [("z", 0), ("z", 1)])
            #expect(last.members.count == count + 1)
            #expect(last["k\(again)"] == "again" && last["z"] == 1)
        }
    }

    /// As many members as a long document can have must not take the square of the time.
    @Test func manyMembers() throws {
        let count = 50_000
        let text = "{" + (0..<count).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
        guard case .object(let object) = try Self.parse(text) else {
            Issue.record("no object")
            return
        }
        #expect(object.members.count == count)
        #expect(object["k49999"] == 49999)
        var merged = JSONObject([("k1", "first")])
        merged.merge(object)
        #expect(merged.members.count == count)
        #expect(merged["k1"] == "first")
        #expect(merged.without(["k1"]).members.count == count - 1)
    }
}
