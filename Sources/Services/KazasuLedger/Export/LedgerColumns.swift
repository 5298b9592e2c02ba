// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
public import CardModel

/// The columns of a CSV file for a program whose layout Kazasu does not know, as a text that its user writes.
///
/// Each line is `HEADER = FIELD`, or a setting: `@encoding utf-8|utf-8-bom|cp932`, `@separator ,|;|tab`, `@newline crlf|lf`, `@header yes|no`,
/// `@quote needed|always`, `@date 2026-11-21|2026/11/21|20261121`, `@language en|ja`. `#` begins a comment. A field is the name of a
/// ``Field``, or a text in quotation marks for a column that is the same in every line.
public struct LedgerColumns: Hashable, Sendable {
    /// The content of a column. Money is in main units.
    @nonexhaustive
    public enum Field: String, Hashable, Sendable, CaseIterable {
        /// The day.
        case date
        /// The time, where the card has one.
        case time
        /// The kind of record, in the language of the export.
        case kind
        /// The line of the entry.
        case line
        /// Where a ride began.
        case from
        /// Where it ended.
        case to
        /// The description of the record.
        case title
        /// The fare of one way without a sign.
        case fare
        /// The amount with its sign: negative for spending.
        case amount
        /// The amount spent, without a sign.
        case spent
        /// The amount charged.
        case received
        /// The balance after the record.
        case balance
        /// `往復` for a ride with its way back, `片道` for another (`return`, `one way`).
        case roundtrip
        /// The cost of a whole line of a claim.
        case total
        /// The currency, as in `JPY`.
        case currency
        /// The card's name.
        case card
        /// Remarks about unknown values and gaps.
        case note
        /// The purpose of the ride, in the user's words.
        case purpose
        /// The stable id.
        case id
    }

    enum Content: Hashable {
        case field(Field)
        case text(String)
    }

    private var headers: [String] = []
    private var contents: [Content] = []
    private var settings: [String: String] = [:]

    /// The settings and their values; the first is the default.
    private static let known: [String: [String]] = [
        "encoding": ["utf-8", "utf-8-bom", "cp932"], "separator": [",", ";", "tab"], "newline": ["crlf", "lf"],
        "header": ["yes", "no"], "language": ["", "en", "ja"], "quote": ["needed", "always"],
        "date": ["2026-11-21", "2026/11/21", "20261121"],
    ]

