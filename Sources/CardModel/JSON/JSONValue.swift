// SPDX-License-Identifier: Apache-2.0

/// A JSON value whose objects keep the order of their keys, when they are read and when they are written.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction that fits in 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Named values in order.
    case object(JSONObject)
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Values in order.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Named values in order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
    /// `null`
    public init(nilLiteral: ()) { self = .null }
}

extension JSONValue {
    /// A number.
    public static func int(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }

    /// The text, or `null` when there is none.
    public static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    /// The number, or `null` when there is none.
    public static func optional(_ value: (some BinaryInteger)?) -> JSONValue { value.map { .int($0) } ?? .null }
}
