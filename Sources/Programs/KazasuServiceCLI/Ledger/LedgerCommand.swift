// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc
import Kazasu
import KazasuCLI
import KazasuLedger

/// `kazasu ledger`
struct LedgerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: ServiceCommand.ledger.abstract,
        discussion: tr(
            """
            'history --keep' adds the records of a card to the ledger: one SQLite file, each record once, with what is \
            missing between them. From it come lists, sums, expense claims, files for other programs, and a report page.

            Examples:
              kazasu history --keep                              # once a week, say
              kazasu ledger list --month 2026-11
              kazasu ledger sum --by month
              kazasu ledger export --claim --month 2026-11 -o claim.csv
              kazasu ledger export ofx --new -o "$(date +%F).ofx"
              kazasu ledger report -o report.html
            """,
            """
            'history --keep' でカードの履歴を台帳に追加します。台帳は SQLite のファイル 1 つで、同じ履歴は一度だけ記録し、抜けている
            履歴も調べます。台帳からは一覧、集計、交通費精算、他のソフト用のファイル、レポートを作れます。

            例:
              kazasu history --keep                              # 週に一度など
              kazasu ledger list --month 2026-11
              kazasu ledger sum --by month
              kazasu ledger export --claim --month 2026-11 -o claim.csv
              kazasu ledger export zaim --new -o "$(date +%F).csv"
              kazasu ledger report -o report.html
            """),
        subcommands: [
            List.self, Sum.self, Gaps.self, Cards.self, Import.self, Export.self, Report.self, Name.self, Link.self,
            Redecode.self, Forget.self, Undo.self, Backup.self, Merge.self,
        ])
}

/// Which ledger, and the names of its stations.
struct LedgerFileOptions: ParsableArguments {
    @OptionGroup var place: LedgerPath

    @OptionGroup var stationOptions: StationOptions

    /// Opens a ledger that exists: a question makes no file.
    func open(_ context: Context) throws(CommandError) -> Ledger {
        let path = try LedgerFileOptions.path(place.ledger)
        guard access(path, F_OK) == 0 || errno != ENOENT && errno != ENOTDIR else {
            let keep = Caller.current.command("history", .localFlag("keep"))
            let caller = Caller.current
            let file =
                caller == .commandLine
                ? caller.command("ledger import", .file) : caller.command("decode", .localFlag("keep"))
            throw CommandError(.ledgerNone, values: [keep, file])
        }
        let names = try stationOptions.names()
        return try LedgerFileOptions.open(path, isRedacted: context.redaction.isOn) {
            // A question reads most pages once.
            ($0.stations, $0.cacheSize) = (names, 8_192)
        }
    }

    /// Opens a ledger to add to it; makes it if there is none.
    ///
    /// - Parameter isScratch: whether the file is a copy that is removed afterwards.
    static func open(
        _ path: String, isRedacted: Bool, isScratch: Bool = false, _ change: (inout Ledger.Options) -> Void = { _ in }
    ) throws(CommandError) -> Ledger {
        var options = Ledger.Options()
        options.isRedacted = isRedacted
        change(&options)
        try FilesInUse.shared.keeps(path)
        do {
            let ledger = try Ledger.open(path, options: options)
            // Said even with -q: an earlier version can no longer read the file.
            if let copy = ledger.olderCopy, !isScratch {
                Output.message(
                    tr(
                        "kazasu: the ledger was updated to this version's format; \(copy) is a copy from before\n",
                        "kazasu: 台帳をこのバージョンの形式に更新しました。更新前の写し: \(copy)\n"))
            }
            return ledger
        } catch {
            throw CommandError(error)
        }
    }

    /// The path of a ledger: the option's, else the usual one.
    static func path(_ option: String?) throws(CommandError) -> String {
        if let option {
            guard !option.isEmpty else { throw .emptyName("--ledger") }
            return option
        }
        do {
            return try Ledger.defaultPath(environment: SystemEnvironment.all)
        } catch {
            throw CommandError(error)
        }
    }
}

/// A year as people write it.
struct YearArgument: ExpressibleByArgument, Equatable, Sendable {
    static var example: LocalizedText? { LocalizedText("2026", "2026") }
    static var pattern: String? { "^[0-9]{4}$" }

    let days: ClosedRange<CalendarDate>

    init?(argument: String) {
        guard argument.count == 4, let first = CalendarDate(argument + "-01-01"),
            let last = CalendarDate(argument + "-12-31")
        else { return nil }
        days = first...last
    }
}

