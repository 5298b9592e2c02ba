// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// A history as a table and as one JSON object per line.
package struct HistoryView {
    package var report: HistoryReport
    package var card: DecodedCard

    package init(report: HistoryReport, card: DecodedCard) { (self.report, self.card) = (report, card) }

    /// The table.
    ///
    /// - Parameter width: the number of terminal columns, or `nil` for lines of any length.
    package func table(width: Int?, isColored: Bool = false) -> HistoryTable {
        HistoryTable(records: report.records, currency: report.currency, width: width, isColored: isColored)
    }

    /// The document `kazasu.history/1`.
    package var json: JSONValue { report.json(Language.current, card: card) }

    package func csv(_ csv: HistoryCSV) -> String { csv.head + csv.rows(report, card) }

    package var ndjson: String {
        report.records.map { $0.jsonLine(Language.current, report.currency, card: card) + "\n" }.joined()
    }

    /// The name of a place, or its codes when no table names it; `?` when it is not certain, but for a choice of names.
    package static func place(_ place: Place) -> String {
        let isCertain = place.doubt == nil || place.name?.isOpen ?? false
        return place.label(Language.current) + (isCertain ? "" : doubtMark)
    }

    /// The name of a code, or the code when no source names it; `?` when the name is not certain.
    package static func name(_ value: CodedValue) -> String {
        (value.name?[Language.current] ?? value.hex) + (value.doubt == nil ? "" : doubtMark)
    }

    /// Follows what is not certain.
    package static let doubtMark = tr("?", "？")
}

