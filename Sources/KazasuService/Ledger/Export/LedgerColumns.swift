// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
public import CardModel

/// The columns of a CSV file for a program whose layout Kazasu does not know, as a text that its user writes.
///
/// Each line is `HEADER = FIELD`, or a setting: `@encoding utf-8|utf-8-bom|cp932`, `@separator ,|;|tab`, `@newline crlf|lf`, `@header yes|no`,
/// `@quote needed|always`, `@date 2026-11-21|2026/11/21|20261121`. `#` begins a comment. A field is the name of a
/// ``Field``, or a text in quotation marks for a column that is the same in every line.
public struct LedgerColumns: Hashable, Sendable {
    /// What a column holds. Money is in main units.
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
        /// What the record is about, in one text.
        case title
        /// The fare of one way without a sign.
        case fare
        /// What is signed: negative for spending.
        case amount
        /// What was taken off, without a sign.
        case spent
        /// What was put on.
        case received
        /// The balance after the record.
        case balance
        /// `往復` for a ride with its way back, `片道` for another (`return`, `one way`).
        case roundtrip
        /// All that a line of a claim costs.
        case total
        /// The card's name.
        case card
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

    /// The settings that there are, and their words; the first is the usual one.
    private static let known: [String: [String]] = [
        "encoding": ["utf-8", "utf-8-bom", "cp932"], "separator": [",", ";", "tab"], "newline": ["crlf", "lf"],
        "header": ["yes", "no"], "quote": ["needed", "always"], "date": ["2026-11-21", "2026/11/21", "20261121"],
    ]

    /// Reads a file of columns.
    ///
    /// - Throws: ``LedgerError/columns(line:_:)`` with the line, counted from 1.
    public init(_ text: String) throws(LedgerError) {
        var number = 0
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            number += 1
            let line = LedgerColumns.trimmed(line)
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("@") {
                let parts = line.dropFirst().split(separator: " ", maxSplits: 1).map { LedgerColumns.trimmed($0) }
                guard parts.count == 2, LedgerColumns.known[parts[0]]?.contains(parts[1]) ?? false else {
                    throw .columns(line: number, .unknownSetting(line))
                }
                settings[parts[0]] = parts[1]
                continue
            }
            guard let equals = line.lastIndex(of: "=") else { throw .columns(line: number, .malformed) }
            let (header, value) = (
                LedgerColumns.trimmed(line[..<equals]), LedgerColumns.trimmed(line[line.index(after: equals)...])
            )
            headers.append(header)
            if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") {
                contents.append(.text(String(value.dropFirst().dropLast())))
            } else if let field = Field(rawValue: value) {
                contents.append(.field(field))
            } else {
                throw .columns(line: number, .unknownField(value))
            }
        }
        if headers.isEmpty { throw .columns(line: max(1, number), .noColumns) }
    }

    private init(_ columns: [(String, Field)]) {
        headers = columns.map(\.0)
        contents = columns.map { .field($0.1) }
    }

    /// The usual columns of an expense claim.
    public static func claim(_ language: Language) -> LedgerColumns {
        let fields: [(Field, LocalizedText)] = [
            (.date, LocalizedText("date", "日付")), (.line, LocalizedText("line", "路線")),
            (.from, LocalizedText("from", "出発")), (.to, LocalizedText("to", "到着")),
            (.roundtrip, LocalizedText("trip", "片道・往復")), (.fare, LocalizedText("fare", "片道運賃")),
            (.total, LocalizedText("total", "金額")), (.card, LocalizedText("card", "カード")),
            (.id, LocalizedText("id", "ID")),
        ]
        return LedgerColumns(fields.map { ($0.1[language], $0.0) })
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    // MARK: Writing

    /// The values of a line.
    typealias Line = [Field: String]

    func write(_ lines: [Line], _ options: LedgerExportOptions) throws(LedgerError) -> [UInt8] {
        func setting(_ name: String) -> String { settings[name] ?? LedgerColumns.known[name]?.first ?? "" }
        let rows = lines.map { line in
            contents.map { content in
                switch content {
                case .text(let text): return text
                case .field(let field):
                    let value = line[field] ?? ""
                    switch field {
                    case .date where setting("date") != "2026-11-21":
                        return value.split(separator: "-").joined(separator: setting("date") == "20261121" ? "" : "/")
                    case .fare, .amount, .spent, .received, .balance, .total: return value
                    default: return ExportText.cell(value)
                    }
                }
            }
        }
        let separator = setting("separator") == "tab" ? "\t" : setting("separator")
        let text = ExportText.csv(
            (setting("header") == "yes" ? [headers] : []) + rows, quotesAll: setting("quote") == "always",
            separator: separator, newline: setting("newline") == "lf" ? "\n" : "\r\n")
        switch setting("encoding") {
        case "cp932": return try ExportText.cp932(text)
        case "utf-8-bom": return Array(("\u{FEFF}" + text).utf8)
        default: return Array(((options.hasByteOrderMark ? "\u{FEFF}" : "") + text).utf8)
        }
    }

    static func lines(_ chains: [ExportChain], _ options: LedgerExportOptions) -> [Line] {
        let language = options.language
        return chains.flatMap(\.records).map { entry in
            let money = entry.purse.currency.text
            let (record, amount) = (entry.record, entry.record.amount)
            var line: Line = [
                .title: ExportText.title(entry, language), .kind: record.kind.name[language], .id: entry.uid,
                .card: entry.purse.name(language),
            ]
            line[.date] = record.date?.description
            line[.time] = record.time?.hourAndMinute
            line[.line] = record.entry?.lineLabel
            line[.from] = record.entry?.label
            line[.to] = record.exit?.label
            line[.amount] = amount.map(money)
            line[.spent] = amount.flatMap { $0 < 0 ? money(0 &- $0) : nil }
            line[.received] = amount.flatMap { $0 > 0 ? money($0) : nil }
            line[.fare] = line[.spent]
            line[.total] = line[.spent]
            line[.balance] = record.balance.map(money)
            return line
        }
    }

    static func lines(_ claims: [LedgerClaim], _ options: LedgerExportOptions) -> [Line] {
        let language = options.language
        return claims.map { claim in
            let money = claim.purse.currency.text
            var line: Line = [
                .date: claim.date.description, .card: claim.purse.name(language),
                .kind: (claim.isBus ? RecordKind.bus : .rail).name[language],
                .roundtrip: (claim.isReturn ? LocalizedText("return", "往復") : LocalizedText("one way", "片道"))[language],
                .id: claim.rides.map(\.uid).joined(separator: " "),
            ]
            line[.title] = claim.rides.first.map { ExportText.title($0, language) }
            line[.line] = claim.from?.lineLabel
            line[.from] = claim.from?.label
            line[.to] = claim.to?.label
            line[.fare] = claim.fare.map(money)
            line[.total] = claim.total.map(money)
            line[.spent] = line[.total]
            line[.amount] = claim.total.map { money(0 &- $0) }
            return line
        }
    }
}
