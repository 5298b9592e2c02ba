// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel

/// One line of a text.
struct TextLine {
    /// Its number, from 1.
    let number: Int
    /// Its bytes without the line end.
    let bytes: ArraySlice<UInt8>

    /// The longest line that means anything in any format; what follows in a longer one is not looked at.
    private static let longest = 2048

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// The line without blanks at both ends.
    var text: String {
        String(decoding: bytes.prefix(TextLine.longest).trimming(TextLine.isBlank), as: UTF8.self)
    }

    /// How many blanks it begins with.
    var indent: Int { bytes.prefix { TextLine.isBlank($0) }.count }

    /// What follows `name` and a colon, without blanks at both ends; `nil` when the line does not begin so.
    func value(of name: String) -> String? {
        let text = self.text
        guard text.hasPrefix(name) else { return nil }
        let rest = text.dropFirst(name.count)
        return rest.first == ":" ? rest.dropFirst().trimmed : nil
    }

    /// The error that says what should stand here.
    func malformed(_ expected: String) -> DocumentError {
        .malformedLine(line: number, expected: expected)
    }

    /// Bytes in hexadecimal; exactly `count` of them.
    func hex(_ text: some StringProtocol, count: Int) throws(DocumentError) -> [UInt8] {
        guard let bytes = try? Hex.decode(text), bytes.count == count else {
            throw malformed("\(count) bytes in hexadecimal")
        }
        return bytes
    }

    /// Sixteen bytes in hexadecimal.
    func block(_ text: some StringProtocol) throws(DocumentError) -> Block {
        guard let block = Block(try hex(text, count: 16)) else { throw malformed("16 bytes in hexadecimal") }
        return block
    }

    /// A code of exactly four hexadecimal digits.
    func code<Code: FourDigitCode>(_ text: some StringProtocol) throws(DocumentError) -> Code {
        guard text.utf8.count == 4, let code = Code(text) else { throw malformed("a code of four hexadecimal digits") }
        return code
    }

    /// An IDm of eight bytes.
    func idm(_ text: some StringProtocol) throws(DocumentError) -> IDm {
        guard let idm = IDm(try hex(text, count: 8)) else { throw malformed("an IDm of 8 bytes") }
        return idm
    }

    /// A PMm of eight bytes.
    func pmm(_ text: some StringProtocol) throws(DocumentError) -> PMm {
        guard let pmm = PMm(try hex(text, count: 8)) else { throw malformed("a PMm of 8 bytes") }
        return pmm
    }

    /// A number of hexadecimal digits that fits in 16 bits.
    func number16(_ text: some StringProtocol) throws(DocumentError) -> UInt16 {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ Hex.value(of: $0) != nil }),
            let number = UInt16(text, radix: 16)
        else { throw malformed("a number of at most four hexadecimal digits") }
        return number
    }
}

extension ArraySlice {
    /// The elements without those at both ends that `isUnwanted` holds for.
    func trimming(_ isUnwanted: (Element) -> Bool) -> ArraySlice {
        guard let last = lastIndex(where: { !isUnwanted($0) }) else { return [] }
        return self[...last].drop(while: isUnwanted)
    }
}

extension StringProtocol {
    /// The text without blanks at both ends.
    var trimmed: String {
        String(decoding: Array(utf8)[...].trimming(TextLine.isBlank), as: UTF8.self)
    }

    /// The words between blanks.
    var words: [SubSequence] { split { $0 == " " || $0 == "\t" } }
}