/// Which records.
struct LedgerFilterOptions: ParsableArguments {
    @Option(
        reach: .network, name: .long,
        help: help(
            "Only these cards: a name given with 'ledger name', a brand, a kind such as transit, an IDm or its last digits.",
            "このカードだけ: 'ledger name' で付けた名前、ブランド、transit などの種類、IDm またはその末尾。",
            programs: LocalizedText(
                "Only these cards: a name, a brand, a kind such as transit, an IDm or its last digits.",
                "このカードだけ: 名前、ブランド、transit などの種類、IDm またはその末尾。"), value: "card"),
        completion: LedgerCompletion.cards)
    var card: [String] = []

    @Option(
        reach: .network, name: .long,
        help: help("Only this month, YYYY-MM; this or last.", "この月だけ（YYYY-MM、this、last）。", value: "month"),
        completion: LedgerCompletion.months)
    var month: MonthArgument?

    @Option(reach: .network, name: .long, help: help("Only this year, YYYY.", "この年だけ（YYYY）。", value: "year"))
    var year: YearArgument?

    @OptionGroup var records: HistoryFilter

    func validate() throws {
        let given = [
            ("--month", month != nil), ("--year", year != nil), ("--since", records.since != nil),
            ("--until", records.until != nil),
        ].filter(\.1).map(\.0)
        guard given.count > 1, month != nil || year != nil else { return }
        throw ValidationError(
            tr("\(given[0]) cannot be used with \(given[1])", "\(given[0]) と \(given[1]) は同時に指定できません"))
    }

    /// The filter for a ledger; notes the cards of unknown brand that the word of a brand leaves out.
    func filter(_ ledger: Ledger, _ context: Context) throws -> LedgerFilter {
        let filter = filter
        for (purse, isRead) in try ledger.purses(ofUnknownBrandIn: filter) {
            let (name, digits) = (purse.name(Language.current), String(purse.card.suffix(4)))
            let choice = Caller.current.option("card", digits)
            let keep = Caller.current.command("history", .localFlag("keep"))
            context.warn(
                isRead
                    ? tr(
                        "\(name) is left out: the card does not tell its brand; \(choice) chooses it",
                        "\(name) は対象外です（カードからブランドを判別できません）。\(choice) で指定できます")
                    : tr(
                        "\(name) is left out: its brand is not known yet; \(keep) reads it, \(choice) chooses the card",
                        "\(name) は対象外です（ブランドが未取得）。\(keep) で取得できます。\(choice) でも指定できます"))
        }
        return filter
    }

    private var filter: LedgerFilter {
        var filter = LedgerFilter()
        filter.cards = card
        if let days = month?.days ?? year?.days { (filter.since, filter.until) = (days.lowerBound, days.upperBound) }
        filter.since = filter.since ?? records.since
        filter.until = filter.until ?? records.until
        filter.kinds = records.kind?.kinds ?? []
        return filter
    }
}

/// The form of an answer, and where it goes.
struct LedgerAnswerOptions: ParsableArguments {
    /// The forms.
    enum Format: String, CaseIterable, ExpressibleByArgument, Sendable {
        case text, json, csv

        /// The forms by the ending of a file.
        static let endings: [String: [Format]] = ["csv": [.csv], "json": [.json], "txt": [.text]]
    }

    @Option(
        reach: .never, name: .long,
        help: help(
            "text, json or csv. Default: by the ending of -o, else text.",
            "text、json、csv のいずれか。省略時は -o の拡張子による形式、なければ text。"))
    var format: Format?

    @Option(
        reach: .never, name: .joined("o"), help: help("Write to a file.", "ファイルに書く。", value: "file"),
        completion: .file())
    var output: String?

    @OptionGroup var csvOptions: CSVOptions

    /// Checks the options against `--json`, and against the ending of the file.
    func check(_ common: CommonOptions) throws {
        try common.check("--format", format?.rawValue)
        try OutputEnding(output).check(
            format.map { "--format \($0.rawValue)" } ?? "--json", format ?? (common.json ? .json : nil),
            Format.endings)
        try csvOptions.check(isCSV: form(isJSON: common.json) == .csv)
    }

    /// The file, opened before the work.
    func file() throws(CommandError) -> OutputFile? {
        try output.map { path throws(CommandError) in try OutputFile(path) }
    }

    var csvLanguage: Language { csvOptions.header == .ja ? .japanese : .english }

    /// The form of the answer.
    func form(_ context: Context) -> Format { form(isJSON: context.json) }

    private func form(isJSON: Bool) -> Format {
        format ?? (isJSON ? .json : OutputEnding(output).format(Format.endings) ?? .text)
    }

