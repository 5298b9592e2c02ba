// SPDX-License-Identifier: Apache-2.0

import ByteCodec
package import CardModel

/// An input file, parsed just far enough for every format to decide whether it is its own.
package struct DumpSource: Sendable {
    /// The largest file accepted, in bytes.
    package static let longest = 64 << 20

    /// The number of lines of a text that are examined to recognize its format.
    package static let linesToRecognize = 400

    /// The kind of text in the file.
    package enum Content: Sendable {
        /// A JSON document.
        case json(JSONValue)
        /// A text that begins like XML.
        case xml
        /// Any other text.
        case lines
        /// As many bytes as a MIFARE Classic has, some of which no text has.
        case classicMemory
    }

    /// The unchanged contents of the file.
    package let bytes: [UInt8]
    /// The kind of text.
    package let content: Content

    /// Examines a file.
    ///
    /// - Throws: ``CardModel/DocumentError/tooLong(bytes:limit:)``, and any error of the JSON parser for a text that
    ///   begins as a JSON object.
    package init(_ bytes: [UInt8]) throws(DocumentError) {
        guard bytes.count <= DumpSource.longest else { throw .tooLong(bytes: bytes.count, limit: DumpSource.longest) }
        self.bytes = bytes
        if DumpSource.isClassicMemory(bytes) {
            content = .classicMemory
            return
        }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        switch text.first(where: { !TextLine.isBlank($0) }) {
        // Metrodroid accepted unquoted names, and its older exports have them.
        case UInt8(ascii: "{"): content = .json(try JSONValue(parsingNumbersAsNames: text))
        // A log can begin with a bracket too.
        case UInt8(ascii: "["): content = (try? JSONValue(parsing: text)).map { .json($0) } ?? .lines
        case UInt8(ascii: "<"): content = TextLines(bytes).looksLikeXML ? .xml : .lines
        default: content = .lines
        }
    }

    private static func isClassicMemory(_ bytes: [UInt8]) -> Bool {
        guard ClassicKind(byteCount: bytes.count) != nil else { return false }
        return bytes.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0D, 0x1B].contains($0) }
    }

    /// Whether it is ``Content/classicMemory``.
    var isClassicMemory: Bool {
        if case .classicMemory = content { true } else { false }
    }

    /// The JSON document, or `nil` for any other text.
    package var json: JSONCursor? {
        guard case .json(let value) = content else { return nil }
        return JSONCursor(value)
    }

    /// The lines of a text that is neither JSON nor XML; otherwise empty.
    var lines: TextLines {
        guard case .lines = content else { return TextLines([]) }
        return TextLines(bytes)
    }

    /// The first lines, as many as a format is allowed to examine.
    var head: some Sequence<TextLine> { lines.prefix(DumpSource.linesToRecognize) }
}

struct TextLine {
    /// The line number, from 1.
    let number: Int
    /// The bytes without the line end.
    let bytes: ArraySlice<UInt8>

    /// The longest meaningful line in any format; the rest of a longer line is ignored.
    private static let longest = 2048

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// The line without leading and trailing blanks.
    var text: String {
        String(decoding: bytes.prefix(TextLine.longest).trimming(TextLine.isBlank), as: UTF8.self)
    }

    /// The text after `name` and a colon, trimmed; `nil` when the line does not begin that way.
    func value(of name: String) -> String? {
        let text = self.text
        guard text.hasPrefix(name) else { return nil }
        let rest = text.dropFirst(name.count)
        return rest.first == ":" ? rest.dropFirst().trimmed : nil
    }

    /// Returns the error that says what is expected on this line.
    func malformed(_ code: DocumentError.Expectation.Code, _ values: String...) -> DocumentError {
        .malformedLine(line: number, expected: .init(code, values: values))
    }

    /// Decodes exactly `count` bytes in hexadecimal.
    func hex(_ text: some StringProtocol, count: Int) throws(DocumentError) -> [UInt8] {
        guard let bytes = try? Hex.decode(text), bytes.count == count else {
            throw malformed(.bytesInHex, "\(count)")
        }
        return bytes
    }

