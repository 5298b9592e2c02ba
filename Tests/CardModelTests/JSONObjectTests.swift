// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

/// Objects that keep the order of their members, and cursors that know where they are.
struct JSONObjectTests {
    @Test func orderOfMembers() {
        var object = JSONObject([("b", 1), ("a", 2), ("b", 3)])
        #expect(object.members.map(\.key) == ["b", "a"])
        #expect(object["b"] == 3)
        #expect(object["c"] == nil)
        object["c"] = 4
        object["b"] = 5
        object["x"] = nil
        #expect(JSONValue.object(object).compactText == #"{"b":5,"a":2,"c":4}"#)
        object["a"] = nil
        #expect(object.members.map(\.key) == ["b", "c"])
        object["a"] = .null
        #expect(object.members.map(\.key) == ["b", "c", "a"])
    }

    @Test func mergingKeepsWhatIsThere() {
        var object = JSONObject([("a", 1), ("n", nil)])
        object.merge(JSONObject([("c", 3), ("a", 2), ("n", 4), ("b", 5)]))
        #expect(JSONValue.object(object).compactText == #"{"a":1,"n":null,"c":3,"b":5}"#)
        #expect(object.without(["a", "b", "zzz"]).members.map(\.key) == ["n", "c"])
    }

    static let document = JSONCursor([
        "text": "x", "list": [1, ["k": true]], "n": 300, "f": .number(1.5), "none": nil, "big": .number(1e20),
        "hex": "01 ff",
        "code": "090f", "idm": "0101031234567890", "short": "0101",
    ])

    @Test func values() throws {
        let document = Self.document
        #expect(document.path == "")
        #expect(try document.required("text").text() == "x")
        #expect(try document.optional("none")?.value == nil)
        #expect(try document.optional("absent")?.value == nil)
        #expect(try document.required("list").elements()[1].required("k").bool())
        #expect(try document.required("n").integer() == 300)
        #expect(try document.required("hex").bytes() == [0x01, 0xFF])
        #expect(try document.required("hex").bytes(count: 2) == [0x01, 0xFF])
        #expect(try document.required("code").code(ServiceCode.self).rawValue == 0x090F)
        #expect(try document.required("idm").idm().rawValue == 0x0101_0312_3456_7890)
        #expect(try document.required("idm").pmm().rawValue == 0x0101_0312_3456_7890)
        #expect(try document.required("list").elements()[1].members().map(\.value.path) == ["list[1].k"])
        #expect(try document.members().map(\.key) == document.object().members.map(\.key))
    }

    @Test func errorsNameThePath() throws {
        func expect(_ key: String, _ expected: DocumentError.Expectation, _ read: () throws -> Void) {
            #expect(throws: DocumentError.malformed(key: key, expected: expected)) { try read() }
        }
        let document = Self.document
        let text = try document.required("text")
        #expect(throws: DocumentError.missing(key: "absent")) { try document.required("absent") }
        #expect(throws: DocumentError.missing(key: "none")) { try document.required("none") }
        #expect(throws: DocumentError.missing(key: "list[1].x")) {
            try document.required("list").elements()[1].required("x")
        }
        expect("", .init(.string)) { _ = try document.text() }
        expect("text", .init(.object)) { _ = try text.object() }
        expect("text", .init(.object)) { _ = try text.optional("a") }
        expect("text", .init(.array)) { _ = try text.elements() }
        expect("text", .init(.integer)) { _ = try text.integer() }
        expect("text", .init(.bool)) { _ = try text.bool() }
        expect("text", .init(.hex)) { _ = try text.bytes() }
        expect("text", .init(.hexDigits, "4")) { _ = try text.bytes(count: 2) }
        expect("hex", .init(.hexDigits, "2")) { _ = try document.required("hex").bytes(count: 1) }
        expect("n", .init(.hex)) { _ = try document.required("n").bytes() }
        expect("n", .init(.number, "0–255")) { _ = try document.required("n").integer(in: 0...255) }
        expect("n", .init(.string)) { _ = try document.required("n").text() }
        expect("f", .init(.integer)) { _ = try document.required("f").integer() }
        expect("big", .init(.integer)) { _ = try document.required("big").integer() }
        expect("text", .init(.hexDigits, "4")) { _ = try text.code(SystemCode.self) }
        expect("short", .init(.hexDigits, "16")) { _ = try document.required("short").idm() }
        expect("short", .init(.hexDigits, "16")) { _ = try document.required("short").pmm() }
        expect("list[1].k", .init(.string)) {
            _ = try document.required("list").list { element throws(DocumentError) -> String in
                guard case .object = element.value else { return "" }
                return try element.required("k").text()
            }
        }
    }
}
