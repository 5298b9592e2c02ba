// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import KazasuLedger

extension OutputEnding {
    /// Checks the ending of a page, which has one of these or none that says something else.
    fileprivate func check(reportEndings known: [String]) throws {
        guard let ending, !known.contains(ending) else { return }
        throw ValidationError(
            tr(
                "a report is written as .html or .htm, not .\(ending)",
                "レポートは .html か .htm のファイルに書きます（.\(ending) では書けません）"))
    }
}

extension LedgerFormat {
    /// The formats by the ending of a file; the first is the usual one.
    fileprivate static let endings: [String: [LedgerFormat]] = [
        "csv": [.csv, .sfcard, .moneyforward, .zaim], "tsv": [.csv], "ofx": [.ofx], "qif": [.qif],
        "journal": [.hledger], "hledger": [.hledger], "beancount": [.beancount],
    ]
}

extension LedgerCommand {
    /// `kazasu ledger export`
    struct Export: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: tr("Write records for other programs.", "他のソフト用に書き出す。"),
            discussion: tr(
                """
                Formats: \(Export.formats(.english)). Every record has an id that never changes. Records without a known amount are left out of \
                all but csv. sfcard and moneyforward hold yen only, a file of qif one currency. What is left out, and what is \
                missing in the period, is reported on standard error.

                --claim writes rides for an expense claim, return trips joined. A station or line is a name or a code such as \
                0_227_59. --pass leaves out rides between its ends, and on their common line between stations whose numbers \
                lie between theirs; look at the result.

                A file of --columns has one line for each column, HEADER = FIELD or HEADER = "text". Fields: date, time, kind, \
                line, from, to, title, fare, amount, spent, received, balance, roundtrip, total, currency, card, note, \
                purpose, id. Settings: @language en|ja, \
                @encoding utf-8|utf-8-bom|cp932, @separator ,|;|tab, @newline crlf|lf, @header yes|no, @quote needed|always, \
                @date 2026-11-21|2026/11/21|20261121.

                Examples:
                  kazasu ledger export --claim --month 2026-11 --total -o claim.csv
                  kazasu ledger export --claim --columns office.txt -o claim.csv
                  kazasu ledger export sfcard --card Work -o work.csv
                  kazasu ledger export ofx --new -o "$(date +%F).ofx"
                  kazasu ledger export hledger > suica.journal
                """,
                """
                形式: \(Export.formats(.japanese))。履歴の ID は変わりません。金額が不明な履歴は csv 以外では省きます。sfcard と moneyforward は円だけ、qif は 1 ファイルに
                1 つの通貨だけです。省いた履歴と、期間内の欠落は標準エラーに表示します。

                --claim は交通費精算用に乗車だけを書き、往復を 1 行にまとめます。駅と路線は名前か、0_227_59 のようなコードで指定します。
                --pass は、定期区間の両端の間と、同じ路線で駅番号がその間にある駅どうしの乗車を省きます。結果は必ず確認してください。

                --columns のファイルには、列ごとに「見出し = 項目」または「見出し = "文字列"」を 1 行ずつ書きます。項目: date, time,
                kind, line, from, to, title, fare, amount, spent, received, balance, roundtrip, total, currency, card, note, purpose, id。
                設定: @language en|ja、@encoding utf-8|utf-8-bom|cp932、@separator ,|;|tab、@newline crlf|lf、@header yes|no、@quote needed|always、
                @date 2026-11-21|2026/11/21|20261121。

                例:
                  kazasu ledger export --claim --month 2026-11 --header ja -o claim.csv
                  kazasu ledger export --claim --columns office.txt -o claim.csv
                  kazasu ledger export sfcard --card 通勤 -o work.csv
                  kazasu ledger export zaim --new -o "$(date +%F).csv"
                  kazasu ledger export hledger > suica.journal
                """))

        static let programAccess = CommandAccess.none(
            because: "it writes files for programs of bookkeeping; ledger.list has the same records")

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions

        @Argument(
            reach: .never,
            help: help(
                "The format. Default: csv with --claim or --columns, else by the ending of -o.",
                "形式。省略時は --claim か --columns があれば csv、なければ -o の拡張子による。"),
            completion: .list(LedgerFormat.allCases.map(\.rawValue)))
        var format: String?

        @Option(
            reach: .never, name: .customLong("format"),
            help: help("The same as an option.", "オプションで形式を指定する。", value: "format"),
            completion: .list(LedgerFormat.allCases.map(\.rawValue)))
        var formatOption: String?

        @OptionGroup var filter: LedgerFilterOptions

        @Flag(
            reach: .never, name: .long,
            help: help(
                "Export only records that no earlier --new export with the same format and filters contained. Never overwrites a file.",
                "同じ形式・同じ条件で前回 --new を付けて書き出した後の分だけ。既存のファイルは置き換えない。"))
        var new = false

        @Flag(
            reach: .never, name: .long,
            help: help("Rides for an expense claim, return trips joined.", "交通費精算用の乗車一覧（往復は 1 行）。"))
        var claim = false

        @OptionGroup var rides: ClaimOptions

        @Option(
            reach: .never, name: .long,
            help: help("A file that describes the columns of CSV.", "CSV の列を書いたファイル。", value: "file"),
            completion: .file())
        var columns: String?

        @Flag(reach: .never, name: .long, help: help("Mark lost records with their own line.", "欠落を 1 行として書く。"))
        var gaps = false

        @Option(
            reach: .never, name: .long,
            help: help(
                "\(Export.formats(having: .account, .english)): the card's account. Default: Assets:Transit:NAME.",
                "\(Export.formats(having: .account, .japanese)) でのカードの勘定科目。省略時は Assets:Transit:名前。", value: "account"))
        var account: String?

        @Flag(
            reach: .never, name: .long,
            help: help(
                "\(Export.formats(having: .cardLine, .english)): leave out the first line with the card's number.",
                "\(Export.formats(having: .cardLine, .japanese)) で、カードIDの行（先頭行）を省く。"))
        var noCardLine = false

        @Option(
            reach: .never, name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"),
            completion: .file())
        var output: String?

        @OptionGroup var csvOptions: CSVOptions

        /// The word of the format that was given.
        private var word: String? { format ?? formatOption }

        /// The format, also where an option or the output file implies it.
        private var form: LedgerFormat? {
            word.map { LedgerFormat(rawValue: $0) }
                ?? (claim || columns != nil ? .csv : OutputEnding(output).format(LedgerFormat.endings))
        }

        func validate() throws {
            let names = LedgerFormat.allCases.map(\.rawValue)
            if let format, let formatOption, format != formatOption {
                throw ValidationError(
                    tr(
                        "give one format: \(format) or --format \(formatOption)",
                        "形式は 1 つだけ指定してください: \(format) または --format \(formatOption)"))
            }
            let given = word.flatMap { LedgerFormat(rawValue: $0) } ?? (claim || columns != nil ? .csv : nil)
            try OutputEnding(output).check(word ?? (claim ? "--claim" : "--columns"), given, LedgerFormat.endings)
            if word == "claim" {
                throw ValidationError(
                    tr(
                        "a claim is not a format: did you mean --claim?", "claim は形式ではありません。--claim のことですか？"))
            }
            guard let form else {
                guard let format = word else {
                    throw ValidationError(
                        tr(
                            "give a format (\(names.joined(separator: ", "))), or --claim for an expense claim",
                            "形式（\(names.joined(separator: "、"))）か、交通費精算なら --claim を指定してください"))
                }
                let nearest = NearestName.of(format, among: names)
                throw ValidationError(
                    tr(
                        "unknown format '\(format)'\(nearest.map { ", did you mean '\($0)'?" } ?? ".") The formats are \(names.joined(separator: ", "))",
                        "'\(format)' という形式はありません。\(nearest.map { "'\($0)' ですか？ " } ?? "")使える形式: \(names.joined(separator: "、"))"
                    ))
            }
            func check(_ option: String, _ isGiven: Bool, _ fits: Bool) throws {
                guard isGiven, !fits else { return }
                throw ValidationError(
                    tr("\(option) cannot be used with \(form.rawValue)", "\(option) は \(form.rawValue) では指定できません"))
            }
            try check("--json", common.json, false)
            let hasColumns = form.features.contains(.columns)
            try check("--claim", claim, hasColumns)
            try check("--columns", columns != nil, hasColumns)
            try check("--bom", csvOptions.bom, hasColumns)
            try check("--header", csvOptions.header != nil, hasColumns)
            try check("--no-card-line", noCardLine, form.features.contains(.cardLine))
            try check("--account", account != nil, form.features.contains(.account))
            if let option = rides.given, !claim {
                throw ValidationError(tr("\(option) needs --claim", "\(option) は --claim と一緒に指定してください"))
            }
            guard gaps, !claim, filter.records.kind != nil else { return }
            throw ValidationError(
                tr(
                    "--gaps cannot be used with --kind: a lost record may be of any kind",
                    "--gaps と --kind は同時に指定できません（欠落した履歴の種別は分かりません）"))
        }

        func execute(_ context: Context) throws {
            let columns = try self.columns.map { path throws(CommandError) in try Export.columns(path) }
            let output = try output.map { path throws(CommandError) in try OutputFile(path) }
            let ledger = try file.open(context)
            guard let form else { return }
            var options = LedgerExportOptions()
            (options.filter, options.skipsExported, options.isClaim) = (try filter.filter(ledger, context), new, claim)
            options.claim = rides.options
            (options.columns, options.account) = (columns, account)
            (options.hasGaps, options.hasCardLine) = (gaps, !noCardLine)
            options.hasByteOrderMark = csvOptions.bom || output != nil
            options.language = language(form)
            options.placeLanguage = Language.asked
            let stream = LedgerStream(output)
            let export = try write(ledger, form, options, to: stream)
            if new {
                if export.isEmpty {
                    try finishEmpty(stream, output, context)
                    return report(export, columns, context)
                }
                if let output, output.hasContents { throw Export.notReplaced(output.path) }
            }
            try stream.finish()
            if !context.redaction.isOn {
                if new { try ledger.didWrite(export) }
                if new || output != nil { try ledger.didClaim(export) }
            }
            tell(export, context)
            report(export, columns, context)
        }

        private func write(
            _ ledger: Ledger, _ form: LedgerFormat, _ options: LedgerExportOptions, to stream: LedgerStream
        ) throws -> LedgerExport {
            do throws(LedgerError) {
                return try ledger.export(form, options) { stream.write($0) }
            } catch {
                guard case .noSuchStation(let word) = error else { throw error }
                throw try CommandError(noStation: word, in: ledger)
            }
        }

        /// Nothing is new: a file stays as it is, standard output gets what has no records.
        private func finishEmpty(
            _ stream: LedgerStream, _ output: OutputFile?, _ context: Context
        ) throws(CommandError) {
            guard let output, output.isFile else {
                try stream.finish()
                return context.note(tr("nothing new", "新しいものはありません"))
            }
            context.note(
                output.hasContents
                    ? tr(
                        "nothing new; \(output.path) was not changed",
                        "新しいものはありません。\(output.path) は変更していません")
                    : tr(
                        "nothing new; \(output.path) was not written", "新しいものはありません。\(output.path) は書いていません"))
        }

        /// What an earlier export wrote comes with no later one, so that it must not be lost.
        private static func notReplaced(_ path: String) -> CommandError {
            CommandError(.ledgerExportExists, values: [path])
        }

        /// Says what was written.
        private func tell(_ export: LedgerExport, _ context: Context) {
            let name = output.map { "\($0): " } ?? ""
            let count = Words.count(export.records, claim ? "line" : "record")
            let totals = export.totals.sorted { $0.key.rawValue < $1.key.rawValue }.map { $0.key.words($0.value) }
            let sum = totals.joined(separator: tr(", ", "、"))
            context.note(
                name
                    + tr(
                        count + (sum.isEmpty ? "" : ", total \(sum)"),
                        "\(export.records) \(claim ? "行" : "件")を書き出しました" + (sum.isEmpty ? "" : "（合計 \(sum)）")))
        }

        /// Says what was claimed before, what was left out and why, and what is missing in the period.
        private func report(_ export: LedgerExport, _ columns: LedgerColumns?, _ context: Context) {
            if export.repeatedRides > 0 {
                let count = export.repeatedRides
                context.warn(
                    tr(
                        count == 1
                            ? "1 of these rides was in an earlier claim"
                            : "\(count) of these rides were in earlier claims",
                        "このうち \(count) 件の乗車は以前の精算にも含まれています"))
            }
            if export.unknownFares > 0 {
                let rides =
                    export.unknownRides.map(Export.words)
                    + (export.unknownFares > export.unknownRides.count ? ["…"] : [])
                context.warn(
                    tr(
                        "\(Words.count(export.unknownFares, "ride")) with an unknown fare \(export.unknownFares == 1 ? "is" : "are") not included in the total: \(rides.joined(separator: "; "))",
                        "運賃が不明な乗車が \(export.unknownFares) 件あり、合計に含まれていません: \(rides.joined(separator: "、"))"))
            }
            if export.currencies.count > 1, columns?.hasCurrency == false {
                let names = export.currencies.map(\.rawValue).sorted().joined(separator: ", ")
                context.warn(
                    tr(
                        "the amounts are in several currencies (\(names)); add a column with the field 'currency', or choose cards with --card",
                        "金額に複数の通貨（\(names)）があります。currency の列を加えるか、--card でカードを選んでください"))
            }
            for reason in LedgerExport.Omission.Reason.allCases {
                let omissions = export.omissions.filter { $0.reason == reason }
                guard !omissions.isEmpty else { continue }
                let records = omissions.reduce(0) { $0 + $1.records }
                let why = omission(reason, records)
                let cards = omissions.compactMap(\.purse).map {
                    "\($0.name(Language.current)) (\($0.currency.rawValue))"
                }
                let whose = cards.isEmpty ? "" : tr(": ", ": ") + cards.joined(separator: tr(", ", "、"))
                context.warn(
                    tr(
                        "\(Words.count(records, claim ? "ride" : "record")) left out: \(why.english)",
                        "\(claim ? "乗車" : "履歴") \(records) 件は省きました（\(why.japanese)）") + whose)
            }
            if claim, !rides.passes.isEmpty, !export.omissions.contains(where: { $0.reason == .pass }) {
                let passes = rides.passes.joined(separator: tr(", ", "、"))
                context.warn(
                    tr("no ride lies within the pass \(passes)", "定期区間 \(passes) 内の乗車はありませんでした"))
            }
            context.warn(of: export.missing)
        }

        /// Why so many records are left out.
        private func omission(_ reason: LedgerExport.Omission.Reason, _ count: Int) -> LocalizedText {
            let isOne = count == 1
            let passes = rides.passes.joined(separator: ", ")
            return switch reason {
            case .unknown:
                LocalizedText(
                    claim ? "the day is unknown" : "amount or day is unknown", claim ? "日付が不明なため" : "金額または日付が不明なため")
            case .free: LocalizedText(isOne ? "it cost nothing" : "they cost nothing", "運賃がかからない乗車のため")
            case .pass: LocalizedText("within the pass \(passes)", "定期区間 \(passes) 内のため")
            case .noBalance: LocalizedText("the format needs a balance with its day", "日付のある残高が必要な形式のため")
            case .currency:
                LocalizedText("the format does not hold \(isOne ? "its" : "their") currency", "この形式では扱えない通貨のため")
            }
        }

        /// The programs that read a format decide on its language; CSV is the same in every locale. A claim is for people: `--lang`
        /// counts, too.
        private func language(_ form: LedgerFormat) -> Language {
            if claim, csvOptions.header == nil { return Language.asked ?? .english }
            if form.features.contains(.columns) { return csvOptions.header == .ja ? .japanese : .english }
            return form.language ?? Language.current
        }

        /// A ride in a message.
        private static func words(_ ride: LedgerRecord) -> String {
            let places = [ride.record.entry, ride.record.exit].compactMap { $0.map(HistoryView.place) }
            return ([ride.record.date?.description ?? "?"] + [places.joined(separator: " → ")]).joined(separator: " ")
        }

        /// The formats with what they are for, as in help.
        private static func formats(_ language: Language) -> String {
            LedgerFormat.allCases.map {
                language == .japanese
                    ? "\($0.rawValue)（\($0.summary.japanese)）" : "\($0.rawValue) (\($0.summary.english))"
            }.joined(separator: language == .japanese ? "、" : ", ")
        }

        private static func formats(having feature: LedgerFormat.Feature, _ language: Language) -> String {
            LedgerFormat.allCases.filter { $0.features.contains(feature) }.map(\.rawValue)
                .joined(separator: language == .japanese ? "・" : ", ")
        }

        private static func columns(_ path: String) throws(CommandError) -> LedgerColumns {
            let text = String(decoding: try Files.read(path, limit: 1 << 16), as: UTF8.self)
            do {
                return try LedgerColumns(text)
            } catch {
                var failure = CommandError(error)
                failure.message = "\(Files.name(path)): " + failure.message
                throw failure
            }
        }
    }

    /// `kazasu ledger report`
    struct Report: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "report",
            abstract: tr("A page to look at: balance, months, stations, gaps.", "残高・月別・駅・欠落を見られるレポートを作る。"),
            discussion: tr(
                """
                One HTML file without scripts and without anything from the network, for screens, phones and paper.

                Examples:
                  kazasu ledger report -o report.html
                  kazasu ledger report --since 2026-04-01 --card Work --lang ja -o work.html
                """,
                """
                スクリプトも外部からの読み込みもない HTML ファイル 1 つです。画面、スマートフォン、印刷に対応しています。

                例:
                  kazasu ledger report -o report.html
                  kazasu ledger report --since 2026-04-01 --card 通勤 -o work.html
                """))

        static let programAccess = CommandAccess.method(
            .plain(
                "ledger.report", .get("ledger/report"), needs: .ledger, schema: nil,
                LocalizedText(
                    "A page of HTML about the ledger: balance, months, stations, gaps.", "台帳についての HTML のページ。残高、月別、駅、欠落。"
                )))

        @OptionGroup(title: CommonOptions.title) var common: CommonOptions
        @OptionGroup(title: CommonOptions.title) var file: LedgerFileOptions
        @OptionGroup var filter: LedgerFilterOptions

        @Option(
            reach: .never, name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"),
            completion: .file())
        var output: String?

        func validate() throws {
            try OutputEnding(output).check(reportEndings: ["html", "htm"])
            guard common.json else { return }
            throw ValidationError(tr("a report is HTML, not JSON", "レポートは HTML です（--json は使えません）"))
        }

        func execute(_ context: Context) throws {
            if output == nil, Output.isTerminal {
                throw CommandError(.ledgerReportTerminal)
            }
            let output = try output.map { path throws(CommandError) in try OutputFile(path) }
            let ledger = try file.open(context)
            let page = try ledger.report(Language.current, filter.filter(ledger, context))
            guard let output else { return try Output.write(page) }
            try output.finish(page)
            // A pipe is not opened in a browser.
            guard output.isFile else { return }
            context.note(
                tr("wrote \(output.path); open it in a browser", "\(output.path) を作りました。ブラウザーで開いてください"))
        }
    }
}

