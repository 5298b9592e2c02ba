// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel

/// A history as a table, as CSV (RFC 4180) and as one JSON object per line.
struct HistoryView {
    var report: HistoryReport

    /// The table, fitted to the terminal when it goes to one.
    var table: HistoryTable {
        HistoryTable(
            records: report.records, currency: report.currency, width: Output.lineWidth,
            isColoured: Colour.isOnOutput)
    }

    var ndjson: String {
        report.records.map { $0.jsonLine(Language.current, report.currency) + "\n" }.joined()
    }

    /// Column names do not change with the language. The byte order mark makes Excel read the text as UTF-8.
    ///
    /// Amounts are written in display form, because a table for display has no column for the currency's unit. A day
    /// without its year goes into separate number columns: a spreadsheet would make up a year for `03-09`.
    var csv: String {
        let head = [
            "serial", "date", "time", "entryTime", "partialMonth", "partialDay", "partialHour", "kind", "terminal",
            "terminalId", "process", "payment", "gate", "entry", "exit", "amount", "balance", "warnings", "raw",
        ]
        let rows = report.records.map { record in
            zip(head, HistoryView.fields(record, report.currency)).map { column, field in
                HistoryView.numbers.contains(column) ? CSV.number(field) : CSV.text(field)
            }
        }
        return "\u{FEFF}" + ([head] + rows).map(CSV.row).joined()
    }

    /// The columns of numbers.
    private static let numbers: Set<String> = [
        "serial", "partialMonth", "partialDay", "partialHour", "amount", "balance",
    ]

    private static func fields(_ record: HistoryRecord, _ currency: Currency) -> [String] {
        let codes = [record.process, record.payment, record.gate].map { $0.map(name) ?? "" }
        let terminal = [
            record.terminal.map(name) ?? "", record.terminalID ?? record.device.map { Hex.encode($0, digits: 4) } ?? "",
        ]
        let places = [record.entry, record.exit].map { $0.map(place) ?? "" }
        let amounts = [record.amount, record.balance].map { $0.map(currency.text) ?? "" }
        let partial = [record.partial?.month, record.partial?.day, record.partial?.hour]
        let start = [
            record.serial.map { String($0) }, record.date?.description, record.time?.hourAndMinute,
            record.entryTime?.hourAndMinute,
        ]
        let moment = (start + partial.map { $0.map { String($0) } }).map { $0 ?? "" }
        let end = [
            record.warnings.map(\.rawValue).joined(separator: " "),
            (record.rawHead?.description ?? "") + record.raw.description,
        ]
        return moment + [record.kind.rawValue] + terminal + codes + places + amounts + end
    }

    /// The name of a place, or its codes when no table names it; `?` when it is not certain. The codes of a bus stop
    /// follow the company where that is known.
    static func place(_ place: Place) -> String {
        let doubt = place.doubt == nil ? "" : tr("?", "？")
        if let name = place.name?.name {
            let former = place.name?.formerNames ?? []
            guard !former.isEmpty else { return name + doubt }
            let names = former.map(words).joined(separator: tr(", ", "、"))
            return tr("\(name) (formerly \(names))", "\(name)（旧\(names)）") + doubt
        }
        let codes =
            switch place.code {
            case .station(let code): "\(code.area)-\(code.line)-\(code.station)"
            case .busStop(let code):
                (place.name?.company.map { "\($0) " } ?? "") + "\(code.operatorHex)-\(code.stopHex)"
            case .local(let code): [code.lineHex, code.stopHex].compactMap { $0 }.joined(separator: "-")
            }
        return codes + doubt
    }

    /// A former name, with its last day where that is known.
    static func words(_ former: FormerName) -> String {
        guard let until = former.until else { return former.name }
        return tr("\(former.name) until \(until)", "\(former.name)・\(until)まで")
    }

    /// The name of a code, or the code when no source names it; `?` when the name is not certain.
    static func name(_ value: CodedValue) -> String {
        (value.name?[Language.current] ?? value.hex) + (value.doubt == nil ? "" : tr("?", "？"))
    }
}

/// A history in columns. Where a terminal is too narrow, the columns without information are left out first, then the
/// machine, then the action; any place names that are still too long are wrapped.
struct HistoryTable {
    var records: [HistoryRecord]
    /// The currency of the amounts.
    var currency: Currency
    /// The number of terminal columns per line, or `nil` for unlimited lines.
    var width: Int?
    /// Whether negative amounts are red.
    var isColoured = false

    private enum Column: Int, CaseIterable {
        case date, time, kind, from, to, amount, balance, what
    }

    /// The narrowest width of a place; a narrower table would be useless.
    private static let narrowestPlace = 8

    var text: String {
        var text = ""
        write { text += $0 }
        return text
    }

