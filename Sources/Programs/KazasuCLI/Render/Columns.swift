// SPDX-License-Identifier: Apache-2.0

import ByteCodec

/// Text in columns, with full-width characters counted as two columns.
package enum Columns {
    /// The rows with every column but the last padded to its widest cell, with two spaces between columns. Where a terminal is too
    /// narrow, the last column goes on below its beginning, or each row below its first cell; nothing is left out.
    ///
    /// - Parameters:
    ///   - rightAligned: the columns whose cells are aligned right.
    ///   - width: that of the lines; `nil` for no limit.
    ///   - color: the color of a cell, by its column and its text.
    package static func text(
        _ rows: some Collection<[String]>, rightAligned: Set<Int> = [], width: Int? = Output.lineWidth,
        color: @escaping (Int, String) -> Color? = { _, _ in nil }
    ) -> String {
        if let width {
            let lines = NarrowTable(Array(rows), width, rightAligned, color).lines()
            return lines.flatMap(\.self).map { $0 + "\n" }.joined()
        }
        var text = ""
        write(rows, rightAligned: rightAligned, color: color) { text += $0 }
        return text
    }

    /// Writes the same piece by piece, for very many rows.
    package static func write<Failure: Error>(
        _ rows: some Collection<[String]>, rightAligned: Set<Int> = [],
        color: (Int, String) -> Color? = { _, _ in nil }, _ print: (String) throws(Failure) -> Void
    ) throws(Failure) {
        var layout = ColumnLayout(rightAligned: rightAligned)
        for row in rows { layout.measure(row) }
        var text = ""
        for row in rows {
            text += layout.line(row, color: color)
            guard text.utf8.count >= piece else { continue }
            try print(text)
            text = ""
        }
        try print(text)
    }

    /// The minimum length of a piece, except the last one.
    private static let piece = 1 << 16

    /// Names and their values, one a row. On a terminal, values that do not fit go on below their beginning.
    ///
    /// - Parameters:
    ///   - rows: a name and a value each.
    ///   - indent: what each line begins with.
    ///   - width: that of the lines; `nil` for no limit.
    ///   - color: the color of a value, by its name and its text.
    package static func values(
        _ rows: some Collection<[String]>, indent: String = "", width: Int? = Output.lineWidth,
        color: (_ name: String, _ value: String) -> Color? = { _, _ in nil }
    ) -> String {
        let names = rows.map { indent + VisibleText.line($0.first ?? "") }
        let start = (names.map(\.terminalWidth).max() ?? 0) + 2
        var text = ""
        for (name, row) in zip(names, rows) {
            let value = VisibleText.line(row.dropFirst().joined(separator: "  "))
            var lines = [value]
            // A terminal narrower than this breaks lines by itself.
            if let width, width >= start + leastValue { lines = LineBreaker.lines(value, width: width - start) }
            let shown = color(row.first ?? "", value)
            var line = name + String(repeating: " ", count: start - name.terminalWidth)
            for part in lines {
                line += Color.isOnOutput ? shown?.applied(to: part) ?? part : part
                while line.hasSuffix(" ") { line.removeLast() }
                text += line + "\n"
                line = String(repeating: " ", count: start)
            }
        }
        return text
    }

    /// A sentence as lines that begin with an indent and, on a terminal, end between words.
    package static func sentence(_ text: String, indent: String = "  ", width: Int? = Output.lineWidth) -> String {
        let text = VisibleText.line(text)
        guard let width, width >= indent.count + leastValue else { return indent + text + "\n" }
        return LineBreaker.lines(text, width: width - indent.count).map { indent + $0 + "\n" }.joined()
    }

    /// The width that a value has at least where lines are broken.
    fileprivate static let leastValue = 16

    /// The width of the longest line of the rows, in terminal columns.
    package static func width(_ rows: some Collection<[String]>) -> Int {
        var layout = ColumnLayout()
        for row in rows { layout.measure(row) }
        return layout.width
    }
}

/// A table on a terminal that may be too narrow for it.
private struct NarrowTable {
    private let rows: [[String]]
    private let width: Int
    private let rightAligned: Set<Int>
    private let color: (Int, String) -> Color?
    private let layout: ColumnLayout

    init(_ rows: [[String]], _ width: Int, _ rightAligned: Set<Int>, _ color: @escaping (Int, String) -> Color?) {
        (self.rows, self.width, self.rightAligned, self.color) = (rows, width, rightAligned, color)
        var layout = ColumnLayout(rightAligned: rightAligned)
        for row in rows { layout.measure(row) }
        self.layout = layout
    }