/// Which rides are lines of a claim.
struct ClaimOptions: ParsableArguments {
    @Option(
        reach: .never, name: .long,
        help: help("Claim: only rides that begin here.", "精算: この駅からの乗車だけ。", value: "station"))
    var from: [String] = []

    @Option(
        reach: .never, name: .long, help: help("Claim: only rides that end here.", "精算: この駅までの乗車だけ。", value: "station"))
    var to: [String] = []

    @Option(
        reach: .never, name: .long,
        help: help("Claim: only rides that begin or end here.", "精算: この駅で乗降した乗車だけ。", value: "station"))
    var station: [String] = []

    @Option(reach: .never, name: .long, help: help("Claim: only rides on this line.", "精算: この路線の乗車だけ。", value: "line"))
    var line: [String] = []

    @Option(
        reach: .never, name: .long,
        help: help(
            "Claim: only these days, as in mon-fri or sat,sun.", "精算: この曜日だけ（例: mon-fri、sat,sun）。", value: "weekdays"))
    var weekday: WeekdayList?

    @Option(
        reach: .never, name: .long,
        help: help(
            "Claim: leave out the rides with these ids, as in the last column.", "精算: この ID（最後の列）の乗車を省く。", value: "id"))
    var except: [String] = []

    @Option(
        reach: .never, name: .customLong("pass"),
        help: help(
            "Claim: leave out rides within a pass, as in Ueno-Shibuya.", "精算: 定期区間内の乗車を省く（例: 上野-渋谷）。", value: "a-b"))
    var passes: [String] = []