    /// Writes the table piece by piece.
    func write<Failure: Error>(_ print: (String) throws(Failure) -> Void) throws(Failure) {
        let head = [
            tr("DATE", "日付"), tr("TIME", "時刻"), tr("KIND", "種別"), tr("FROM", "入場"), tr("TO", "出場"),
            tr("AMOUNT", "金額"), tr("BALANCE", "残高"), tr("WHAT", "内容"),
        ]
        let whole = rows(head, machine: true)
        let all = Column.allCases
        guard let width, Columns.width(whole) > width else { return try write(whole, all, print) }
        let filled = all.filter { column in whole.dropFirst().contains { !$0[column.rawValue].isEmpty } }
        let short = rows(head, machine: false)
        let forms = [(whole, filled), (short, filled), (short, filled.filter { $0 != .what })]
        for (rows, columns) in forms where Columns.width(choose(columns, of: rows)) <= width {
            return try write(rows, columns, print)
        }
        let last = filled.filter { $0 != .what }
        try write(wrapped(short, last, width), last, print)
    }

    /// The head and the cells of each record, computed lazily: a dump may have very many.
    private func rows(_ head: [String], machine: Bool) -> LazyMapCollection<Range<Int>, [String]> {
        (0..<records.count + 1).lazy.map { row in
            row == 0 ? head : HistoryTable.cells(records[row - 1], currency, machine: machine)
        }
    }

    private func write<Failure: Error>(
        _ rows: some Collection<[String]>, _ columns: [Column], _ print: (String) throws(Failure) -> Void
    ) throws(Failure) {
        let right = columns.indices.filter { columns[$0] == .amount || columns[$0] == .balance }
        let amount = isColoured ? columns.firstIndex(of: .amount) : nil
        try Columns.write(
            choose(columns, of: rows), rightAligned: Set(right),
            colour: { $0 == amount && $1.hasPrefix("-") && $1 != "-" ? .red : nil }, print)
    }

    private func choose(_ columns: [Column], of rows: some Collection<[String]>) -> some Collection<[String]> {
        rows.lazy.map { row in columns.map { row[$0.rawValue] } }
    }

    /// The rows with long places wrapped over several lines.
    private func wrapped(_ rows: some Collection<[String]>, _ columns: [Column], _ width: Int) -> [[String]] {
        let from = rows.lazy.map { $0[Column.from.rawValue].terminalWidth }.max() ?? 0
        let to = rows.lazy.map { $0[Column.to.rawValue].terminalWidth }.max() ?? 0
        let room = width - Columns.width(choose(columns, of: rows)) + from + to
        let (fromRoom, toRoom) = (max(room / 2, room - to), max(room / 2, room - from))
        return rows.flatMap { row in
            let from = row[Column.from.rawValue].lines(width: max(HistoryTable.narrowestPlace, fromRoom))
            let to = row[Column.to.rawValue].lines(width: max(HistoryTable.narrowestPlace, toRoom))
            return (0..<max(1, from.count, to.count)).map { line in
                var cells = line == 0 ? row : row.map { _ in "" }
                cells[Column.from.rawValue] = line < from.count ? from[line] : ""
                cells[Column.to.rawValue] = line < to.count ? to[line] : ""
                return cells
            }
        }
    }

    /// The cells of a record, one per column.
    ///
    /// - Parameter machine: whether the machine is shown beside the action.
    private static func cells(_ record: HistoryRecord, _ currency: Currency, machine: Bool = true) -> [String] {
        let codes = machine ? [record.terminal, record.process] : [record.process ?? record.terminal]
        let what = codes.compactMap { $0 }.map(HistoryView.name).joined(separator: " / ")
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

    /// A record in one line.
    static func line(_ record: HistoryRecord, _ currency: Currency) -> String {
        cells(record, currency).filter { !$0.isEmpty }.joined(separator: "  ")
    }
}

/// Money for display. Documents count in the smallest unit, because a number without its currency has to.
extension BalanceEntry {
    /// The amount with its currency, as in `HK$-14.40` or `10円`; `-` when it is not known.
    var text: String { amount.map(currency.words) ?? "-" }

    /// The possible amounts, each with its condition, where the card's data is ambiguous.
    var candidateTexts: [String] {
        candidates.map { candidate in
            let condition = candidate.condition[Language.current]
            return currency.words(candidate.amount) + tr(" (\(condition))", "（\(condition)）")
        }
    }

    /// Everything known about the money, in one line.
    var line: String {
        candidates.isEmpty ? text : candidateTexts.joined(separator: tr(" or ", "または"))
    }
}

extension Currency {
    /// An amount as people write it.
    fileprivate func words(_ amount: Int) -> String {
        let number = text(amount)
        return switch self {
        case .yen: tr("¥\(number)", "\(number)円")
        case .hongKongDollar: tr("HK$\(number)", "\(number)香港ドル")
        case .yuan: tr("CN¥\(number)", "\(number)元")
        case .rupiah: tr("Rp \(number)", "\(number)ルピア")
        case .taka: tr("Tk \(number)", "\(number)タカ")
        case .dong: tr("\(number) ₫", "\(number)ドン")
        }
    }
}
