// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import CardDecoders
import CardModel
import KazasuCLI
public import KazasuService

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
                all but csv. --claim writes rides for an expense claim, return trips joined.

                A file of --columns has one line for each column, HEADER = FIELD or HEADER = "text". Fields: date, time, kind, \
                line, from, to, title, fare, amount, spent, received, balance, roundtrip, total, card, id. Settings: \
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
                履歴の ID は変わりません。金額が不明な履歴は csv 以外では省きます。--claim は交通費精算用に乗車だけを書き、往復を
                1 行にまとめます。

                --columns のファイルには、列ごとに「見出し = 項目」または「見出し = "文字列"」を 1 行ずつ書きます。項目: date, time,
                kind, line, from, to, title, fare, amount, spent, received, balance, roundtrip, total, card, id。
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
                "csv、sfcard、moneyforward、zaim、ofx、qif、hledger、beancount のいずれか。--claim か --columns があれば csv を省略できます。"))
        var format: LedgerFormat?

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
        private var form: LedgerFormat? { format ?? (claim || columns != nil ? .csv : nil) }

        func validate() throws {
            guard let form else {
                throw ValidationError(
                    tr(
                        "give a format: \(LedgerFormat.allCases.map(\.rawValue).joined(separator: ", "))",
                        "形式を指定してください: \(LedgerFormat.allCases.map(\.rawValue).joined(separator: "、"))"))
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
        }

        func execute(_ context: Context) throws {
            let columns = try columns.map { path throws(CommandError) in try Export.columns(path) }
            let output = try output.map { path throws(CommandError) in try OutputFile(path) }
            let ledger = try file.open(context)
            guard let form else { return }
            var options = LedgerExportOptions()
            (options.filter, options.onlyNew, options.isClaim) = (filter.filter, new, claim)
            (options.columns, options.account) = (columns, account)
            (options.hasGaps, options.hasCardLine) = (gaps, !noCardLine)
            options.hasByteOrderMark = csvOptions.bom || output != nil
            options.language = language(form)
            let export = try context.ask { () throws(LedgerError) in try ledger.export(form, options) }
            if let output { try output.finish(export.data) } else { try Output.write(export.data) }
            if new, !context.redaction.isOn {
                try context.ask { () throws(LedgerError) in try ledger.didWrite(export) }
            }
            let name = output.map { "\($0.path): " } ?? ""
            let count = claim ? Words.count(export.records, "line") : Words.count(export.records, "record")
            context.note(name + tr(count, "\(export.records) 件"))
            if export.leftOut > 0 {
                context.note(
                    tr(
                        "\(Words.count(export.leftOut, "record")) left out, as amount or day is unknown",
                        "金額または日付が不明な履歴 \(export.leftOut) 件は省きました"))
            }
        }

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

extension LedgerFormat: ExpressibleByArgument {}
