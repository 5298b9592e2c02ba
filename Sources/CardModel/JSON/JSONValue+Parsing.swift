// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

extension JSONValue {
    /// The most arrays and objects that may stand in one another; Kazasu's own documents have seven at most.
    public static let deepestNesting = 16

    /// Reads a JSON text in UTF-8, with or without a byte order mark.
    ///
    /// The parser is FoundationEssentials', which gives the members of an object in no order of its own; they are
    /// sorted by name, so that the same text always reads the same. Of a name that stands twice the first value counts.
    ///
    /// - Throws: ``DocumentError/notJSON(reason:)`` with line and byte, or with the parser's own words. The parser's time
    ///   grows with the square of the depth, which is why texts nested deeper than ``deepestNesting`` are not read.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw .notJSON(reason: JSONSyntax.place(error.byteOffsets.lowerBound, in: bytes) + ": not UTF-8")
        }
        // Looked through first: the parser alone would take UTF-16, and a comma before a closing bracket.
        if let fault = JSONSyntax.fault(in: bytes) { throw .notJSON(reason: fault) }
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw .notJSON(reason: DocumentError.reason(of: error))
        } catch {
            throw .notJSON(reason: "\(error)")
        }
    }
}

extension JSONValue: Decodable {
    /// Reads any value; called by the parser.
    ///
    /// What is asked first and does not fit costs an error, so texts and numbers, of which there are most, come first.
    public init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let value = try JSONValue.ifFitting({ try single.decode(String.self) }) {
            self = .string(value)
        } else if let value = try? single.decode(Int64.self) {
            self = .integer(value)
        } else if let object = try JSONValue.ifFitting({ try decoder.container(keyedBy: AnyKey.self) }) {
            self = .object(
                JSONObject(
                    try object.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
                        ($0.stringValue, try object.decode(JSONValue.self, forKey: $0))
                    }))
        } else if var list = try JSONValue.ifFitting({ try decoder.unkeyedContainer() }) {
            var values: [JSONValue] = []
            while !list.isAtEnd { values.append(try list.decode(JSONValue.self)) }
            self = .array(values)
        } else if let value = try JSONValue.ifFitting({ try single.decode(Bool.self) }) {
            self = .bool(value)
        } else {
            self = .number(try single.decode(Double.self))
        }
    }

    /// What `read` gives, or `nil` when the value is of another kind; a value of this kind that is damaged, as a text
    /// with a wrong escape, keeps its error.
    private static func ifFitting<Value>(_ read: () throws -> Value) throws -> Value? {
        do {
            return try read()
        } catch DecodingError.typeMismatch {
            return nil
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
