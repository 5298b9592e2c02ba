// SPDX-License-Identifier: Apache-2.0

/// A JSON value whose objects keep the order of their keys when read and written.
package enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// An integer that fits in 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Named values in order.
    case object(JSONObject)
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
    /// `null`
    package init(nilLiteral: ()) { self = .null }
}

extension JSONValue {
    /// Makes a number.
    package static func int(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }

    /// Returns the string, or `null` for `nil`.
    package static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    /// Returns the number, or `null` for `nil`.
    package static func optional(_ value: (some BinaryInteger)?) -> JSONValue { value.map { .int($0) } ?? .null }

    /// Returns an array of strings; `nil` if it is empty.
    package static func list(_ texts: [String]) -> JSONValue? {
        texts.isEmpty ? nil : .array(texts.map { .string($0) })
    }

    /// Returns the result of `read` for a string; `nil` for any other value.
    func fromText<Value>(_ read: (String) -> Value?) -> Value? {
        if case .string(let text) = self { read(text) } else { nil }
    }

    /// Returns the result of `read` for each string of an array; `nil` if it is empty or `read` fails for one of them.
    package func fromTexts<Value>(_ read: (String) -> Value?) -> [Value]? {
        guard case .array(let values) = self, !values.isEmpty else { return nil }
        let texts = values.compactMap { $0.fromText(read) }
        return texts.count == values.count ? texts : nil
    }
}

extension JSONValue {
    /// The maximum nesting depth of arrays and objects; Kazasu's own documents have a depth of at most seven.
    package static let deepestNesting = 64

    /// The maximum number of values in a text, so that a few megabytes do not expand to hundreds.
    ///
    /// A dump in the longest document has fewer than 200,000 blocks.
    package static let mostValues = 1 << 18

    /// Reads a JSON text (RFC 8259) in UTF-8, with or without a byte order mark.
    ///
    /// Members keep their order; of a duplicate name, the first value counts.
    ///
    /// - Throws: ``DocumentError/notJSON(_:line:byte:)`` with the line and byte, both counted from 1.
    package init(parsing bytes: [UInt8]) throws(DocumentError) {
        try self.init(parsing: bytes[...])
    }

    /// Reads part of a text, such as one line of NDJSON.
    ///
    /// - Throws: ``DocumentError/notJSON(_:line:byte:)`` with the line and byte, both counted from 1.
    package init(parsing bytes: ArraySlice<UInt8>) throws(DocumentError) {
        try self.init(parsing: bytes, allowsNumbersAsNames: false)
    }

    /// Reads a text in which member names may also be unquoted integers, such as `{3: []}`.
    ///
    /// Such a name becomes the text of its digits.
    ///
    /// - Throws: ``DocumentError/notJSON(_:line:byte:)`` with the line and byte, both counted from 1.
    package init(parsingNumbersAsNames bytes: ArraySlice<UInt8>) throws(DocumentError) {
        try self.init(parsing: bytes, allowsNumbersAsNames: true)
    }

    private init(parsing bytes: ArraySlice<UInt8>, allowsNumbersAsNames: Bool) throws(DocumentError) {
        var parser = JSONParser(
            bytes, JSONTreeBuilder(firstCounts: ()), allowsNumbersAsNames: allowsNumbersAsNames)
        do {
            try parser.document()
        } catch {
            throw error.documentError(in: bytes)
        }
        self = parser.target.value
    }
}

extension JSONValue {
    /// This value on one line, without spaces, as for one line of NDJSON.
    package var compactText: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }

    /// This value over several lines, as ``JSONPrettyWriter`` writes it.
    package var prettyText: String {
        var writer = JSONPrettyWriter()
        writer.value(self)
        return writer.unflushed
    }
}

/// The named values of a JSON object, in order; each name occurs at most once.
package struct JSONObject: Hashable, Sendable {
    /// The names and values in order.
    package private(set) var members: [Member]

    /// One name and its value.
    package struct Member: Hashable, Sendable {
        /// The name.
        package let key: String
        package var value: JSONValue
    }

    /// Makes an object of these members; of a duplicate name, the last value counts, in the first position.
    package init(_ members: [(String, JSONValue)] = []) {
        var builder = Builder(capacity: members.count)
        for (key, value) in members { builder.add(key, value, replacing: true) }
        self = builder.object
    }

    /// Collects members without a linear search for each: a document may have very many.
    struct Builder {
        private(set) var object: JSONObject
        /// The position of each name, once there are so many that searching is slower than hashing.
        private var places: [String: Int] = [:]

        private static let few = 24

        init(capacity: Int = 0) {
            object = JSONObject(empty: ())
            object.members.reserveCapacity(capacity)
        }

        /// Adds a member; of a duplicate name, the first value counts, or the last with `replacing`.
        mutating func add(_ key: String, _ value: JSONValue, replacing: Bool = false) {
            if let place = place(of: key) {
                if replacing { object.members[place].value = value }
                return
            }
            object.members.append(Member(key: key, value: value))
            if object.members.count == Builder.few {
                for (index, member) in object.members.enumerated() { places[member.key] = index }
            } else if object.members.count > Builder.few {
                places[key] = object.members.count - 1
            }
        }

        private func place(of key: String) -> Int? {
            object.members.count < Builder.few ? object.members.firstIndex { $0.key == key } : places[key]
        }
    }

    private init(empty: ()) {
        members = []
    }

    /// The value of `key`; setting appends or replaces, setting `nil` removes.
    package subscript(key: String) -> JSONValue? {
        get { members.first { $0.key == key }?.value }
        set {
            let place = members.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Removes the member `key` if `read` can convert its value; any other member stays.
    mutating func take<Value>(_ key: String, _ read: (JSONValue) -> Value?) -> Value? {
        guard !members.isEmpty, let value = self[key].flatMap(read) else { return nil }
        self[key] = nil
        return value
    }

    /// Removes the member `key` if it is true.
    mutating func takeFlag(_ key: String) -> Bool { take(key) { $0 == true ? true : nil } ?? false }

    /// Adds the members of `other` whose names are not yet present.
    package mutating func merge(_ other: JSONObject) {
        let known = Set(members.map(\.key))
        members += other.members.filter { !known.contains($0.key) }
    }

    /// Returns all members except those with these names; there should be few names.
    package func without(_ keys: [String]) -> JSONObject {
        var rest = JSONObject(empty: ())
        for member in members where !keys.contains(member.key) { rest.members.append(member) }
        return rest
    }
}
