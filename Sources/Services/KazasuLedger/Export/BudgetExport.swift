// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel

extension LedgerFormat {
    /// The CSV of Money Forward ME.
    public static let moneyforward = LedgerFormat(
        "moneyforward", LocalizedText("Money Forward ME", "マネーフォワード ME"), language: .japanese, money: .yen,
        write: BudgetExport.moneyForward)
    /// The CSV of Zaim.
    public static let zaim = LedgerFormat(
        "zaim", LocalizedText("Zaim", "Zaim"), language: .japanese, write: BudgetExport.zaim)
}

/// The CSV files of the household account books Money Forward ME and Zaim.
enum BudgetExport {
    /// Money Forward ME's own form: every field quoted, UTF-8 with a byte order mark, spending negative, charges as transfers.
    static func moneyForward(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        var csv = CSV()
        csv.quotesAll = true
        sink.write("\u{FEFF}" + csv.row(["計算対象", "日付", "内容", "金額（円）", "保有金融機関", "大項目", "中項目", "メモ", "振替", "ID"]))
        try forEachLine(chains, options, sink) { line, purse in
            let (large, small) = category(line.kind)
            return csv.row([
                line.isTransfer ? "0" : "1", .text(ExportText.date(line.date, "/")), .text(line.title),
                .number(line.amount), .text(purse.name(.japanese)), large, small, .text(line.memo),
                line.isTransfer ? "1" : "0", .text(line.id),
            ])
        }
    }

    /// Zaim's own form: UTF-8, three columns of amounts without sign, in the main unit of the currency.
    static func zaim(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        let csv = CSV()
        sink.write(
            csv.row([
                "日付", "方法", "カテゴリ", "カテゴリの内訳", "支払元", "入金先", "品目", "メモ", "お店", "通貨", "収入", "支出", "振替", "残高調整",
                "通貨変換前の金額", "集計の設定",
            ]))
        try forEachLine(chains, options, sink) { line, purse in
            let name = CSV.Cell.text(purse.name(.japanese))
            let amount = CSV.Cell.number(purse.currency.text(line.amount < 0 ? 0 &- line.amount : line.amount))
            let memo = [line.memo, line.id].filter { !$0.isEmpty }.joined(separator: " ")
            let what: [CSV.Cell] = [.text(line.title), .text(memo), "", .text(purse.currency.rawValue)]
            let (large, small) = category(line.kind)
            let (start, money): ([CSV.Cell], [CSV.Cell]) =
                if line.isTransfer, line.amount >= 0 {
                    (["transfer", "-", "-", "", name], ["0", "0", amount])
                } else if line.amount > 0 {
                    (["income", large, small, "", name], [amount, "0", "0"])
                } else {
                    (["payment", large, small, name, ""], ["0", amount, "0"])
                }
            return csv.row([.text(line.date.description)] + start + what + money + ["0", "", ""])
        }
    }

    private static func forEachLine(
        _ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink,
        _ row: (Line, LedgerPurse) -> String
    ) throws {
        for chain in chains {
            try chain.forEachItem(to: sink) { item in
                if let line = line(item, options) { sink.write(row(line, chain.purse)) }
            }
        }
    }

    private struct Line {
        let id: String
        let date: CalendarDate
        let amount: Int
        /// `nil` for a gap.
        let kind: RecordKind?
        let title: String
        let memo: String

        var isTransfer: Bool { kind == .charge || kind == .issue }
    }

    private static func line(_ item: ExportChain.Item, _ options: LedgerExportOptions) -> Line? {
        switch item {
        case .opening: nil
        case .gap(let gap, let record, let date):
            Line(
                id: ExportText.id(of: record), date: date, amount: gap.amount ?? 0, kind: nil,
                title: ExportText.title(gap, options.language), memo: "")
        case .record(let record, let amount, let date), .late(let record, let amount, let date, _):
            Line(
                id: record.uid, date: date, amount: amount, kind: record.record.kind,
                title: ExportText.title(record, options.language), memo: ExportText.memo(record, options.language))
        }
    }

    /// The categories that both programs have from the start.
    private static func category(_ kind: RecordKind?) -> (CSV.Cell, CSV.Cell) {
        switch kind {
        case .rail, .ticket, .adjustment: ("交通費", "電車")
        case .bus: ("交通費", "バス")
        default: ("未分類", "未分類")
        }
    }
}
