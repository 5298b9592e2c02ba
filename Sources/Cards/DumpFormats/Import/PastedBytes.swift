// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// Bytes on one line in the forms in which programs print them and people paste them.
enum PastedBytes {
    /// The longest line that is looked at.
    private static let longest = 512

    /// Decodes hexadecimal digits, with or without blanks, colons or hyphens; lists such as `0x16, 0x01` or `[22, 1]`;
    /// `bytearray(b'\x16…')` and `b'\x16…'` of Python; `<16010002 …>` of iOS; base64 with its padding.
    ///
    /// - Returns: the bytes, or `nil` for anything else.
    static func decode(_ text: String) -> [UInt8]? {
        if let bytes = try? Hex.decode(text) { return bytes }
        guard text.utf8.count <= longest else { return nil }
        if let literal = pythonLiteral(in: text) { return python(literal) }
        if text.hasPrefix("<"), text.hasSuffix(">") { return try? Hex.decode(text.dropFirst().dropLast()) }
        if text.hasSuffix("=="), let bytes = Base64.decode(text) { return bytes }
        return list(text)
    }

    /// A list of numbers; in brackets or braces they may be decimal.
    private static func list(_ text: String) -> [UInt8]? {
        let inner = text.drop { "[{(".contains($0) }
        let isBracketed = inner.startIndex != text.startIndex
        let words = inner.split { " \t,;[]{}()".contains($0) }
        guard words.count > 1, text.utf8.contains(UInt8(ascii: ",")) || words.allSatisfy({ isPrefixed($0) }) else {
            return nil
        }
        if words.allSatisfy({ isPrefixed($0) }) { return numbers(words.map { $0.dropFirst(2) }, radix: 16) }
        let isHex = words.allSatisfy { $0.utf8.count == 2 } && !isBracketed
        return numbers(words, radix: isHex ? 16 : 10) ?? numbers(words, radix: 16)
    }

    private static func isPrefixed(_ word: Substring) -> Bool { word.hasPrefix("0x") || word.hasPrefix("0X") }

    private static func numbers(_ words: [Substring], radix: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        for word in words {
            guard word.utf8.first != UInt8(ascii: "+"), let byte = UInt8(word, radix: radix) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// The characters between the quotes of a bytes literal.
    private static func pythonLiteral(in text: String) -> Substring? {
        var rest = text[...]
        if rest.hasPrefix("bytearray("), rest.hasSuffix(")") { rest = rest.dropFirst(10).dropLast() }
        guard rest.first == "b" else { return nil }
        rest = rest.dropFirst()
        guard let quote = rest.first, quote == "'" || quote == "\"", rest.count > 1, rest.last == quote else {
            return nil
        }
        return rest.dropFirst().dropLast()
    }

    private static func python(_ literal: Substring) -> [UInt8]? {
        var (bytes, rest) = ([UInt8](), Array(literal.utf8)[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                guard byte < 0x80 else { return nil }
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "x"):
                guard let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case let other? where [UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\"")].contains(other):
                bytes.append(other)
            default: return nil
            }
        }
        return bytes
    }
}