    /// Writes the answer in its form.
    func write(
        _ context: Context, to file: OutputFile?, json: () -> JSONValue, text: (_ width: Int?) -> String,
        csv: () -> String
    ) throws(CommandError) {
        switch (form(context), file) {
        case (.json, nil): try context.print(json())
        case (.json, let file?): try file.finish(context.redaction.apply(json()).prettyText + "\n")
        case (.csv, nil): try context.print(escaped: csvOptions.text(csv()))
        case (.csv, let file?): try file.finish(csvOptions.text(csv(), isFile: true))
        case (.text, nil): try context.print(text(Output.lineWidth))
        case (.text, let file?): try file.finish(VisibleText.lines(text(nil)))
        }
        if let file { context.note(tr("wrote \(file.path)", "\(file.path) に書きました")) }
    }
}

/// Streams an answer. Short ones are buffered until the ledger is closed, so an open pager holds no lock.
final class LedgerStream {
    private let file: OutputFile?
    private var held: [UInt8] = []
    private var failure: CommandError?

    private static let limit = 8 << 20

    /// - Parameter file: the file of `-o`; standard output for `nil`.
    init(_ file: OutputFile?) { self.file = file }

    /// Writes a piece.
    ///
    /// - Returns: whether more can be written; else ``finish()`` throws the reason.
    func write(_ bytes: [UInt8]) -> Bool {
        guard failure == nil else { return false }
        held += bytes
        let limit = file == nil ? LedgerStream.limit : 1 << 16
        if held.count >= limit { flush() }
        return failure == nil
    }

    /// Whether nothing more can be written.
    var isStopped: Bool { failure != nil }

    /// Writes a piece of text.
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    private func flush() {
        do throws(CommandError) {
            if let file { try file.append(held) } else { try Output.write(held) }
        } catch {
            failure = error
        }
        held.removeAll(keepingCapacity: true)
    }

    /// Writes the rest, and moves a file into its place.
    func finish() throws(CommandError) {
        if failure == nil { flush() }
        if let failure { throw failure }
        try file?.finish([])
    }
}

extension Context {
    /// Says that an answer lacks what is lost in its period.
    func warn(ofIncomplete missing: LedgerMissing, _ what: LocalizedText) {
        guard missing.gaps > 0 else { return }
        let gaps = Caller.current.command("ledger gaps")
        warn(
            tr(
                "\(Words.count(missing.gaps, "gap")) in the period, \(LedgerWords.missing(missing)): \(what.english); \(gaps) shows where",
                "期間内に欠落が \(missing.gaps) か所（\(LedgerWords.missing(missing))）あり、\(what.japanese)。詳しくは \(gaps)"
            ))
    }

    /// Reports the gaps of the chosen days: the newest with their days and money, and how many more there are.
    func warn(of missing: LedgerMissing) {
        for gap in missing.newest { warn(LedgerWords.gap(gap)) }
        let rest = missing.gaps - missing.newest.count
        guard rest > 0 else { return }
        warn(
            tr("\(Words.count(rest, "more gap")): kazasu ledger gaps", "ほかに \(rest) か所の欠落があります: kazasu ledger gaps"))
    }
}

/// Completion of names and kinds of cards, which makes no ledger.
enum LedgerCompletion {
    /// This month and those before it, a year in all.
    static let months = CompletionKind.custom { _, _, _ in
        guard let day = CalendarDate(argument: "today") else { return [] }
        let newest = Int(day.year) * 12 + Int(day.month) - 1
        return (0...12).map { back in
            let month = newest - back
            return "\(month / 12)-\(month % 12 < 9 ? "0" : "")\(month % 12 + 1)"
        }
    }

    static let cards = CompletionKind.custom { words, _, _ in
        let named = zip(words, words.dropFirst()).first { $0.0 == "--ledger" }?.1
        guard let path = try? LedgerFileOptions.path(named), access(path, R_OK | W_OK) == 0,
            let ledger = try? Ledger.open(path), let cards = try? ledger.cards()
        else { return [] }
        var values: [String] = []
        for card in cards {
            for value in [
                card.purse.cardName ?? String(card.purse.card.suffix(4)), card.purse.brand?.id, card.purse.kind,
            ].compactMap(\.self)
            where !values.contains(value) {
                values.append(value)
            }
        }
        return values
    }
}

extension LedgerWords {
    /// How many records are lost in all gaps together.
    static func missing(_ missing: LedgerMissing) -> String {
        switch missing.atMost {
        case 0?: tr("no record lost, but balances differ", "履歴はそろっているが残高が不一致")
        case missing.atLeast?: tr("\(Words.count(missing.atLeast, "record")) lost", "履歴 \(missing.atLeast) 件")
        case let most?: tr("\(missing.atLeast) to \(most) records lost", "履歴 \(missing.atLeast)～\(most) 件")
        case nil where missing.atLeast == 0: tr("an unknown number of records lost", "履歴（件数不明）")
        case nil: tr("at least \(Words.count(missing.atLeast, "record")) lost", "履歴 \(missing.atLeast) 件以上")
        }
    }
}
