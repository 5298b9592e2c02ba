// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

/// The CSV files of the household account books Money Forward ME and Zaim.
enum BudgetExport {
    /// Money Forward ME's own form: every field quoted, UTF-8 with a byte order mark, spending negative, charges as transfers.
    static func moneyForward(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [UInt8] {
        let header = ["計算対象", "日付", "内容", "金額（円）", "保有金融機関", "大項目", "中項目", "メモ", "振替", "ID"]
        let rows = chains.flatMap { chain in
            lines(chain, options).map { line -> [String] in
                let isTransfer = line.kind == .charge || line.kind == .issue
                let (large, small) = category(line.kind)
                return [
                    isTransfer ? "0" : "1", ExportText.date(line.date, "/"), line.title, String(line.amount),
                    chain.purse.name(.japanese), large, small, line.memo, isTransfer ? "1" : "0", line.id,
                ]
            }
        }
        return Array(("\u{FEFF}" + ExportText.csv([header] + rows, quotesAll: true)).utf8)
    }

    /// Zaim's own form: UTF-8, three columns of amounts without sign.
    static func zaim(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [UInt8] {
        let header = [
            "日付", "方法", "カテゴリ", "カテゴリの内訳", "支払元", "入金先", "品目", "メモ", "お店", "通貨", "収入", "支出", "振替", "残高調整", "通貨変換前の金額",
            "集計の設定",
        ]
        let rows = chains.flatMap { chain in
            lines(chain, options).map { line -> [String] in
                let name = chain.purse.name(.japanese)
                let amount = String(line.amount.magnitude)
                let memo = [line.memo, line.id].filter { !$0.isEmpty }.joined(separator: " ")
                let start = [line.date.description]
                let currency = chain.purse.currency.rawValue
                if line.kind == .charge || line.kind == .issue, line.amount >= 0 {
                    return start + [
                        "transfer", "-", "-", "", name, line.title, memo, "", currency, "0", "0", amount, "0", "", "",
                    ]
                }
                let (large, small) = category(line.kind)
                return line.amount > 0
                    ? start + [
                        "income", large, small, "", name, line.title, memo, "", currency, amount, "0", "0", "0", "", "",
                    ]
                    : start + [
                        "payment", large, small, name, "", line.title, memo, "", currency, "0", amount, "0", "0", "",
                        "",
                    ]
            }
        }
        return Array(ExportText.csv([header] + rows).utf8)
    }

    private struct Line {
        let id: String
        let date: CalendarDate
        let amount: Int
        /// `nil` for a gap.
        let kind: RecordKind?
        let title: String
        let memo: String
    }

    private static func lines(_ chain: ExportChain, _ options: LedgerExportOptions) -> [Line] {
        chain.items.compactMap { item in
            switch item {
            case .opening: nil
            case .gap(let gap, let record, let date):
                Line(
                    id: ExportText.id(of: record), date: date, amount: gap.amount ?? 0, kind: nil,
                    title: ExportText.title(gap, options.language), memo: "")
            case .record(let record, let amount, let date), .late(let record, let amount, let date, _):
                record.record.date == nil
                    ? nil
                    : Line(
                        id: record.uid, date: date, amount: amount, kind: record.record.kind,
                        title: ExportText.title(record, options.language),
                        memo: ExportText.memo(record, options.language))
            }
        }
    }

    /// The categories that both programs have from the start.
    private static func category(_ kind: RecordKind?) -> (String, String) {
        switch kind {
        case .rail, .ticket, .adjustment: ("交通費", "電車")
        case .bus: ("交通費", "バス")
        default: ("未分類", "未分類")
        }
    }
}
