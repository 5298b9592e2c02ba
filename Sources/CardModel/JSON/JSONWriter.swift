// SPDX-License-Identifier: Apache-2.0

/// Writes JSON on one line into a buffer of bytes.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    /// What was written.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let value): raw(value ? "true" : "false")
        case .integer(let value): number(value)
        case .number(let value): raw(Array((value.isFinite ? "\(value)" : "null").utf8))
        case .string(let value): quoted(value)
        case .array(let values):
            raw(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { raw(UInt8(ascii: ",")) }
                write(value)
            }
            raw(UInt8(ascii: "]"))
        case .object(let object):
            raw(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { raw(UInt8(ascii: ",")) }
                quoted(member.key)
                raw(UInt8(ascii: ":"))
                write(member.value)
            }
            raw(UInt8(ascii: "}"))
        }
    }

    mutating func raw(_ byte: UInt8) { bytes.append(byte) }
    mutating func raw(_ more: [UInt8]) { bytes += more }

    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func blanks(_ count: Int) {
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count))
    }

    mutating func number(_ value: Int64) {
        if (0...9).contains(value) {
            raw(UInt8(ascii: "0") + UInt8(value))
        } else {
            bytes.append(contentsOf: String(value).utf8)
        }
    }

    /// A text in quotes; what must be escaped is, everything else stays as it is.
    mutating func quoted(_ text: String) {
        raw(UInt8(ascii: "\""))
        if text.utf8.contains(where: JSONWriter.mustBeEscaped) {
            for byte in text.utf8 { escaped(byte) }
        } else {
            bytes.append(contentsOf: text.utf8)
        }
        raw(UInt8(ascii: "\""))
    }

    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case UInt8(ascii: "\n"): raw("\\n")
        case UInt8(ascii: "\r"): raw("\\r")
        case UInt8(ascii: "\t"): raw("\\t")
        case _ where JSONWriter.mustBeEscaped(byte):
            raw("\\u00")
            for nibble in [byte >> 4, byte & 0x0F] {
                raw(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
            }
        default: raw(byte)
        }
    }
}
