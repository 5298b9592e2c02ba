// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI

/// `kazasu history`
struct History: KazasuCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: tr("List journeys and payments, newest first.", "乗車と支払いの履歴を新しい順に表示する。"),
        discussion: tr(
            """
            Amounts are the differences between successive balances; '-' means unknown.

            Examples:
              kazasu history
              kazasu history --since 2026-11-01 --kind rail,bus
              kazasu history -n 5                     # the newest five
              kazasu history -o history.csv
              kazasu history card.json
              kazasu history --keep                   # add the records to the ledger
              kazasu history --format ndjson | jq 'select(.kind == "rail")'
            """,
            """
            金額は残高の差です。不明なものは '-' です。

            例:
              kazasu history
              kazasu history --since 2026-11-01 --kind rail,bus
              kazasu history -n 5                     # 新しい 5 件
              kazasu history -o history.csv
              kazasu history card.json
              kazasu history --keep                   # 台帳にも追加する
              kazasu history --format ndjson | jq 'select(.kind == "rail")'
            """))

    static let programAccess = CommandAccess.method(
        .card(
            "card.history", .get("history"), schema: "history",
            LocalizedText("Journeys and payments, newest first.", "利用履歴。新しい順。")))

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var purse: PurseOptions

    @Option(
        reach: .never, name: .long,
        help: help(
            "table, csv, json or ndjson. Default: by the ending of -o, else table.",
            "table、csv、json、ndjson のいずれか。省略時は -o の拡張子による形式、なければ table。"))
    var format: HistoryFormat?

    @Option(
        reach: .never, name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var csvOptions: CSVOptions

    @Option(
        reach: .network, name: .long,
        help: help("Only this month, YYYY-MM; this or last.", "この月だけ（YYYY-MM、this、last）。", value: "month"))
    var month: MonthArgument?

    @OptionGroup var filter: HistoryFilter

    @Option(
        reach: .network, name: .joined("n"),
        help: help("Only so many of these, the newest.", "新しいものから、この件数だけ。", value: "count", bounds: 1...Int.max))
    var limit: Int?

    @OptionGroup var keepOptions: KeepOptions
    @OptionGroup var stationOptions: StationOptions

    private var form: HistoryFormat { chosen ?? OutputEnding(output).format(HistoryFormat.endings) ?? .table }

    /// The format that an option says.
    private var chosen: HistoryFormat? { format ?? (common.json ? .json : nil) }

    func validate() throws {
        try common.check("--format", format?.rawValue)
        if month != nil, filter.since != nil || filter.until != nil {
            let (month, other) = (Caller.current.option("month"), filter.since == nil ? "until" : "since")
            let day = Caller.current.option(other)
            throw ValidationError(tr("\(month) cannot be used with \(day)", "\(month) と \(day) は同時に指定できません"))
        }
        if let limit, limit < 1 {
            let name = Caller.current.option("limit")
            throw ValidationError(tr("\(name) takes 1 or more", "\(name) は 1 以上です"))
        }
        try OutputEnding(output).check(
            format.map { "--format \($0.rawValue)" } ?? "--json", chosen, HistoryFormat.endings)
        try csvOptions.check(isCSV: form == .csv)
    }

    func execute(_ context: Context) throws {
        let names = try stationOptions.names()
        let keeper = try keepOptions.keeper(context)
        let keyring = try purse.keyOptions.keyring(context)
        let output = try output.map { path throws(CommandError) in try OutputFile(path) }
        let report: CardReport
        let card: DecodedCard
        let kept: KeptHistory
        switch try purse.open(context) {
        case .card(let found, let session):
            defer {
                found.noteAuthentication(context)
                session.close()
            }
            report = try found.history(kinds: purse.kinds, stations: names, keys: keyring)
            let brand = try purse.brand(
                of: found, as: report.kind, isUseful: form != .table || keeper != nil, context)
            card = DecodedCard(identity: context.redaction.apply(found.identity), kind: report.kind, brand: brand)
            kept = .card(report, DecodedCard(identity: found.identity, kind: report.kind, brand: brand))
        case .dump(let dump):
            report = try dump.history(kinds: purse.kinds, stations: names)
            card = dump.decoded(as: report.kind, context.redaction)
            try purse.check(card.brand, context)
            kept = purse.kept(dump)
        }
        guard var history = report.historyReport else {
            throw CommandError(.historyNone)
        }
        history.records = history.records.filter(filter.wants)
        if let days = month?.days {
            history.records = history.records.filter { $0.date.map(days.contains) ?? false }
        }
        if let limit { history.records = Array(history.records.prefix(limit)) }
        for warning in report.warnings where warning != .doubtfulValues { context.warn(warning.words) }
        let view = HistoryView(report: history, card: card)
        context.keep([kept], in: keeper)
        if history.records.isEmpty {
            context.note(tr("no records to show", "表示する履歴がありません"))
        }
        guard let output else {
            switch form {
            case .json: try context.print(view.json)
            case .ndjson: try context.print(view.ndjson)
            case .csv: try context.print(escaped: csvOptions.text(view.csv(csvOptions.csv)))
            case .table:
                var isMarked = false
                try view.table(width: Output.lineWidth, isColored: Color.isOnOutput).write {
                    text throws(CommandError) in
                    isMarked = isMarked || text.contains(HistoryView.doubtMark)
                    try context.print(text)
                }
                // A narrow terminal may have no room for what is marked.
                if isMarked, report.warnings.contains(.doubtfulValues) {
                    context.warn(DecodingWarning.doubtfulValues.words)
                }
            }
            return
        }
        switch form {
        case .json: try output.finish(context.redaction.apply(view.json).prettyText + "\n")
        case .ndjson: try output.finish(view.ndjson)
        case .csv: try output.finish(csvOptions.text(view.csv(csvOptions.csv), isFile: true))
        case .table: try output.finish(VisibleText.lines(view.table(width: nil).text))
        }
        output.tell(records: history.records.count, context)
    }
}