    @Option(
        reach: .never, name: .long, help: help("Claim: a column with this text.", "精算: この文字列の列（目的）を加える。", value: "text")
    )
    var purpose: String?

    @Flag(reach: .never, name: .long, help: help("Claim: a last row with the total.", "精算: 最後に合計の行を書く。"))
    var total = false

    /// An option that was given.
    var given: String? {
        let options: [(String, Bool)] = [
            ("--from", !from.isEmpty), ("--to", !to.isEmpty), ("--station", !station.isEmpty),
            ("--line", !line.isEmpty), ("--weekday", weekday != nil), ("--except", !except.isEmpty),
            ("--pass", !passes.isEmpty), ("--purpose", purpose != nil), ("--total", total),
        ]
        return options.first(where: \.1)?.0
    }

    var options: LedgerClaimOptions {
        var options = LedgerClaimOptions()
        (options.from, options.to, options.stations, options.lines) = (from, to, station, line)
        // A return trip has two ids in one cell.
        let ids = except.flatMap { $0.split { $0.isWhitespace || $0 == "," || $0 == "、" }.map(String.init) }
        (options.weekdays, options.except, options.passes) = (weekday?.days ?? [], Set(ids), passes)
        (options.purpose, options.hasTotal) = (purpose, total)
        return options
    }
}