/// A history in columns. Where a terminal is too narrow, these give way in turn: the columns without information, the
/// machine, long cells (the action first, then the places), and the columns that say least.
package struct HistoryTable {
    package var records: [HistoryRecord]
    /// The currency of the amounts.
    package var currency: Currency
    /// The number of terminal columns per line, or `nil` for unlimited lines.
    package var width: Int?
    /// Whether top-ups are green and negative balances red; what is usual has no color.
    package var isColored = false

    package init(records: [HistoryRecord], currency: Currency, width: Int? = nil, isColored: Bool = false) {
        (self.records, self.currency, self.width, self.isColored) = (records, currency, width, isColored)
    }

    private enum Column: Int, CaseIterable {
        case date, time, kind, from, to, amount, balance, what
    }

    /// The narrowest width of a cut column; a narrower one would be useless.
    private static let narrowest = 8

    /// The names of the columns.
    package static var head: [String] {
        [
            tr("DATE", "日付"), tr("TIME", "時刻"), tr("KIND", "種別"), tr("FROM", "入場"), tr("TO", "出場"),
            tr("AMOUNT", "金額"), tr("BALANCE", "残高"), tr("WHAT", "内容"),
        ]
    }

    package var text: String {
        var text = ""
        write { text += $0 }
        return text
    }

    /// Writes the table piece by piece; nothing, not even the head, where there is no record.
    package func write<Failure: Error>(_ print: (String) throws(Failure) -> Void) throws(Failure) {
        guard !records.isEmpty else { return }
        let head = HistoryTable.head
        let whole = rows(head, hasMachine: true)
        let all = Column.allCases
        guard let width, Columns.width(whole) > width else { return try write(whole, all, print) }
        let filled = all.filter { column in whole.dropFirst().contains { !$0[column.rawValue].isEmpty } }
        guard Columns.width(choose(filled, of: whole)) > width else { return try write(whole, filled, print) }
        let rows = rows(head, hasMachine: false)
        var columns = filled
        var (limits, excess) = limits(rows, columns, width)
        for column in [Column.what, .time, .kind, .balance] where excess > 0 {
            columns.removeAll { $0 == column }
            (limits, excess) = self.limits(rows, columns, width)
        }
        let cut = rows.map { row in zip(row, limits).map { cell, limit in limit.map { cell.cut(to: $0) } ?? cell } }
        try write(cut, columns, print)
    }

    /// The widths to which the columns are cut, `nil` for those that stay whole; and by how much they are still too
    /// wide.
    private func limits(
        _ rows: some Collection<[String]>, _ columns: [Column], _ width: Int
    ) -> (limits: [Int?], excess: Int) {
        var limits: [Int?] = Column.allCases.map { _ in nil }
        var excess = Columns.width(choose(columns, of: rows)) - width
        func longest(_ column: Column) -> Int {
            rows.lazy.map { VisibleText.line($0[column.rawValue]).terminalWidth }.max() ?? 0
        }
        func cut(_ column: Column, from length: Int, by count: Int) {
            let limit = max(min(length, HistoryTable.narrowest), length - count)
            excess -= length - limit
            limits[column.rawValue] = limit
        }
        if columns.contains(.what) { cut(.what, from: longest(.what), by: excess) }
        let (from, to) = (longest(.from), longest(.to))
        if excess > 0 {
            // The longer place gives way first; from then on, both.
            let both = max(0, excess - abs(from - to))
            cut(.from, from: from, by: both / 2 + (from > to ? min(excess, from - to) : 0))
            cut(.to, from: to, by: excess)
        }
        return (limits, excess)
    }

    /// The head and the cells of each record, computed lazily: a dump may have very many.
    private func rows(_ head: [String], hasMachine: Bool) -> LazyMapCollection<Range<Int>, [String]> {
        (0..<records.count + 1).lazy.map { row in
            row == 0 ? head : HistoryTable.cells(records[row - 1], currency, hasMachine: hasMachine)
        }
    }

    private func write<Failure: Error>(
        _ rows: some Collection<[String]>, _ columns: [Column], _ print: (String) throws(Failure) -> Void
    ) throws(Failure) {
        let right = columns.indices.filter { columns[$0] == .amount || columns[$0] == .balance }
        let (amount, balance) = (columns.firstIndex(of: .amount), columns.firstIndex(of: .balance))
        try Columns.write(
            choose(columns, of: rows), rightAligned: Set(right),
            color: { column, cell in
                guard isColored else { return nil }
                if column == amount, cell.hasPrefix("+") { return .green }
                return column == balance && cell.hasPrefix("-") && cell != "-" ? .red : nil
            }, print)
    }

    private func choose(_ columns: [Column], of rows: some Collection<[String]>) -> some Collection<[String]> {
        rows.lazy.map { row in columns.map { row[$0.rawValue] } }
    }

    /// The cells of a record, one per column.
    ///
    /// - Parameter hasMachine: whether the machine precedes the action.
    package static func cells(_ record: HistoryRecord, _ currency: Currency, hasMachine: Bool = true) -> [String] {
        let codes = hasMachine ? [record.terminal, record.process] : [record.process ?? record.terminal]
        let used = record.points?.redeemed.flatMap { points in
            points > 0 ? tr("\(currency.text(points)) by points", "ポイント利用\(currency.text(points))") : nil
        }
        let what = (codes.compactMap { $0 }.map(HistoryView.name) + [used].compactMap { $0 }).joined(separator: " / ")
        let places = [record.entry, record.exit].map { $0.map(HistoryView.place) ?? "" }
        let start = [
            record.date?.description ?? record.partial?.dayText ?? "-",
            record.time?.hourAndMinute ?? record.partial?.hourText ?? "", record.kind.name[Language.current],
        ]
        let amounts = [
            record.amount.map { ($0 > 0 ? "+" : "") + currency.text($0) } ?? "-",
            record.balance.map(currency.text) ?? "-",
        ]
        return start + places + amounts + [what]
    }

    /// A record in one line, its money with the currency, which no heading names here.
    package static func line(_ record: HistoryRecord, _ currency: Currency) -> String {
        var cells = cells(record, currency)
        cells[Column.amount.rawValue] = record.amount.map { ($0 > 0 ? "+" : "") + currency.words($0) } ?? "-"
        cells[Column.balance.rawValue] = record.balance.map(currency.words) ?? "-"
        return cells.filter { !$0.isEmpty }.joined(separator: "  ")
    }
}

/// Money for display. Documents count in the smallest unit, because a number without its currency has to.
extension BalanceEntry {
    /// The amount with its currency, as in `-HK$14.40` or `1,230円`; `-` when it is not known.
    package var text: String { amount.map(currency.words) ?? "-" }

    /// The possible amounts, each with its condition, where the card's data is ambiguous.
    package var candidateTexts: [String] {
        candidates.map { candidate in
            let condition = candidate.condition[Language.current]
            return currency.words(candidate.amount) + tr(" (\(condition))", "（\(condition)）")
        }
    }

    /// Everything known about the money, in one line.
    package var line: String {
        candidates.isEmpty ? text : candidateTexts.joined(separator: tr(" or ", "または"))
    }
}

extension Currency {
    /// An amount with its currency, as in `-HK$14.40` or `1,230円`; the sign is first.
    package func words(_ amount: Int) -> String { localizedText(amount)[Language.current] }
}
