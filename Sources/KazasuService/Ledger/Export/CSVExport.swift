// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
package import CardModel

/// The columns of `history --format csv`, then the id of the record and what is lost before it.
enum CSVExport {
    /// Each card by itself.
    static func write(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [UInt8] {
        Array(text(chains.flatMap(\.records), options).utf8)
    }

    /// The rows in the order of the records.
    static func text(_ records: [LedgerRecord], _ options: LedgerExportOptions) -> String {
        let csv = HistoryCSV(language: options.language)
        let added =
            options.language == .japanese ? ["ID", "欠落件数", "欠落金額"] : ["id", "gapMissing", "gapAmount"]
        let head = CSV.row(csv.columns + added)
        return (options.hasByteOrderMark ? "\u{FEFF}" : "") + head + records.map { rows($0, csv, options) }.joined()
    }

    private static func rows(_ entry: LedgerRecord, _ csv: HistoryCSV, _ options: LedgerExportOptions) -> String {
        let purse = entry.purse
        let start = csv.start(cardID: purse.card, kind: purse.kind)
        let gap = entry.gapBefore
        let money = gap?.amount.map(purse.currency.text) ?? ""
        let row = CSV.row(
            start + csv.cells(entry.record, purse.currency) + [
                CSV.text(entry.uid), CSV.text(gap.map(missing) ?? ""), CSV.number(money),
            ])
        guard options.hasGaps, gap != nil else { return row }
        var line = [String](repeating: "", count: csv.columns.count + 3)
        (line[0], line[1], line[4]) = (start[0], start[1], entry.record.date?.description ?? "")
        line[6] = options.language == .japanese ? "欠落" : "gap"
        (line[15], line[17], line[23]) = (money, purse.currency.rawValue, ExportText.id(of: entry))
        return CSV.row(line) + row
    }

    /// How many records are lost: `3`, `1..4`, or `?`.
    static func missing(_ gap: LedgerGap) -> String {
        gap.missing.map { String($0) } ?? gap.atMost.map { "\(gap.atLeast)..\($0)" } ?? "?"
    }
}

extension Ledger {
    /// Records as the CSV of `list`, in their order.
    package static func csv(_ records: [LedgerRecord], _ language: Language, hasByteOrderMark: Bool) -> String {
        var options = LedgerExportOptions()
        (options.language, options.hasByteOrderMark) = (language, hasByteOrderMark)
        return CSVExport.text(records, options)
    }
}

/// The CSV of Sony's SFCard Viewer: CP932, CRLF, ten columns, oldest first.
///
/// Spending is written without a sign, charges negative. The memo is one of the words that readers of the format accept.
enum SFCardExport {
    static let header = "利用年月日,定期,鉄道会社名,入場駅/事業者名,定期,鉄道会社名,出場駅/降車場所,利用額(円),残額(円),メモ"

    static func write(_ chain: ExportChain?, _ options: LedgerExportOptions) throws(LedgerError) -> [UInt8] {
        var rows: [[String]] = []
        for item in chain?.items ?? [] {
            switch item {
            case .record(let record, let amount, let date), .late(let record, let amount, let date, _):
                if record.record.date != nil { rows.append(row(record.record, amount, date)) }
            case .gap(let gap, _, let date):
                let day = ExportText.date(date, "/")
                rows.append([
                    day, "", "", ExportText.title(gap, .japanese), "", "", "", String(0 &- (gap.amount ?? 0)), "", "",
                ])
            case .opening: break
            }
        }
        let card = options.hasCardLine ? chain.map { "カードID=\($0.purse.card.uppercased())\r\n" } ?? "" : ""
        return try ExportText.cp932(card + header + "\r\n" + ExportText.csv(rows))
    }

    private static func row(_ record: HistoryRecord, _ amount: Int, _ date: CalendarDate) -> [String] {
        let day = ExportText.date(date, "/")
        let money = [String(0 &- amount), record.balance.map { String($0) } ?? ""]
        switch record.kind {
        case .rail:
            return [
                day, "", company(record.entry), station(record.entry), "", company(record.exit), station(record.exit),
            ] + money + [memo(record)]
        case .bus:
            return [day, "", "", record.entry?.name?.company ?? "", "", "", record.entry?.name?.name ?? ""] + money + [
                "ﾊﾞｽ/路面等"
            ]
        case .purchase: return [day, "", "", "", "", "", ""] + money + ["物販"]
        default: return [day, "", company(record.entry), station(record.entry), "", "", ""] + money + [memo(record)]
        }
    }

    private static func company(_ place: Place?) -> String { place?.name?.company ?? "" }

    private static func station(_ place: Place?) -> String { place?.label ?? "" }

    /// Auto-charges (process 14 and 15) and exits at the window (06); the format has no word for other charges.
    private static func memo(_ record: HistoryRecord) -> String {
        switch record.process?.code {
        case 0x14, 0x15: "ｵｰﾄﾁｬｰｼﾞ"
        case 0x06: "窓出"
        default: ""
        }
    }
}
