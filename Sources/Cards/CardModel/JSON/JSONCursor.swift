// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A JSON value together with its path, for reading documents with errors that name the key.
package struct JSONCursor: Sendable {
    let source: Source

    enum Source: Sendable {
        /// A value. Its members get `inside` as their place; an empty value needs none.
        case tree(JSONValue, Step, in: JSONPlace?, inside: JSONPlace?)
        /// A note on a tape. It has no path: a text with any irregularity is parsed again as a tree.
        case tape(JSONTape, Int)
    }

    /// One step on the path to a value.
    enum Step: Sendable {
        case document
        case member(String)
        case element(Int)
    }

    package var value: JSONValue {
        switch source {
        case .tree(let value, _, _, _): value
        case .tape(let tape, let index): tape.value(index)
        }
    }

    /// The path, such as `felica.systems[0].systemCode`; empty for the whole document.
    package var path: String {
        guard case .tree(_, let step, let parent, _) = source else { return "" }
        return JSONPlace(step, in: parent).text
    }

    package init(_ value: JSONValue) {
        self.init(value, .document, in: nil)
    }

    init(_ tape: JSONTape) {
        source = .tape(tape, 0)
    }

    private init(_ tape: JSONTape, _ index: Int) {
        source = .tape(tape, index)
    }

    private init(_ value: JSONValue, _ step: Step, in parent: JSONPlace?) {
        switch value {
        case .array, .object: source = .tree(value, step, in: parent, inside: JSONPlace(step, in: parent))
        default: source = .tree(value, step, in: parent, inside: nil)
        }
    }

    // MARK: Arrays and objects

    /// Returns the member `key`; `nil` if it is absent or `null`.
    ///
    /// - Throws: ``DocumentError/malformed(key:expected:)`` if this is not an object.
    package func optional(_ key: String) throws(DocumentError) -> JSONCursor? {
        switch source {
        case .tree(.object(let object), _, _, let place):
            guard let value = object[key], value != .null else { return nil }
            return JSONCursor(value, .member(key), in: place)
        case .tape(let tape, let index) where tape.isObject(index):
            guard let member = tape.member(key, of: index), !tape.isNull(member) else { return nil }
            return JSONCursor(tape, member)
        default: throw malformed(.object)
        }
    }

    /// Returns the member `key`.
    ///
    /// - Throws: ``DocumentError/missing(key:)`` if it is absent or `null`.
    package func required(_ key: String) throws(DocumentError) -> JSONCursor {
        if let member = try optional(key) { return member }
        guard case .tree(_, _, _, let place) = source else { throw .missing(key: key) }
        throw .missing(key: JSONPlace(.member(key), in: place).text)
    }

    package func object() throws(DocumentError) -> JSONObject {
        guard case .object(let object) = value else { throw malformed(.object) }
        return object
    }

    /// Returns the members of this object except those with these names; there should be few names.
    package func members(without names: [StaticString]) throws(DocumentError) -> JSONObject {
        guard case .tape(let tape, let index) = source, tape.isObject(index) else {
            return try object().without(names.map(\.description))
        }
        return tape.members(of: index, without: names)
    }

    /// Returns the members of this object.
    package func members() throws(DocumentError) -> [(key: String, value: JSONCursor)] {
        var members: [(key: String, value: JSONCursor)] = []
        var names: Set<String> = []
        try forEachMember { name, member throws(DocumentError) in
            let name = String(decodingUTF8: name)
            if names.insert(name).inserted { members.append((name, member)) }
        }
        return members
    }

    /// Calls `body` with the name (UTF-8) and value of each member of this object. A name can occur twice.
    func forEachMember(
        _ body: (_ name: Span<UInt8>, _ member: JSONCursor) throws(DocumentError) -> Void
    ) throws(DocumentError) {
        switch source {
        case .tree(.object(let object), _, _, let place):
            for member in object.members {
                let name = Array(member.key.utf8)
                try body(name.span, JSONCursor(member.value, .member(member.key), in: place))
            }
        case .tape(let tape, let index) where tape.isObject(index):
            let bytes = tape.bytes
            var place = index + 1
            let end = tape.next(index)
            while place < end {
                let member = JSONCursor(tape, place + 1)
                if let range = tape.plainRange(place) {
                    try body(bytes.span.extracting(range), member)
                } else {
                    let name = Array((tape.text(place) ?? "").utf8)
                    try body(name.span, member)
                }
                place = tape.next(place + 1)
            }
        default: throw malformed(.object)
        }
    }

    /// Returns the elements of this array.
    package func elements() throws(DocumentError) -> [JSONCursor] {
        switch source {
        case .tree(.array(let values), _, _, let place):
            values.enumerated().map { JSONCursor($1, .element($0), in: place) }
        case .tape(let tape, let index) where tape.isArray(index):
            tape.elements(index).map { JSONCursor(tape, $0) }
        default: throw malformed(.array)
        }
    }

    // MARK: Errors

    /// Returns the error that names the expected form.
    package func malformed(_ code: DocumentError.Expectation.Code, _ values: String...) -> DocumentError {
        malformed(code, values: values)
    }

    /// Returns the same error with a list of values.
    package func malformed(_ code: DocumentError.Expectation.Code, values: [String]) -> DocumentError {
        .malformed(key: path, expected: .init(code, values: values))
    }
}

