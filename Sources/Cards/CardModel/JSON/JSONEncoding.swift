// SPDX-License-Identifier: Apache-2.0

extension JSONValue: Encodable {
    /// Gives the value to an encoder; one that does not sort keys may change the order of members.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .object(let object):
            var container = encoder.container(keyedBy: Name.self)
            for member in object.members { try container.encode(member.value, forKey: Name(stringValue: member.key)) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .string(let text): try container.encode(text)
            default: try container.encodeNil()
            }
        }
    }

    /// The name of a member.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}

extension Language {
    /// The key of an encoder's `userInfo` for the language of names in encoded reports; without it, they are in English.
    ///
    /// ```swift
    /// if let key = Language.userInfoKey { encoder.userInfo[key] = Language.japanese }
    /// ```
    public static let userInfoKey = CodingUserInfoKey(rawValue: "kazasu.language")

    /// The language that an encoder was given.
    package init(of encoder: any Encoder) {
        self = Self.userInfoKey.flatMap { encoder.userInfo[$0] as? Language } ?? .english
    }
}