    /// The lines of each row: in columns, the last of which may go on below its beginning; or with the other cells below the first
    /// one, and there at least one after the other.
    func lines(areBelow: Bool = false) -> [[String]] {
        let last = layout.count - 1
        guard layout.width > width, last > 0 else { return rows.map { [line($0)] } }
        let start = layout.width(of: Array(0..<last)) + 2
        if !rightAligned.contains(last), width >= start + leastCell {
            return rows.map { continued($0, last, room: width - start) }
        }
        if areBelow {
            return rows.map { row in
                let cells = row.filter { !$0.isEmpty }.map { VisibleText.line($0) }
                return LineBreaker.lines(cells.joined(separator: "  "), width: width)
            }
        }
        guard last > 1, width > indent.count + Columns.leastValue else { return rows.map { [line($0)] } }
        let (indent, color) = (indent, color)
        let others = NarrowTable(
            rows.map { Array($0.dropFirst()) }, width - indent.count, Set(rightAligned.map { $0 - 1 }),
            { color($0 + 1, $1) })
        return zip(rows, others.lines(areBelow: true)).map { row, below in
            [ColumnLayout.cell(row.first ?? "", color: { color(0, $0) })]
                + below.filter { !$0.isEmpty }.map { indent + $0 }
        }
    }

    /// The width of the last column where its cells go on in more lines.
    private let leastCell = 12

    /// What precedes the other cells of a row below its first one.
    private var indent: String {
        let margins = rows.map { $0.first?.prefix { $0 == " " }.count ?? 0 }
        return String(repeating: " ", count: (margins.max() ?? 0) + 2)
    }

    /// A row whose last cell goes on below its beginning.
    private func continued(_ row: [String], _ last: Int, room: Int) -> [String] {
        guard row.count > last else { return [line(row)] }
        return LineBreaker.lines(VisibleText.line(row[last]), width: room).enumerated().map { number, part in
            line((number == 0 ? Array(row[..<last]) : Array(repeating: "", count: last)) + [part])
        }
    }

    private func line(_ row: [String]) -> String { String(layout.line(row, color: color).dropLast()) }
}

/// The widths of columns: every row is measured first, then written.
package struct ColumnLayout {
    private var widths: [Int] = []
    private let rightAligned: Set<Int>

    /// - Parameter rightAligned: the columns whose cells are aligned right.
    package init(rightAligned: Set<Int> = []) { self.rightAligned = rightAligned }

    /// Makes room for a row.
    package mutating func measure(_ row: [String]) {
        for (column, cell) in row.enumerated() {
            if column == widths.count { widths.append(0) }
            widths[column] = max(widths[column], VisibleText.line(cell).terminalWidth)
        }
    }

    /// The number of columns.
    fileprivate var count: Int { widths.count }

    /// The width of the longest line, in terminal columns.
    package var width: Int { width(of: Array(widths.indices)) }

    /// The width of the longest line of some of the columns.
    package func width(of columns: [Int]) -> Int {
        columns.reduce(0) { $0 + widths[$1] } + 2 * max(0, columns.count - 1)
    }

    /// Narrows some of the columns, the widest first, until a line of those shown fits; what is longer is cut.
    ///
    /// - Parameter least: the width that each of them keeps.
    package mutating func narrow(_ columns: some Collection<Int>, of shown: [Int], to width: Int, least: Int) {
        while self.width(of: shown) > width,
            let widest = columns.filter({ shown.contains($0) && widths[$0] > least }).max(by: {
                widths[$0] < widths[$1]
            })
        {
            widths[widest] -= 1
        }
    }

    /// A cell as one visible line, in its color.
    fileprivate static func cell(_ text: String, color: (String) -> Color?) -> String {
        let text = VisibleText.line(text)
        return color(text)?.applied(to: text) ?? text
    }

    /// A row of some of the columns as a line; of all columns for `nil`.
    package func line(
        _ row: [String], of columns: [Int]? = nil, color: (Int, String) -> Color? = { _, _ in nil }
    ) -> String {
        var line = ""
        for (place, column) in (columns ?? Array(row.indices)).enumerated() {
            let cell = row[column].cut(to: widths[column])
            let padding = String(repeating: " ", count: widths[column] - cell.terminalWidth)
            let shown = ColumnLayout.cell(cell) { color(column, $0) }
            line += (place == 0 ? "" : "  ") + (rightAligned.contains(column) ? padding + shown : shown + padding)
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return line + "\n"
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
        // The last digits of a number tell a card from others, as in `Suica …7890`.
        let digits = whole.wholeMatch(of: /.*(…[0-9A-Za-z]{4})/).map { String($0.1) }
        let end = digits.flatMap { $0.terminalWidth < width ? $0 : nil } ?? "…"
        var text = ""
        var room = width - end.terminalWidth
        for letter in whole.dropLast(end.count) {
            room -= String(letter).terminalWidth
            guard room >= 0 else { break }
            text.append(letter)
        }
        while text.hasSuffix(" ") { text.removeLast() }
        return text + end
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

/// A block number as in documents.
package enum FourDigits {
    package static func text(_ number: UInt16) -> String { Hex.encode(number, digits: 4) }
}
