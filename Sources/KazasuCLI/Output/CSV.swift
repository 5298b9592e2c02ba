// SPDX-License-Identifier: Apache-2.0

/// CSV cells (RFC 4180) that no spreadsheet changes or evaluates.
package enum CSV {
    /// A row with its line end.
    package static func row(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }

    /// A text cell. One that a spreadsheet would parse as a formula is prefixed with an apostrophe, which marks it as
    /// text.
    package static func text(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n".unicodeScalars.contains($0) } ?? false
        return quoted((isFormula ? "'" : "") + VisibleText.line(text))
    }

    /// A cell with a number of either sign.
    package static func number(_ text: String) -> String { text }

    private static func quoted(_ cell: String) -> String {
        guard cell.contains(where: { $0 == "," || $0 == "\"" }) else { return cell }
        return "\"" + cell.replacing("\"", with: "\"\"") + "\""
    }
}
