// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Kazasu
import KazasuCLI
import KazasuService

extension LedgerCommand {
    /// `kazasu ledger export`
    struct Export: KazasuCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: tr("Write records for other programs.", "他のソフト用に書き出す。"),
            discussion: tr(
                """
                Formats: csv; sfcard (SFCard Viewer, which Japanese expense systems read); moneyforward; zaim; ofx; qif; \
                hledger; beancount. Every record has an id that never changes. Records without a known amount are left out of \
                all but csv. sfcard and moneyforward hold yen only, a file of qif one currency. --claim writes rides for an \
                expense claim, return trips joined. What is left out, and what is missing in the period, is reported on \
                standard error.

                A file of --columns has one line for each column, HEADER = FIELD or HEADER = "text". Fields: date, time, kind, \
                line, from, to, title, fare, amount, spent, received, balance, roundtrip, total, currency, card, note, id. \
                Settings: \
                @encoding utf-8|utf-8-bom|cp932, @separator ,|;|tab, @newline crlf|lf, @header yes|no, @quote needed|always, \
                @date 2026-11-21|2026/11/21|20261121.

                Examples:
                  kazasu ledger export --claim --month 2026-11 -o claim.csv
                  kazasu ledger export --claim --columns office.txt -o claim.csv
                  kazasu ledger export sfcard --card Work -o work.csv
                  kazasu ledger export ofx --new -o new.ofx
                  kazasu ledger export hledger > suica.journal
                """,
                """
                形式: csv、sfcard（SFCard Viewer。多くの経費精算システムが読めます）、moneyforward、zaim、ofx、qif、hledger、beancount。
                履歴の ID は変わりません。金額が不明な履歴は csv 以外では省きます。sfcard と moneyforward は円だけ、qif は 1 ファイルに
                1 つの通貨だけです。--claim は交通費精算用に乗車だけを書き、往復を 1 行にまとめます。省いた履歴と、期間内の欠落は
                標準エラーに表示します。

                --columns のファイルには、列ごとに「見出し = 項目」または「見出し = "文字列"」を 1 行ずつ書きます。項目: date, time,
                kind, line, from, to, title, fare, amount, spent, received, balance, roundtrip, total, currency, card, note, id。
                設定: @encoding utf-8|utf-8-bom|cp932、@separator ,|;|tab、@newline crlf|lf、@header yes|no、@quote needed|always、
                @date 2026-11-21|2026/11/21|20261121。

                例:
                  kazasu ledger export --claim --month 2026-11 -o claim.csv
                  kazasu ledger export --claim --columns office.txt -o claim.csv
                  kazasu ledger export sfcard --card 通勤 -o work.csv
                  kazasu ledger export zaim --new -o new.csv
                  kazasu ledger export hledger > suica.journal
                """))

        @OptionGroup var common: CommonOptions
        @OptionGroup var file: LedgerFileOptions

        @Argument(
            help: help(
                "csv, sfcard, moneyforward, zaim, ofx, qif, hledger or beancount. Default with --claim or --columns: csv.",
                "csv、sfcard、moneyforward、zaim、ofx、qif、hledger、beancount のいずれか。--claim か --columns があれば csv を省略できます。"),
            completion: .list(LedgerFormat.allCases.map(\.rawValue)))
        var format: String?

        @OptionGroup var filter: LedgerFilterOptions

        @Flag(
            name: .long,
            help: help(
                "Only what no earlier export with --new wrote in this format and for this choice of records.",
                "同じ形式・同じ条件で前回 --new を付けて書き出した後の分だけ。"))
        var new = false

        @Flag(name: .long, help: help("Rides for an expense claim, return trips joined.", "交通費精算用の乗車一覧（往復は 1 行）。"))
        var claim = false

        @Option(
            name: .long, help: help("A file that describes the columns of CSV.", "CSV の列を書いたファイル。", value: "file"),
            completion: .file())
        var columns: String?

        @Flag(name: .long, help: help("Mark what is lost with a line of its own.", "欠落を 1 行として書く。"))
        var gaps = false

        @Option(
            name: .long,
            help: help(
                "hledger, beancount: the card's account. Default: Assets:Transit:NAME.",
                "hledger・beancount でのカードの勘定科目。省略時は Assets:Transit:名前。", value: "account"))
        var account: String?

        @Flag(
            name: .long,
            help: help("sfcard: leave out the first line with the card's number.", "sfcard で、カードIDの行（先頭行）を省く。"))
        var noCardLine = false

        @Option(name: .shortAndLong, help: help("Write to a file.", "ファイルに書く。", value: "file"), completion: .file())
        var output: String?

        @OptionGroup var csvOptions: CSVOptions

        /// The format, also where an option implies it.
        private var form: LedgerFormat? {
            format.map { LedgerFormat(rawValue: $0) } ?? (claim || columns != nil ? .csv : nil)
        }

        func validate() throws {
            let names = LedgerFormat.allCases.map(\.rawValue)
            guard let form else {
                guard let format else {
                    throw ValidationError(
                        tr(
                            "give a format: \(names.joined(separator: ", "))",
                            "形式を指定してください: \(names.joined(separator: "、"))"))
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
            try check("--claim", claim, form == .csv)
            try check("--columns", columns != nil, form == .csv)
            try check("--bom", csvOptions.bom, form == .csv)
            try check("--header", csvOptions.header != nil, form == .csv)
            try check("--no-card-line", noCardLine, form == .sfcard)
            try check("--account", account != nil, form == .hledger || form == .beancount)
            guard gaps, !claim, filter.records.kind != nil else { return }
            throw ValidationError(
                tr(
                    "--gaps cannot be used with --kind: a lost record may be of any kind",
                    "--gaps と --kind は同時に指定できません（欠落した履歴の種別はわかりません）"))
        }

        func execute(_ context: Context) throws {
            let columns = try self.columns.map { path throws(CommandError) in try Export.columns(path) }
            let output = try output.map { path throws(CommandError) in try OutputFile(path) }
            let ledger = try file.open(context)
            guard let form else { return }
            var options = LedgerExportOptions()
            (options.filter, options.onlyNew, options.isClaim) = (filter.filter, new, claim)
            (options.columns, options.account) = (columns, account)
            (options.hasGaps, options.hasCardLine) = (gaps, !noCardLine)
            options.hasByteOrderMark = csvOptions.bom || output != nil
            options.language = language(form)
            let stream = LedgerStream(output)
            let export = try context.ask { () throws(LedgerError) in
                try ledger.export(form, options) { stream.write($0) }
            }
            try stream.finish()
            if new, !context.redaction.isOn {
                try context.ask { () throws(LedgerError) in try ledger.didWrite(export) }
            }
            report(export, columns, context)
        }

        /// Says what was written, what was left out and why, and what is missing in the period.
        private func report(_ export: LedgerExport, _ columns: LedgerColumns?, _ context: Context) {
            let name = output.map { "\($0): " } ?? ""
            let count = Words.count(export.records, claim ? "line" : "record")
            let totals = export.totals.sorted { $0.key.rawValue < $1.key.rawValue }.map { $0.key.words($0.value) }
            let total = totals.isEmpty ? "" : tr(", total ", "、合計 ") + totals.joined(separator: tr(", ", "、"))
            context.note(name + tr(count, "\(export.records) 件") + total)
            if export.unknownFares > 0 {
                context.warn(
                    tr(
                        "\(Words.count(export.unknownFares, "ride")) without a known fare: no total has it",
                        "運賃が不明な乗車が \(export.unknownFares) 件あり、合計に含まれていません"))
            }
            if export.currencies.count > 1, columns?.hasCurrency == false {
                let names = export.currencies.map(\.rawValue).sorted().joined(separator: ", ")
                context.warn(
                    tr(
                        "the amounts are in several currencies (\(names)); add a column with the field 'currency', or choose cards with --card",
                        "金額に複数の通貨（\(names)）があります。currency の列を加えるか、--card でカードを選んでください"))
            }
            for (reason, words) in Export.omissions {
                let omissions = export.omissions.filter { $0.reason == reason }
                guard !omissions.isEmpty else { continue }
                let records = omissions.reduce(0) { $0 + $1.records }
                let cards = omissions.compactMap(\.purse).map {
                    "\($0.name(Language.current)) (\($0.currency.rawValue))"
                }
                let whose = cards.isEmpty ? "" : tr(": ", ": ") + cards.joined(separator: tr(", ", "、"))
                context.warn(
                    tr(
                        "\(Words.count(records, "record")) left out, \(words.english)",
                        "履歴 \(records) 件は省きました（\(words.japanese)）") + whose)
            }
            context.warn(of: export.missing)
        }

        /// Why records are left out.
        private static let omissions: [(LedgerExport.Omission.Reason, LocalizedText)] = [
            (.unknown, LocalizedText("as amount or day is unknown", "金額または日付が不明なため")),
            (.free, LocalizedText("as the ride cost nothing", "運賃がかからない乗車のため")),
            (.noBalance, LocalizedText("as the format needs a balance with its day", "日付のある残高が必要な形式のため")),
            (.currency, LocalizedText("as the format does not hold their currency", "この形式では扱えない通貨のため")),
        ]

        /// The programs that read a format decide on its language; CSV is the same in every locale.
        private func language(_ form: LedgerFormat) -> Language {
            switch form {
            case .sfcard, .moneyforward, .zaim: .japanese
            case .csv where !claim && columns == nil: csvOptions.header == .ja ? .japanese : .english
            case .csv: csvOptions.header.map { $0 == .ja ? .japanese : .english } ?? Language.current
            case .ofx, .qif, .hledger, .beancount: Language.current
            }
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

        @OptionGroup var common: CommonOptions
        @OptionGroup var file: LedgerFileOptions
        @OptionGroup var filter: LedgerFilterOptions

        @Option(name: .shortAndLong, help: help("Write to a file.", "ファイルに書く。", value: "file"), completion: .file())
        var output: String?

        func validate() throws {
            guard common.json else { return }
            throw ValidationError(tr("a report is HTML, not JSON", "レポートは HTML です（--json は使えません）"))
        }

        func execute(_ context: Context) throws {
            if output == nil, Output.isTerminal {
                throw CommandError(
                    .usage, "usage",
                    tr("the report is an HTML page, nothing for a terminal", "レポートは HTML のため、端末には表示できません"),
                    hint: tr(
                        "write it to a file with -o report.html, and open that in a browser",
                        "-o report.html でファイルに書き、ブラウザーで開いてください"))
            }
            let output = try output.map { path throws(CommandError) in try OutputFile(path) }
            let ledger = try file.open(context)
            let page = try context.ask { () throws(LedgerError) in
                try ledger.report(Language.current, filter.filter)
            }
            guard let output else { return try Output.write(page) }
            try output.finish(page)
            context.note(output.path)
        }
    }
}
