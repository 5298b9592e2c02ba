// SPDX-License-Identifier: Apache-2.0

import ByteCodec

/// Text in columns, with full-width characters counted as two columns.
package enum Columns {
    /// The rows with every column but the last padded to its widest cell, with two spaces between columns.
    ///
    /// - Parameters:
    ///   - rightAligned: the columns whose cells are aligned right.
    ///   - colour: the colour of a cell, by its column and its text.
    package static func text(
        _ rows: some Collection<[String]>, rightAligned: Set<Int> = [],
        colour: (Int, String) -> Colour? = { _, _ in nil }
    ) -> String {
        var text = ""
        write(rows, rightAligned: rightAligned, colour: colour) { text += $0 }
        return text
    }

    /// Writes the same piece by piece, for very many rows.
    package static func write<Failure: Error>(
        _ rows: some Collection<[String]>, rightAligned: Set<Int> = [],
        colour: (Int, String) -> Colour? = { _, _ in nil }, _ print: (String) throws(Failure) -> Void
    ) throws(Failure) {
        let widths = widths(rows)
        var text = ""
        for row in rows {
            var line = ""
            for (column, cell) in row.enumerated() {
                let cell = VisibleText.line(cell)
                let padding = String(repeating: " ", count: widths[column] - cell.terminalWidth)
                let shown = colour(column, cell)?.applied(to: cell) ?? cell
                let cells = rightAligned.contains(column) ? padding + shown : shown + padding
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

    /// The minimum length of a piece, except the last one.
    private static let piece = 1 << 16

    /// The width of the longest line of the rows, in terminal columns.
    package static func width(_ rows: some Collection<[String]>) -> Int {
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

extension String {
    /// The width of the text on a terminal, in columns. East Asian wide and full-width characters take two, combining
    /// marks none (Unicode TR 11, the blocks that occur in Japanese text).
    package var terminalWidth: Int {
        unicodeScalars.reduce(0) { $0 + $1.terminalWidth }
    }

    /// The text as one visible line, with `…` in place of what does not fit `width` terminal columns.
    package func cut(to width: Int) -> String {
        let whole = VisibleText.line(self)
        guard whole.terminalWidth > width else { return whole }
        var text = ""
        // The ellipsis takes one column.
        var room = width - 1
        for letter in whole {
            room -= String(letter).terminalWidth
            guard room >= 0 else { break }
            text.append(letter)
        }
        while text.hasSuffix(" ") { text.removeLast() }
        return text + "…"
    }
}

extension Unicode.Scalar {
    fileprivate var terminalWidth: Int {
        switch value {
        case 0x0300...0x036F, 0x200B...0x200F, 0x3099...0x309A, 0xFE00...0xFE0F: 0
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}

extension [UInt8] {
    /// Packed lower-case digits, as in documents.
    package var hexadecimal: String { Hex.encode(self) }
}

/// A block number as in documents.
package enum FourDigits {
    package static func text(_ number: UInt16) -> String { Hex.encode(number, digits: 4) }
}
