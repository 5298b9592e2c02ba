// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A name of X.501 as it is compared: without case, and with blanks only between words (RFC 5280 §7.1).
struct DistinguishedName: Hashable {
    /// An attribute of a name.
    private struct Attribute: Hashable {
        /// Object identifier without tag and length.
        var type: [UInt8]
        /// The folded text; of a value that is not text, its tag and bytes.
        var text: String?
        var bytes: [UInt8]
    }

    /// The relative names, the most general first.
    private let parts: [Set<Attribute>]

    /// Parses a Name, a SEQUENCE of SETs of pairs.
    init?(_ name: BERTLV) {
        guard let sets = name.children(0x30) else { return nil }
        var parts: [Set<Attribute>] = []
        for set in sets {
            guard let pairs = set.children(0x31), !pairs.isEmpty else { return nil }
            var attributes: Set<Attribute> = []
            for pair in pairs {
                guard let fields = pair.children(0x30), fields.count == 2, fields[0].tag == 0x06 else { return nil }
                let text = Self.text(fields[1]).map(Self.folded)
                attributes.insert(
                    Attribute(type: fields[0].value, text: text, bytes: text == nil ? fields[1].encoded : []))
            }
            parts.append(attributes)
        }
        self.parts = parts
    }

    /// The first country in it, two capital letters; `nil` without one.
    var country: String? {
        let country: [UInt8] = [0x55, 0x04, 0x06]
        return parts.lazy.flatMap(\.self).first { $0.type == country }?.text?.uppercased()
    }

    /// Whether this name lies in the subtree of another.
    func isWithin(_ base: DistinguishedName) -> Bool { parts.starts(with: base.parts) }

    /// The text of a string; `nil` for other types, and for bytes that are not text.
    private static func text(_ value: BERTLV) -> String? {
        switch value.tag {
        case 0x0C, 0x12, 0x13, 0x16: String(validating: value.value, as: UTF8.self)
        // Teletex strings have Latin letters in practice.
        case 0x14: String(String.UnicodeScalarView(value.value.map { Unicode.Scalar($0) }))
        case 0x1E:
            value.value.count.isMultiple(of: 2)
                ? String(
                    validating: stride(from: 0, to: value.value.count, by: 2).map {
                        UInt16(value.value[$0]) << 8 | UInt16(value.value[$0 + 1])
                    }, as: UTF16.self) : nil
        default: nil
        }
    }

    private static func folded(_ text: String) -> String {
        text.lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
