// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
package import CardModel

/// One column of an answer: a column of the table, a field of CSV, a member of JSON, or only some of these.
package struct AnswerColumn<Row> {
    /// How the column looks in a table.
    struct Heading {
        let title: LocalizedText
        var isRight = false
        /// Whether the column is left out where it is empty in every row.
        var hidesEmpty = false
        /// Whether the column is left out first where a terminal is narrow.
        var givesWay = false
        /// Whether the column is never left out, not even where all rows have the same.
        var stays = false
        /// Whether the rows need the column at all.
        var isNeeded: ([Row]) -> Bool = { _ in true }
        let cell: (Row, Language) -> String
    }

    /// The name in CSV and JSON.
    let key: String
    /// The Japanese name in CSV.
    var japanese = ""
    var heading: Heading?
    var csv: ((Row, Language) -> CSV.Cell)?
    var json: ((Row, Language) -> JSONValue)?
}

/// Rows of an answer in its three forms.
package struct Answer<Row> {
    let schema: String
    let member: String
    let columns: [AnswerColumn<Row>]
    let currency: (Row) -> Currency

    /// The document; each row ends with its currency.
    package func json(
        _ rows: [Row], _ language: Language, _ others: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue {
        LedgerJSON.document(
            schema, [(member, .array(rows.map { json($0, language) }))] + others.map { ($0.key, $0.value) })
    }

    func json(_ row: Row, _ language: Language) -> JSONValue {
        let members = columns.compactMap { column in column.json.map { (column.key, $0(row, language)) } }
        return LedgerJSON.money(members, currency(row))
    }

    /// The rows with their head.
    package func csv(_ rows: [Row], _ language: Language) -> String {
        let shown = columns.compactMap { column in column.csv.map { (column, $0) } }
        let head = shown.map { CSV.Cell.text(language == .japanese ? $0.0.japanese : $0.0.key) }
        return CSV().row(head) + rows.map { row in CSV().row(shown.map { $0.1(row, language) }) }.joined()
    }

    /// The table with its head; nothing for no rows.
    package func table(_ rows: [Row], _ language: Language) -> AnswerTable {
        guard !rows.isEmpty else { return AnswerTable(cells: [], rightAligned: [], givesWay: [], stays: []) }
        let shown = columns.compactMap(\.heading).filter { $0.isNeeded(rows) }.map { heading in
            (heading: heading, cells: rows.map { heading.cell($0, language) })
        }.filter { column in !column.heading.hidesEmpty || column.cells.contains { !$0.isEmpty } }
        let head = shown.map { $0.heading.title[language] }
        let cells = rows.indices.map { index in shown.map { $0.cells[index] } }
        return AnswerTable(
            cells: [head] + cells, rightAligned: Set(shown.indices.filter { shown[$0].heading.isRight }),
            givesWay: Set(shown.indices.filter { shown[$0].heading.givesWay }),
            stays: Set(shown.indices.filter { shown[$0].heading.stays }))
    }
}

/// The cells of a table with its head.
package struct AnswerTable {
    package let cells: [[String]]
    /// The columns that are aligned right.
    package let rightAligned: Set<Int>
    /// The columns that are left out first where a terminal is narrow.
    package let givesWay: Set<Int>
    /// The columns that are never left out.
    package let stays: Set<Int>
}

extension AnswerColumn {
    /// A text for people and scripts alike.
    static func text(
        _ key: String, _ japanese: String, table: LocalizedText? = nil, hidesEmpty: Bool = false,
        givesWay: Bool = false, _ value: @escaping (Row) -> String?
    ) -> AnswerColumn {
        AnswerColumn(
            key: key, japanese: japanese,
            heading: table.map { title in
                Heading(title: title, hidesEmpty: hidesEmpty, givesWay: givesWay) { row, _ in value(row) ?? "-" }
            }, csv: { row, _ in .text(value(row)) }, json: { row, _ in .text(value(row)) })
    }

    /// A number; in a table, zero is empty where the column may be left out.
    static func count(
        _ key: String, _ japanese: String, table: LocalizedText? = nil, hidesZero: Bool = false, givesWay: Bool = false,
        _ value: @escaping (Row) -> Int?
    ) -> AnswerColumn {
        AnswerColumn(
            key: key, japanese: japanese,
            heading: table.map { title in
                Heading(title: title, isRight: true, hidesEmpty: hidesZero, givesWay: givesWay) { row, _ in
                    value(row).flatMap { hidesZero && $0 == 0 ? nil : "\($0)" } ?? ""
                }
            }, csv: { row, _ in .number(value(row)) }, json: { row, _ in .optional(value(row)) })
    }

    /// Money: main units for people and in CSV, the smallest unit in JSON.
    static func money(
        _ key: String, _ japanese: String, table: LocalizedText? = nil, _ currency: @escaping (Row) -> Currency,
        _ value: @escaping (Row) -> Int?
    ) -> AnswerColumn {
        func text(_ row: Row) -> String? { value(row).map(currency(row).text) }
        return AnswerColumn(
            key: key, japanese: japanese,
            heading: table.map { title in Heading(title: title, isRight: true) { row, _ in text(row) ?? "-" } },
            csv: { row, _ in .number(text(row)) }, json: { row, _ in .optional(value(row)) })
    }
}

/// The answers to questions about a ledger; a column is described once for all forms.
package enum LedgerAnswers {
    /// `kazasu.ledgerSum/1`, but for what is not of a group.
    package static func sums(by grouping: LedgerGrouping) -> Answer<LedgerSum> {
        let none = LocalizedText("(none)", "（なし）")
        return Answer(
            schema: "kazasu.ledgerSum/1", member: "sums",
            columns: [
                AnswerColumn(
                    key: "key", japanese: "キー", csv: { row, _ in .text(row.key) }, json: { row, _ in .string(row.key) }),
                AnswerColumn(
                    key: "name", japanese: "名前",
                    heading: .init(title: grouping.title) { row, language in
                        row.label[language].isEmpty ? none[language] : row.title[language]
                    }, csv: { row, language in .text(row.label[language]) },
                    json: { row, language in .string(row.label[language]) }),
                .count("records", "件数", table: LocalizedText("RECORDS", "件数")) { $0.records },
                .count("unknown", "金額不明", table: LocalizedText("UNKNOWN", "金額不明"), hidesZero: true) { $0.unknown },
                .money("spent", "利用額", table: LocalizedText("SPENT", "利用額"), \.currency) { $0.spent },
                .money("received", "チャージ額", table: LocalizedText("RECEIVED", "チャージ額"), \.currency) { $0.received },
                .money("amount", "差引", table: LocalizedText("SUM", "差引"), \.currency) { $0.amount },
                AnswerColumn(
                    key: "currency", japanese: "通貨",
                    heading: .init(title: LocalizedText("CURRENCY", "通貨")) { row, _ in row.currency.rawValue },
                    csv: { row, _ in .text(row.currency.rawValue) }),
                .count("gaps", "欠落", table: LocalizedText("GAPS", "欠落"), hidesZero: true, givesWay: true) {
                    $0.gaps
                },
            ], currency: \.currency)
    }

    /// `kazasu.ledgerGaps/1`.
    package static var gaps: Answer<LedgerGapReport> {
        Answer(
            schema: "kazasu.ledgerGaps/1", member: "gaps",
            columns: [
                AnswerColumn(key: "cardId", japanese: "カードID", csv: { row, _ in .text("0x" + row.after.purse.card) }),
                AnswerColumn(
                    key: "card", japanese: "カード", csv: { row, _ in .text(row.after.purse.kind) },
                    json: { row, _ in LedgerJSON.card(row.after.purse) }),
                AnswerColumn(
                    key: "after", japanese: "欠落の前",
                    heading: .init(title: LocalizedText("AFTER", "欠落の前")) { row, _ in
                        row.before.record.date?.description ?? "-"
                    }, csv: { row, _ in .text(row.before.record.date?.description) }),
                AnswerColumn(
                    key: "before", japanese: "欠落の後",
                    heading: .init(title: LocalizedText("BEFORE", "欠落の後")) { row, _ in
                        row.after.record.date?.description ?? "-"
                    }, csv: { row, _ in .text(row.after.record.date?.description) }),
                AnswerColumn(
                    key: "missing", japanese: "欠落件数",
                    heading: .init(title: LocalizedText("MISSING", "欠落"), stays: true) { row, language in
                        row.gap.words[language]
                    },
                    csv: { row, _ in .number(row.gap.missing) }, json: { row, _ in .optional(row.gap.missing) }),
                .count("missingAtLeast", "最小") { $0.gap.atLeast },
                .count("missingAtMost", "最大") { $0.gap.atMost },
                AnswerColumn(
                    key: "amount", japanese: "金額",
                    heading: .init(title: LocalizedText("AMOUNT", "金額"), isRight: true) { row, _ in
                        guard let amount = row.gap.amount else { return "-" }
                        return (amount > 0 ? "+" : "") + row.after.purse.currency.text(amount)
                            + (row.gap.coversNext ? "*" : "")
                    }, csv: { row, _ in .number(row.gap.amount.map(row.after.purse.currency.text)) },
                    json: { row, _ in .optional(row.gap.amount) }),
                AnswerColumn(
                    key: "coversNext", japanese: "次を含む", csv: { row, _ in .text("\(row.gap.coversNext)") },
                    json: { row, _ in .bool(row.gap.coversNext) }),
                AnswerColumn(
                    key: "currency", japanese: "通貨", csv: { row, _ in .text(row.after.purse.currency.rawValue) }),
                .text("reason", "理由") { $0.gap.reason.rawValue },
                AnswerColumn(key: "id", japanese: "ID", csv: { row, _ in .text(row.after.uid) }),
                AnswerColumn(key: "before", json: { row, language in LedgerJSON.record(row.before, language) }),
                AnswerColumn(key: "after", json: { row, language in LedgerJSON.record(row.after, language) }),
                AnswerColumn(
                    key: "name",
                    heading: .init(title: LocalizedText("CARD", "カード")) { row, language in
                        row.after.purse.name(language)
                    }),
            ], currency: \.after.purse.currency)
    }

    /// `kazasu.ledgerCards/1`.
    package static var cards: Answer<LedgerCard> {
        Answer(
            schema: "kazasu.ledgerCards/1", member: "cards",
            columns: [
                AnswerColumn(key: "card", json: { row, _ in LedgerJSON.card(row.purse) }),
                AnswerColumn(
                    key: "cardId", japanese: "カードID",
                    heading: .init(title: LocalizedText("NUMBER", "番号")) { row, _ in row.purse.card },
                    csv: { row, _ in .text("0x" + row.purse.card) }),
                AnswerColumn(key: "key", json: { row, _ in .string(row.purse.card) }),
                .text("name", "名前", table: LocalizedText("NAME", "名前")) { $0.purse.cardName },
                AnswerColumn(
                    key: "card", japanese: "カード",
                    heading: .init(title: LocalizedText("KIND", "種類")) { row, language in row.purse.label[language] },
                    csv: { row, language in .text(language == .japanese ? row.purse.title.japanese : row.purse.kind) }),
                AnswerColumn(key: "title", json: { row, language in .string(row.purse.title[language]) }),
                .count("records", "件数", table: LocalizedText("RECORDS", "件数")) { $0.records },
                .text("first", "最初", table: LocalizedText("FIRST", "最初"), givesWay: true) { $0.first?.description },
                .text("last", "最後", table: LocalizedText("LAST", "最後")) { $0.last?.description },
                .money("balance", "残高", table: LocalizedText("BALANCE", "残高"), \.purse.currency) { $0.balance },
                AnswerColumn(
                    key: "currency", japanese: "通貨",
                    heading: .init(
                        title: LocalizedText("CURRENCY", "通貨"),
                        isNeeded: { rows in rows.contains { $0.purse.currency != .yen } },
                        cell: { row, _ in row.purse.currency.rawValue }),
                    csv: { row, _ in .text(row.purse.currency.rawValue) }),
                .count("gaps", "欠落", table: LocalizedText("GAPS", "欠落")) { $0.gaps },
                AnswerColumn(
                    key: "linked", japanese: "統合",
                    heading: .init(title: LocalizedText("LINKED", "統合"), hidesEmpty: true) { row, _ in
                        row.linked.joined(separator: " ")
                    }, csv: { row, _ in .text(row.linked.map { "0x" + $0 }.joined(separator: " ")) },
                    json: { row, _ in .array(row.linked.map { .string($0) }) }),
                AnswerColumn(
                    key: "brand", japanese: "ブランド",
                    csv: { row, language in
                        .text(language == .japanese ? row.purse.brand?.name.japanese : row.purse.brand?.id)
                    }),
            ], currency: \.purse.currency)
    }
}

extension LedgerGrouping {
    fileprivate var title: LocalizedText {
        switch self {
        case .day: LocalizedText("DAY", "日")
        case .week: LocalizedText("WEEK", "週")
        case .month: LocalizedText("MONTH", "月")
        case .year: LocalizedText("YEAR", "年")
        case .kind: LocalizedText("KIND", "種別")
        case .station: LocalizedText("STATION", "駅")
        case .line: LocalizedText("LINE", "路線")
        case .card: LocalizedText("CARD", "カード")
        }
    }
}

extension LedgerGap {
    /// How many records are lost.
    package var words: LocalizedText {
        switch (missing, atMost) {
        case (0?, _): LocalizedText("no record, but the balances differ", "履歴はそろっているが残高が不一致")
        case (1?, _): LocalizedText("1 record lost", "1 件")
        case (let count?, _): LocalizedText("\(count) records lost", "\(count) 件")
        case (nil, let most?): LocalizedText("\(atLeast) to \(most) records lost", "\(atLeast)～\(most) 件")
        case (nil, nil): LocalizedText("an unknown number of records lost", "件数不明")
        }
    }
}