/// Days of the week: names and ranges, separated by commas.
struct WeekdayList: ExpressibleByArgument, Equatable, Sendable {
    static var argumentKind: ArgumentKind { .list }
    static var example: LocalizedText? { LocalizedText("mon-fri or sat,sun", "mon-fri、sat,sun、平日、土日") }

    let days: Set<Int>

    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let japanese = ["月", "火", "水", "木", "金", "土", "日"]
    private static let words = [
        "weekdays": "mon-fri", "平日": "mon-fri", "weekend": "sat,sun", "土日": "sat,sun", "週末": "sat,sun",
    ]

    init?(argument: String) {
        func day(_ word: Substring) -> Int? {
            WeekdayList.names.firstIndex { $0 == word.lowercased() } ?? WeekdayList.japanese.firstIndex { $0 == word }
        }
        var days: Set<Int> = []
        for part in (WeekdayList.words[argument.lowercased()] ?? argument).split(
            separator: ",", omittingEmptySubsequences: false)
        {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map(day)
            guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil else { return nil }
            // A range may go over the end of the week, as in sat-mon.
            for step in 0...(last - first + 7) % 7 { days.insert((first + step) % 7) }
        }
        self.days = days
    }

    static let defaultCompletionKind = CompletionKind.list(["mon-fri", "sat,sun"] + names)
}
