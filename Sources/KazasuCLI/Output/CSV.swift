// SPDX-License-Identifier: Apache-2.0

/// Cells of CSV (RFC 4180) that no spreadsheet changes or runs.
enum CSV {
    /// A row with its line end.
    static func row(_ cells: [String]) -> String { cells.joined(separator: ",") + "\r\n" }

    /// A cell of text: one that a spreadsheet would take for a formula begins with an apostrophe, which spreadsheets
    /// take for "this is text".
    static func text(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n".unicodeScalars.contains($0) } ?? false
        return quoted((isFormula ? "'" : "") + VisibleText.line(text))
    }

    /// A cell with a number, whatever its sign.
    static func number(_ text: String) -> String { text }

    private static func quoted(_ cell: String) -> String {
        guard cell.contains(where: { $0 == "," || $0 == "\"" }) else { return cell }
        return "\"" + cell.replacing("\"", with: "\"\"") + "\""
    }
}