    /// Decodes sixteen bytes in hexadecimal.
    func block(_ text: some StringProtocol) throws(DocumentError) -> Block {
        guard let block = Block(try hex(text, count: 16)) else { throw malformed(.bytesInHex, "16") }
        return block
    }

    /// Decodes a code of exactly four hexadecimal digits.
    func code<Code: FourDigitCode>(_ text: some StringProtocol) throws(DocumentError) -> Code {
        guard text.utf8.count == 4, let code = Code(text) else { throw malformed(.code) }
        return code
    }

    /// Decodes an IDm of eight bytes.
    func idm(_ text: some StringProtocol) throws(DocumentError) -> IDm {
        guard let idm = IDm(try hex(text, count: 8)) else { throw malformed(.idm) }
        return idm
    }

    /// Decodes a PMm of eight bytes.
    func pmm(_ text: some StringProtocol) throws(DocumentError) -> PMm {
        guard let pmm = PMm(try hex(text, count: 8)) else { throw malformed(.pmm) }
        return pmm
    }

    /// Decodes a hexadecimal number that fits in 16 bits.
    func number16(_ text: some StringProtocol) throws(DocumentError) -> UInt16 {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ Hex.value(of: $0) != nil }),
            let number = UInt16(text, radix: 16)
        else { throw malformed(.shortHexNumber) }
        return number
    }
}

extension ArraySlice {
    /// The elements without those at both ends for which `isUnwanted` returns true.
    func trimming(_ isUnwanted: (Element) -> Bool) -> ArraySlice {
        guard let last = lastIndex(where: { !isUnwanted($0) }) else { return [] }
        return self[...last].drop(while: isUnwanted)
    }
}

extension StringProtocol {
    /// The text without leading and trailing blanks.
    package var trimmed: String {
        String(decoding: Array(utf8)[...].trimming(TextLine.isBlank), as: UTF8.self)
    }

    /// The words separated by blanks or tabs.
    package var words: [SubSequence] { split { $0 == " " || $0 == "\t" } }
}

/// The successive lines of a text, without their ends (LF or CR LF) and without a byte order mark.
///
/// Nothing is copied: a list of lines would be far larger than a text of 64 MiB of line ends.
struct TextLines: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var position: Int
    private var number = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    mutating func next() -> TextLine? {
        guard position < bytes.endIndex else { return nil }
        let end = bytes[position...].firstIndex(of: 0x0A) ?? bytes.endIndex
        var line = bytes[position..<end]
        if line.last == 0x0D { line.removeLast() }
        position = end + 1
        number += 1
        return TextLine(number: number, bytes: line)
    }

    /// Whether the text begins with an XML tag rather than, as in a log, an arrow.
    var looksLikeXML: Bool {
        let first = lazy.map(\.text).first { !$0.isEmpty } ?? ""
        let next = first.utf8.dropFirst().first ?? 0x20
        return next == UInt8(ascii: "?") || next == UInt8(ascii: "!") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= next
    }
}

/// A line `NNNN:BBBB…`: two numbers of four hexadecimal digits separated by a colon, then the rest.
struct ColonLine {
    let first: Substring
    let second: Substring
    /// The character after the second number.
    let separator: Character
    /// The text after that character.
    let rest: Substring

    /// Parses a line, or returns `nil` for any other form.
    init?(_ text: String) {
        let utf8 = text.utf8
        guard utf8.count > 10 else { return nil }
        let fifth = utf8.index(utf8.startIndex, offsetBy: 4)
        let tenth = utf8.index(fifth, offsetBy: 5)
        guard utf8[fifth] == UInt8(ascii: ":"), tenth < utf8.endIndex, utf8[tenth] == 0x20 || utf8[tenth] == 0x3A else {
            return nil
        }
        first = text[..<fifth]
        second = text[utf8.index(after: fifth)..<tenth]
        separator = text[tenth]
        rest = text[utf8.index(after: tenth)...]
        guard (first + second).utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    }
}
