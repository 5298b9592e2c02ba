// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The double-byte characters of Windows' code page 932, and of JIS X 0208, which it contains.
///
/// Compiled in, since not every C library has a converter, and those that are there differ. Made by
/// `Scripts/character-tables.py`; a test compares every code with glibc's `CP932` and `EUC-JP`.
enum CP932 {
    /// Rows 1 to 94 and 115 to 120, 94 cells each, two bytes a cell, low byte first; 0 for none. Rows 95 to 114 are for users.
    private static let table = PackageResources.cp932_bin

    /// Returns the code point of a cell; `nil` without one.
    ///
    /// - Parameters:
    ///   - row: from 1.
    ///   - cell: from 1 to 94.
    static func code(row: Int, cell: Int) -> UInt16? {
        guard (1...120).contains(row), (1...94).contains(cell) else { return nil }
        // Windows' own private characters lie one after the other.
        if (95...114).contains(row) { return UInt16(0xE000 + (row - 95) * 94 + cell - 1) }
        let at = ((row > 114 ? row - 20 : row) - 1) * 94 + cell - 1
        guard 2 * at + 1 < table.count else { return nil }
        let code = UInt16(table[2 * at]) | UInt16(table[2 * at + 1]) << 8
        return code == 0 ? nil : code
    }

    /// Returns a text in UTF-8; `nil` if there is a byte that begins no character.
    static func utf8(_ bytes: [UInt8]) -> [UInt8]? {
        var text = String.UnicodeScalarView()
        var at = bytes.startIndex
        while at < bytes.endIndex {
            let lead = bytes[at]
            at += 1
            switch lead {
            case 0x00...0x7F: text.append(Unicode.Scalar(lead))
            // Half-width katakana.
            case 0xA1...0xDF: text.append(Unicode.Scalar(UInt16(lead) + 0xFEC0) ?? "?")
            case 0x81...0x9F, 0xE0...0xFC:
                guard at < bytes.endIndex, let character = character(lead, bytes[at]) else { return nil }
                text.append(character)
                at += 1
            default: return nil
            }
        }
        return Array(String(text).utf8)
    }

    private static func character(_ lead: UInt8, _ trail: UInt8) -> Unicode.Scalar? {
        guard (0x40...0xFC).contains(trail), trail != 0x7F else { return nil }
        // Two rows a lead byte; 7F is not a trail byte.
        let pair = Int(lead) - (lead < 0xA0 ? 0x81 : 0xC1)
        let place = Int(trail) - (trail < 0x7F ? 0x40 : 0x41)
        return code(row: pair * 2 + 1 + place / 94, cell: place % 94 + 1).flatMap(Unicode.Scalar.init)
    }
}
