// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

extension JSONValue {
    /// Reads a JSON text.
    ///
    /// The parser is FoundationEssentials', which gives the members of an object in no order of its own; they are
    /// sorted by name, so that the same text always reads the same.
    ///
    /// - Throws: ``DocumentError/notJSON(reason:)`` with line and byte, or with the parser's own words.
    public init(parsing bytes: [UInt8]) throws(DocumentError) {
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw .notJSON(reason: JSONSyntax.fault(in: bytes) ?? DocumentError.reason(of: error))
        } catch {
            throw .notJSON(reason: "\(error)")
        }
    }
}

extension JSONValue: Decodable {
    /// Reads any value; called by the parser.
    public init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            self = .object(
                JSONObject(
                    try object.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
                        ($0.stringValue, try object.decode(JSONValue.self, forKey: $0))
                    }))
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !list.isAtEnd { values.append(try list.decode(JSONValue.self)) }
            self = .array(values)
            return
        }
        let single = try decoder.singleValueContainer()
        if let value = try? single.decode(String.self) {
            self = .string(value)
        } else if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? single.decode(Int64.self) {
            self = .integer(value)
        } else {
            self = .number(try single.decode(Double.self))
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
