// SPDX-License-Identifier: Apache-2.0

/// Text in columns, whole-width letters counted as two places.
enum Columns {
    /// The rows with every column but the last padded to its widest cell, two blanks between columns.
    ///
    /// - Parameter rightAligned: the columns whose cells stand at the right.
    static func text(_ rows: some Collection<[String]>, rightAligned: Set<Int> = []) -> String {
        var text = ""
        write(rows, rightAligned: rightAligned) { text += $0 }
        return text
    }

    /// Writes the same a piece at a time, for very many rows.
    static func write<Failure: Error>(
        _ rows: some Collection<[String]>, rightAligned: Set<Int> = [], _ print: (String) throws(Failure) -> Void
    ) throws(Failure) {
        let widths = widths(rows)
        var text = ""
        for row in rows {
            var line = ""
            for (column, cell) in row.enumerated() {
                let cell = VisibleText.line(cell)
                let padding = String(repeating: " ", count: widths[column] - cell.terminalWidth)
                let cells = rightAligned.contains(column) ? padding + cell : cell + padding
                line += (column == 0 ? "" : "  ") + cells
            }
            while line.hasSuffix(" ") { line.removeLast() }
            text += line + "\n"
            guard text.utf8.count >= piece else { continue }
            try print(text)
            text = ""
        }
        try print(text)
    }

    /// How long a piece is at least, but for the last one.
    private static let piece = 1 << 16

    /// How many places the longest line of the rows may take.
    static func width(_ rows: some Collection<[String]>) -> Int {
        let widths = widths(rows)
        return widths.reduce(0, +) + 2 * max(0, widths.count - 1)
    }

    private static func widths(_ rows: some Collection<[String]>) -> [Int] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], VisibleText.line(cell).terminalWidth)
            }
        }
        return widths
    }
}
