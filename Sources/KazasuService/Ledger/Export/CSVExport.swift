// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
package import CardModel

/// The columns of `history --format csv`; before the names in Latin script, the id of the record and what is lost before it.
package struct LedgerCSV {
    private let csv: HistoryCSV

    /// - Parameter language: that of the column names and values.
    package init(_ language: Language) { csv = HistoryCSV(language: language) }

    /// The row of column names.
    package var head: String {
        let own: [CSV.Cell] =
            csv.language == .japanese ? ["ID", "欠落件数", "欠落金額"] : ["id", "gapMissing", "gapAmount"]
        return CSV().row(csv.columns + own + csv.latinColumns)
    }

    /// The row of a record.
    package func row(_ entry: LedgerRecord) -> String {
        let purse = entry.purse
        let start = csv.start(cardID: purse.card, kind: purse.kind, purse.brand)
        return CSV().row(
            start + csv.cells(entry.record, purse.currency) + [
                .text(entry.uid), .text(entry.gapBefore.map(LedgerCSV.missing)),
                .number(entry.gapBefore?.amount.map(purse.currency.text)),
            ] + csv.latinCells(entry.record))
    }

    /// A row of its own for what is lost before a record.
    func row(_ gap: LedgerGap, before entry: LedgerRecord) -> String {
        let start = csv.start(cardID: entry.purse.card, kind: entry.purse.kind, entry.purse.brand)
        var cells = [CSV.Cell](repeating: "", count: csv.columns.count + 3 + csv.latinColumns.count)
        cells.replaceSubrange(0..<3, with: start)
        cells[4] = .text(entry.record.date?.description)
        cells[6] = csv.language == .japanese ? "欠落" : "gap"
        cells[15] = .number(gap.amount.map(entry.purse.currency.text))
        (cells[17], cells[23]) = (.text(entry.purse.currency.rawValue), .text(ExportText.id(of: entry)))
        return CSV().row(cells)
    }

    /// How many records are lost: `3`, `1..4`, or `?`.
    private static func missing(_ gap: LedgerGap) -> String {
        gap.missing.map { String($0) } ?? gap.atMost.map { "\(gap.atLeast)..\($0)" } ?? "?"
    }
}

/// ``LedgerCSV`` of one card after the other, oldest first.
enum CSVExport {
    static func write(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        let csv = LedgerCSV(options.language)
        sink.write((options.hasByteOrderMark ? "\u{FEFF}" : "") + csv.head)
        for chain in chains {
            try chain.forEachRecord { entry in
                if options.hasGaps, let gap = entry.gapBefore { sink.write(csv.row(gap, before: entry)) }
                sink.write(csv.row(entry))
                return !sink.isStopped
            }
        }
    }
}

/// The CSV of Sony's SFCard Viewer: CP932, CRLF, ten columns, oldest first.
///
/// Spending is written without a sign, charges negative. The memo is one of the words that readers of the format accept.
enum SFCardExport {
    static let header = "利用年月日,定期,鉄道会社名,入場駅/事業者名,定期,鉄道会社名,出場駅/降車場所,利用額(円),残額(円),メモ"

    static func write(_ chain: ExportChain?, _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        try sink.useCP932()
        if options.hasCardLine, let chain { sink.write("カードID=\(chain.purse.card.uppercased())\r\n") }
        sink.write(header + "\r\n")
        try chain?.forEachItem { item in
            switch item {
            case .record(let record, let amount, let date), .late(let record, let amount, let date, _):
                sink.write(CSV().row(row(record.record, amount, date)))
            case .gap(let gap, _, let date):
                sink.write(
                    CSV().row([
                        day(date), "", "", .text(ExportText.title(gap, .japanese)), "", "", "",
                        .number(gap.amount.map { 0 &- $0 }), "", "",
                    ]))
            case .opening: break
            }
            return !sink.isStopped
        }
    }

    private static func row(_ record: HistoryRecord, _ amount: Int, _ date: CalendarDate) -> [CSV.Cell] {
        let (day, money): (CSV.Cell, [CSV.Cell]) = (day(date), [.number(0 &- amount), .number(record.balance)])
        switch record.kind {
        case .rail:
            let entry: [CSV.Cell] = [.text(company(record.entry)), .text(record.entry?.label(.japanese)), ""]
            let exit: [CSV.Cell] = [.text(company(record.exit)), .text(record.exit?.label(.japanese))]
            return [day, ""] + entry + exit + money + [memo(record)]
        case .bus:
            let entry: [CSV.Cell] = ["", .text(company(record.entry)), "", "", .text(record.entry?.name?.name)]
            return [day, ""] + entry + money + ["ﾊﾞｽ/路面等"]
        case .purchase: return [day, "", "", "", "", "", ""] + money + ["物販"]
        default:
            return [day, "", .text(company(record.entry)), .text(record.entry?.label(.japanese)), "", "", ""] + money
                + [
                    memo(record)
                ]
        }
    }

    private static func day(_ date: CalendarDate) -> CSV.Cell { .text(ExportText.date(date, "/")) }

    private static func company(_ place: Place?) -> String? { place?.name?.company }

    /// Auto-charges (process 14 and 15) and exits at the window (06); the format has no word for other charges.
    private static func memo(_ record: HistoryRecord) -> CSV.Cell {
        switch record.process?.code {
        case 0x14, 0x15: "ｵｰﾄﾁｬｰｼﾞ"
        case 0x06: "窓出"
        default: ""
        }
    }
}
