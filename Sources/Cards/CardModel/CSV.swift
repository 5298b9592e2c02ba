// SPDX-License-Identifier: Apache-2.0

/// The one writer of CSV (RFC 4180) and its relatives.
///
/// Quotation marks, separators and line ends are compared as Unicode scalars, as the programs that read the file do: a combining character
/// after one of them changes nothing.
package struct CSV: Sendable {
    /// One field of a row.
    package struct Cell: Hashable, Sendable, ExpressibleByStringLiteral {
        fileprivate let text: String

        fileprivate init(unchanged text: String) { self.text = text }

        /// A word of the format itself, written as it is.
        package init(stringLiteral text: String) { self.text = text }

        /// Text from a card, a table or a user; empty for `nil`.
        ///
        /// Text that a spreadsheet would run as a formula gets a leading apostrophe, and hidden characters are written as `\u{202E}`. Japanese
        /// spreadsheets also accept the full-width forms.
        package static func text(_ text: String?) -> Cell {
            guard let text else { return "" }
            let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n＝＋－＠".unicodeScalars.contains($0) } ?? false
            return Cell(unchanged: (isFormula ? "'" : "") + HiddenCharacters.escaped(text, keepingLineEnds: false))
        }

        /// A number of either sign, as digits, or another token without user data; empty for `nil`.
        package static func number(_ digits: String?) -> Cell { Cell(unchanged: digits ?? "") }

        /// A number; empty for `nil`.
        package static func number(_ number: Int?) -> Cell { Cell(unchanged: number.map(String.init) ?? "") }
    }

    /// What separates the fields; ASCII.
    package var separator: Unicode.Scalar = ","
    /// What ends a row.
    package var newline = "\r\n"
    /// Whether every field is quoted, not only those that need it.
    package var quotesAll = false

    /// The usual form: commas, CRLF, quotation marks where needed.
    package init() {}

    /// A row with its line end.
    package func row(_ cells: [Cell]) -> String {
        var row = ""
        for (index, cell) in cells.enumerated() {
            if index > 0 { row.unicodeScalars.append(separator) }
            row += needsQuotes(cell.text) ? CSV.quoted(cell.text) : cell.text
        }
        return row + newline
    }

    private func needsQuotes(_ text: String) -> Bool {
        quotesAll
            || text.utf8.contains { byte in
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
                default: UInt32(byte) == separator.value
                }
            }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\"".unicodeScalars
        for scalar in text.unicodeScalars {
            if scalar == "\"" { result.append(scalar) }
            result.append(scalar)
        }
        result.append("\"")
        return String(result)
    }
}
