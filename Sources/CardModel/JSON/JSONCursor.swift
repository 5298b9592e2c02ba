// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A JSON value together with its path, for reading documents with errors that name the key.
public struct JSONCursor: Sendable {
    /// The value.
    public let value: JSONValue
    private let step: Step
    private let parent: Place?
    /// This as the place of what stands in it; a value with nothing in it needs none.
    private let place: Place?

    /// Where it stands, as in `felica.systems[0].systemCode`; empty for the whole document.
    public var path: String { (place ?? Place(step, in: parent)).text }

    /// One step on the way to a value.
    private enum Step: Sendable {
        case document
        case member(String)
        case element(Int)
    }

    /// The way to a value; the text of it is made for errors only.
    private final class Place: Sendable {
        let step: Step
        let parent: Place?

        init(_ step: Step, in parent: Place?) {
            self.step = step
            self.parent = parent
        }

        var text: String {
            let before = parent?.text ?? ""
            return switch step {
            case .document: ""
            case .member(let key): before.isEmpty ? key : "\(before).\(key)"
            case .element(let index): "\(before)[\(index)]"
            }
        }
    }

    /// The whole of a document.
    public init(_ value: JSONValue) {
        self.init(value, .document, in: nil)
    }

    private init(_ value: JSONValue, _ step: Step, in parent: Place?) {
        self.value = value
        self.step = step
        self.parent = parent
        switch value {
        case .array, .object: place = Place(step, in: parent)
        default: place = nil
        }
    }

    /// The member `key`, or `nil` when it is absent or `null`.
    ///
    /// - Throws: ``DocumentError/malformed(key:expected:)`` when this is no object.
    public func optional(_ key: String) throws(DocumentError) -> JSONCursor? {
        guard let value = try object()[key], value != .null else { return nil }
        return JSONCursor(value, .member(key), in: place)
    }

    /// The member `key`.
    ///
    /// - Throws: ``DocumentError/missing(key:)`` when it is absent or `null`.
    public func required(_ key: String) throws(DocumentError) -> JSONCursor {
        guard let member = try optional(key) else { throw .missing(key: Place(.member(key), in: place).text) }
        return member
    }

    /// This as an object.
    public func object() throws(DocumentError) -> JSONObject {
        guard case .object(let object) = value else { throw malformed("an object") }
        return object
    }

    /// The members of this object.
    public func members() throws(DocumentError) -> [(key: String, value: JSONCursor)] {
        try object().members.map { ($0.key, cursor($0)) }
    }

    /// A member of this object as a value with its path.
    func cursor(_ member: JSONObject.Member) -> JSONCursor {
        JSONCursor(member.value, .member(member.key), in: place)
    }

    /// The elements of this array.
    public func elements() throws(DocumentError) -> [JSONCursor] {
        guard case .array(let values) = value else { throw malformed("an array") }
        return values.enumerated().map { JSONCursor($1, .element($0), in: place) }
    }

    /// This as a text.
    public func text() throws(DocumentError) -> String {
        guard case .string(let text) = value else { throw malformed("a string") }
        return text
    }

    /// This as a truth value.
    public func bool() throws(DocumentError) -> Bool {
        guard case .bool(let value) = value else { throw malformed("true or false") }
        return value
    }

    /// This as a whole number within `range`.
    public func integer(in range: ClosedRange<Int> = Int.min...Int.max) throws(DocumentError) -> Int {
        guard case .integer(let number) = value, let value = Int(exactly: number), range.contains(value) else {
            throw malformed(range == Int.min...Int.max ? "a whole number" : "a number \(range)")
        }
        return value
    }

    /// This as bytes written in hexadecimal; exactly `count` of them when that is given.
    public func bytes(count: Int? = nil) throws(DocumentError) -> [UInt8] {
        let expected = count.map { "\($0 * 2) hexadecimal digits" } ?? "hexadecimal digits"
        guard case .string(let text) = value, let bytes = try? Hex.decode(text), count == nil || bytes.count == count
        else { throw malformed(expected) }
        return bytes
    }

    /// This as a code of four hexadecimal digits.
    public func code<Code: FourDigitCode>(_ type: Code.Type = Code.self) throws(DocumentError) -> Code {
        guard let code = Code(try text()) else { throw malformed("four hexadecimal digits") }
        return code
    }

    /// The error that says what should stand here.
    public func malformed(_ expected: String) -> DocumentError {
        path.isEmpty ? .malformed(key: "the document", expected: expected) : .malformed(key: path, expected: expected)
    }
}
