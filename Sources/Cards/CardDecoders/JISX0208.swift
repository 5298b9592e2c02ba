// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Maps the 94 by 94 cells of JIS X 0208 to Unicode.
///
/// In seven cells, converters differ. These give: 2140 U+FF3C, 2141 U+301C, 2142 U+2016, 215D U+2212, 2171 U+00A2,
/// 2172 U+00A3, 224C U+00AC. They agree with Unicode's own JIS0208.TXT except for 2140, which is U+005C there: a
/// half-width backslash within full-width text.
package enum JISX0208 {
    /// Where Windows' code page has another character in a cell of the standard.
    private static let others: [UInt16: UInt16] = [
        0x2141: 0x301C, 0x2142: 0x2016, 0x215D: 0x2212, 0x2171: 0x00A2, 0x2172: 0x00A3, 0x224C: 0x00AC,
    ]
    /// Rows that only the code page has.
    private static let foreignRows: Set<Int> = [13, 89, 90, 91, 92]

    /// Returns the character of a cell: row in the high byte, column in the low byte, each 21 to 7E as on a card.
    ///
    /// - Returns: `nil` for a cell without a character, and for an invalid cell.
    package static func character(_ cell: UInt16) -> Unicode.Scalar? {
        let (row, column) = (Int(cell >> 8) - 0x20, Int(cell & 0xFF) - 0x20)
        guard (1...94).contains(row), !foreignRows.contains(row) else { return nil }
        return (others[cell] ?? CP932.code(row: row, cell: column)).flatMap(Unicode.Scalar.init)
    }
}

/// A JIS X 0208 text as stored on a card: two bytes per character, without escapes and without the high bit.
///
/// The text is lossless for any bytes: anything that is not a character becomes a separate part in its place.
///
/// Source of the private codes: the layout of the license in libjeid's sample application and the public readers.
public struct JISText: Hashable, Sendable {
    /// The parts in order; two neighbors are never both text.
    public let runs: [JISRun]

    /// Decodes bytes.
    package init(decoding bytes: some Collection<UInt8>) {
        var runs: [JISRun] = []
        var text = ""
        func endText() {
            if !text.isEmpty { runs.append(.text(text)) }
            text = ""
        }
        var rest = bytes.makeIterator()
        while let first = rest.next() {
            guard let second = rest.next() else {
                endText()
                runs.append(.strayByte(first))
                break
            }
            let code = UInt16(first) << 8 | UInt16(second)
            if let character = JISX0208.character(code) {
                text.unicodeScalars.append(character)
                continue
            }
            endText()
            switch code {
            case 0xFFF1...0xFFF7: runs.append(.externalCharacter(Int(code - 0xFFF0)))
            case 0xFFFA: runs.append(.missingCharacter)
            default: runs.append(.unassigned(code))
            }
        }
        endText()
        self.runs = runs
    }

    /// Whether the text is empty.
    public var isEmpty: Bool { runs.isEmpty }

    /// Whether every two bytes are a character of the standard.
    package var isPlain: Bool {
        runs.allSatisfy { if case .text = $0 { true } else { false } }
    }

    /// The text without blanks: cards write `優　良` for 優良.
    var unspaced: String { String(description.filter { !$0.isWhitespace }) }

    /// The numbers of the 外字 in the text, each once, in the order of their occurrence.
    package var externalCharacters: [Int] {
        var numbers: [Int] = []
        for case .externalCharacter(let number) in runs where !numbers.contains(number) { numbers.append(number) }
        return numbers
    }
}

extension JISText: CustomStringConvertible {
    /// The text for display.
    ///
    /// 外字 are `{外字1}` to `{外字7}`, 欠字 `{欠字}`, other codes their four hexadecimal digits in braces.
    public var description: String { runs.map(\.text).joined() }
}

/// A part of a JIS X 0208 text as stored on a card.
public enum JISRun: Hashable, Sendable {
    /// Characters of the standard.
    case text(String)
    /// 外字 1 to 7 (FFF1 to FFF7): a character missing from the standard; its image is elsewhere on the card.
    case externalCharacter(Int)
    /// 欠字 (FFFA): a character that the issuing machine could not write.
    case missingCharacter
    /// Two bytes without a character: an empty cell, or a code that no source explains.
    case unassigned(UInt16)
    /// A last byte without its second one.
    case strayByte(UInt8)

    /// The part as plain text.
    ///
    /// Anything that is not a character is in braces, which JIS X 0208 does not have at this width.
    var text: String {
        switch self {
        case .text(let text): text
        case .externalCharacter(let number): "{外字\(number)}"
        case .missingCharacter: "{欠字}"
        case .unassigned(let code): "{\(Hex.encode(code, digits: 4))}"
        case .strayByte(let byte): "{\(Hex.encode(byte, digits: 2))}"
        }
    }
}