extension JSONCursor {
    package func text() throws(DocumentError) -> String {
        switch source {
        case .tree(.string(let text), _, _, _): return text
        case .tape(let tape, let index):
            guard let text = tape.text(index) else { throw malformed(.string) }
            return text
        default: throw malformed(.string)
        }
    }

    /// Returns this value as a Boolean.
    package func bool() throws(DocumentError) -> Bool {
        guard case .bool(let value) = value else { throw malformed(.bool) }
        return value
    }

    /// Returns this value as an integer within `range`.
    package func integer(in range: ClosedRange<Int> = Int.min...Int.max) throws(DocumentError) -> Int {
        guard case .integer(let number) = value, let value = Int(exactly: number), range.contains(value) else {
            throw range == Int.min...Int.max
                ? malformed(.integer) : malformed(.number, "\(range.lowerBound)–\(range.upperBound)")
        }
        return value
    }

    /// Returns this value as bytes written in hexadecimal; exactly `count` of them if given.
    package func bytes(count: Int? = nil) throws(DocumentError) -> [UInt8] {
        if let bytes = (try? text()).flatMap({ try? Hex.decode($0) }), count == nil || bytes.count == count {
            return bytes
        }
        throw count.map { malformed(.hexDigits, "\($0 * 2)") } ?? malformed(.hex)
    }

    /// Returns this value as a code of four hexadecimal digits.
    package func code<Code: FourDigitCode>(_ type: Code.Type = Code.self) throws(DocumentError) -> Code {
        let code: Code? =
            switch source {
            case .tape(let tape, let index): tape.withBytes(index) { Code(digits: $0) }
            case .tree: try text().withUTF8Span { Code(digits: $0) }
            }
        guard let code else { throw malformed(.hexDigits, "4") }
        return code
    }

    /// Returns this value as the sixteen bytes of a block; also accepts other, slower forms of hexadecimal.
    func block() throws(DocumentError) -> Block {
        let packed: Block? =
            switch source {
            case .tape(let tape, let index): tape.withBytes(index) { Block(digits: $0) }
            case .tree(.string(let digits), _, _, _): Block(digits)
            case .tree: nil
            }
        if let packed { return packed }
        guard let block = Block(try bytes(count: 16)) else { throw malformed(.bytes, "16") }
        return block
    }
}

extension String {
    /// Makes a string from valid UTF-8.
    init(decodingUTF8 bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) } ?? ""
    }
}

/// The path to a value of a document; its text is built only for errors.
final class JSONPlace: Sendable {
    private let step: JSONCursor.Step
    private let parent: JSONPlace?

    init(_ step: JSONCursor.Step, in parent: JSONPlace?) {
        self.step = step
        self.parent = parent
    }

    /// The path, such as `felica.systems[0].systemCode`; empty for the whole document.
    var text: String {
        let before = parent?.text ?? ""
        return switch step {
        case .document: ""
        case .member(let key): before.isEmpty ? key : "\(before).\(key)"
        case .element(let index): "\(before)[\(index)]"
        }
    }
}