    /// Reads a file of columns.
    ///
    /// - Throws: ``LedgerError/columns(line:_:)`` with the line, counted from 1.
    public init(_ text: String) throws(LedgerError) {
        var number = 0
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let line = LedgerColumns.trimmed(line.unicodeScalars)
            guard let first = line.first, first != "#" else { continue }
            if first == "@" {
                let parts = line.dropFirst().split(separator: " ", maxSplits: 1).map {
                    String(LedgerColumns.trimmed($0))
                }
                guard parts.count == 2, LedgerColumns.known[parts[0]]?.contains(parts[1]) ?? false else {
                    throw .columns(line: number, .unknownSetting(String(line)))
                }
                settings[parts[0]] = parts[1]
                continue
            }
            guard let (header, content) = try LedgerColumns.column(line, number) else {
                throw .columns(line: number, .malformed)
            }
            headers.append(header)
            contents.append(content)
        }
        if headers.isEmpty { throw .columns(line: max(1, number), .noColumns) }
    }

    /// `HEADER = "TEXT"` ends at its first quotation mark after a sign of equality, so that the text may have both; `HEADER = FIELD` at its last
    /// sign of equality, so that the header may have it.
    private static func column(
        _ line: Substring.UnicodeScalarView, _ number: Int
    ) throws(LedgerError) -> (String, Content)? {
        for equals in line.indices where line[equals] == "=" && line.last == "\"" {
            let value = trimmed(line[line.index(after: equals)...])
            guard value.first == "\"", value.count >= 2 else { continue }
            return (String(trimmed(line[..<equals])), .text(String(value.dropFirst().dropLast())))
        }
        guard let equals = line.lastIndex(of: "=") else { return nil }
        let value = String(trimmed(line[line.index(after: equals)...]))
        guard let field = Field(rawValue: value) else { throw .columns(line: number, .unknownField(value)) }
        return (String(trimmed(line[..<equals])), .field(field))
    }

    private init(_ columns: [(String, Field)]) {
        headers = columns.map(\.0)
        contents = columns.map { .field($0.1) }
    }

    /// The usual columns of an expense claim.
    ///
    /// - Parameters:
    ///   - language: the language of the headers.
    ///   - hasPurpose: whether there is a column for the purpose of the rides.
    public static func claim(_ language: Language, hasPurpose: Bool = false) -> LedgerColumns {
        let fields: [(Field, LocalizedText)] = [
            (.date, LocalizedText("date", "日付")), (.line, LocalizedText("line", "路線")),
            (.from, LocalizedText("from", "出発")), (.to, LocalizedText("to", "到着")),
            (.roundtrip, LocalizedText("trip", "片道・往復")), (.fare, LocalizedText("fare", "片道運賃")),
            (.total, LocalizedText("total", "金額")), (.currency, LocalizedText("currency", "通貨")),
            (.card, LocalizedText("card", "カード")), (.purpose, LocalizedText("purpose", "目的")),
            (.note, LocalizedText("note", "備考")), (.id, LocalizedText("id", "ID")),
        ]
        return LedgerColumns(fields.filter { hasPurpose || $0.0 != .purpose }.map { ($0.1[language], $0.0) })
    }

    private static func trimmed(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        let start = text.drop { $0.properties.isWhitespace }
        guard let end = start.lastIndex(where: { !$0.properties.isWhitespace }) else { return start }
        return start[...end]
    }

    // MARK: Writing

    typealias Line = [Field: String]

    /// The language of values: the file's own, else that of the export.
    private func language(_ options: LedgerExportOptions) -> Language {
        Language(rawValue: setting("language")) ?? options.language
    }

    /// The language of lines and stations: as asked for, else that of the file or of the claim; columns without either are for Japanese programs.
    private func placeLanguage(_ options: LedgerExportOptions) -> Language {
        options.placeLanguage ?? Language(rawValue: setting("language"))
            ?? (options.isClaim ? options.language : .japanese)
    }

    private func setting(_ name: String) -> String { settings[name] ?? LedgerColumns.known[name]?.first ?? "" }

    /// Whether the lines state their currency.
    package var hasCurrency: Bool { contents.contains(.field(.currency)) }

    private var csv: CSV {
        var csv = CSV()
        switch setting("separator") {
        case "tab": csv.separator = "\t"
        case ";": csv.separator = ";"
        default: break
        }
        csv.newline = setting("newline") == "lf" ? "\n" : "\r\n"
        csv.quotesAll = setting("quote") == "always"
        return csv
    }

    /// Begins a file: its character set, and the headers.
    func begin(_ sink: ExportSink, _ options: LedgerExportOptions) throws(LedgerError) {
        switch setting("encoding") {
        case "cp932": try sink.useCP932()
        case "utf-8-bom": sink.write("\u{FEFF}")
        default: if options.hasByteOrderMark { sink.write("\u{FEFF}") }
        }
        if setting("header") == "yes" { sink.write(csv.row(headers.map { .text($0) })) }
    }

    /// Writes a row for each currency: its name in the first column, the money in those for what a line costs.
    func writeTotals(_ export: LedgerExport, _ options: LedgerExportOptions, to sink: ExportSink) {
        let language = language(options)
        for (currency, total) in export.totals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let cells = contents.enumerated().map { index, content -> CSV.Cell in
                switch content {
                case .field(.total), .field(.spent): .number(currency.text(total))
                case .field(.amount): .number(currency.text(0 &- total))
                case .field(.currency): .text(currency.rawValue)
                default: index == 0 ? .text(LocalizedText("total", "合計")[language]) : ""
                }
            }
            sink.write(csv.row(cells))
        }
    }

    func write(_ lines: [Line], to sink: ExportSink) {
        let (csv, date) = (csv, setting("date"))
        for line in lines {
            let cells: [CSV.Cell] = contents.map { content in
                switch content {
                case .text(let text): return .text(text)
                case .field(.date) where date != "2026-11-21":
                    let parts = line[.date]?.split(separator: "-") ?? []
                    return .text(parts.joined(separator: date == "20261121" ? "" : "/"))
                case .field(let field):
                    switch field {
                    case .fare, .amount, .spent, .received, .balance, .total: return .number(line[field])
                    default: return .text(line[field])
                    }
                }
            }
            sink.write(csv.row(cells))
        }
    }

    /// A record, and the gap before it where gaps have lines of their own.
    func lines(_ entry: LedgerRecord, _ options: LedgerExportOptions) -> [Line] {
        let (language, currency) = (language(options), entry.purse.currency)
        let (record, amount, money) = (entry.record, entry.record.amount, currency.text)
        var line: Line = [
            .title: ExportText.title(entry, language), .kind: record.kind.name[language], .id: entry.uid,
            .card: entry.purse.name(language), .currency: currency.rawValue,
        ]
        line[.date] = record.date?.description
        line[.time] = record.time?.hourAndMinute
        let places = placeLanguage(options)
        line[.line] = record.entry?.lineLabel(places)
        line[.from] = record.entry?.cell(places)
        line[.to] = record.exit?.cell(places)
        line[.amount] = amount.map(money)
        line[.spent] = amount.flatMap { $0 < 0 ? money(0 &- $0) : nil }
        line[.received] = amount.flatMap { $0 > 0 ? money($0) : nil }
        line[.fare] = line[.spent]
        line[.total] = line[.spent]
        line[.balance] = record.balance.map(money)
        if amount == nil { line[.note] = LocalizedText("amount unknown", "金額不明")[language] }
        guard options.hasGaps, let gap = entry.gapBefore else { return [line] }
        return [self.line(gap, before: entry, record.date, language), line]
    }

    /// A gap as a line of a claim. Its money is that of records of any kind, so no fare is given.
    func line(_ report: LedgerGapReport, _ options: LedgerExportOptions) -> Line {
        let language = language(options)
        var line = line(report.gap, before: report.after, options.filter.day(of: report), language)
        line[.amount] = nil
        let days = [report.before, report.after].map { $0.record.date?.description ?? "?" }
        line[.note]?.append(
            language == .japanese ? "（\(days[0])～\(days[1])）" : ", \(days[0]) to \(days[1])")
        return line
    }

    private func line(
        _ gap: LedgerGap, before record: LedgerRecord, _ date: CalendarDate?, _ language: Language
    ) -> Line {
        let currency = record.purse.currency
        let title = ExportText.title(gap, language)
        var line: Line = [
            .title: title, .note: title, .id: ExportText.id(of: record), .card: record.purse.name(language),
            .kind: LocalizedText("gap", "欠落")[language], .currency: currency.rawValue,
        ]
        line[.date] = date?.description
        line[.amount] = gap.amount.map(currency.text)
        return line
    }

    func line(_ claim: LedgerClaim, _ options: LedgerExportOptions) -> Line {
        let (language, currency) = (language(options), claim.purse.currency)
        var line: Line = [
            .date: claim.date.description, .card: claim.purse.name(language), .currency: currency.rawValue,
            .kind: (claim.isBus ? RecordKind.bus : .rail).name[language],
            .roundtrip: (claim.isReturn ? LocalizedText("return", "往復") : LocalizedText("one way", "片道"))[language],
            .id: claim.rides.map(\.uid).joined(separator: " "),
        ]
        line[.title] = claim.rides.first.map { ExportText.title($0, language) }
        let places = placeLanguage(options)
        line[.line] = claim.from?.lineLabel(places)
        line[.from] = claim.from?.cell(places)
        line[.to] = claim.to?.cell(places)
        line[.purpose] = options.claim.purpose
        line[.fare] = claim.fare.map(currency.text)
        line[.total] = claim.total.map(currency.text)
        line[.spent] = line[.total]
        line[.amount] = claim.total.map { currency.text(0 &- $0) }
        if claim.fare == nil { line[.note] = LocalizedText("fare unknown", "運賃不明")[language] }
        return line
    }
}

extension Place {
    /// The station's name, the company of a bus without a stop, or codes in a form of which no spreadsheet makes a date.
    fileprivate func cell(_ language: Language) -> String {
        if case .busStop(let code) = code, code.stop == 0, name?.name == nil, let company = name?.company(in: language)
        {
            return company
        }
        return name?.names(language) ?? code.key
    }
}
