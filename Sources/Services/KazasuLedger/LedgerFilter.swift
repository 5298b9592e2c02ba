// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
internal import CardModel
internal import SQLiteFiles

/// Which records to choose; empty for all.
public struct LedgerFilter: Hashable, Sendable {
    /// Names, IDms, last digits of IDms (at least four), kinds of purses or brands; empty for all cards. A purse of unknown
    /// brand is in no brand's choice.
    public var cards: [String] = []
    /// The first day.
    public var since: CalendarDate?
    /// The last day.
    public var until: CalendarDate?
    /// The kinds of records; empty for all.
    public var kinds: Set<RecordKind> = []

    /// All records.
    public init() {}

    /// The records of some cards, days and kinds.
    public init(
        cards: [String] = [], since: CalendarDate? = nil, until: CalendarDate? = nil, kinds: Set<RecordKind> = []
    ) {
        self.cards = cards
        self.since = since
        self.until = until
        self.kinds = kinds
    }

    /// The records of a month as people write it, `2026-11`; `nil` for anything else.
    public init?(month: String) {
        guard let first = CalendarDate(month + "-01") else { return nil }
        since = first
        until = (28...31).compactMap { CalendarDate(year: first.year, month: first.month, day: $0) }.last
    }

    /// Whether only days and cards are chosen, so that balances still follow from one record to the next.
    var keepsChain: Bool { kinds.isEmpty }

    /// The chosen day that a line about a gap has: that of the record after it or before it, or the edge of the chosen days.
    func day(of gap: LedgerGapReport) -> CalendarDate? {
        let days = [gap.after.record.date, gap.before.record.date].compactMap(\.self)
        return days.first { (since ?? $0) <= $0 && $0 <= (until ?? $0) } ?? since ?? until ?? days.first
    }

    /// The same cards and days, all kinds of records.
    var withoutKinds: LedgerFilter {
        var filter = self
        filter.kinds = []
        return filter
    }

    /// A key for this choice, under which exports are marked.
    func selection(_ purse: LedgerPurse) -> String {
        let days = [since?.description ?? "", until?.description ?? ""]
        return ([String(purse.id)] + days + kinds.map(\.rawValue).sorted()).joined(separator: ",")
    }
}

/// A filter as a condition of SQL.
struct LedgerCondition {
    let sql: String
    let arguments: StatementArguments
    /// The purses that are chosen; `nil` for all.
    let purses: [Int64]?

    /// - Throws: ``LedgerError/noSuchCard(_:)``.
    init(_ filter: LedgerFilter, _ db: Database, _ options: Ledger.Options, days: Bool = true, table: String = "r")
        throws
    {
        var parts = ["1"]
        var arguments: StatementArguments = []
        var purses: [Int64]?
        if !filter.cards.isEmpty {
            var chosen: Set<Int64> = []
            for word in filter.cards {
                let cards = try LedgerCards.matching(word, db, options).filter { !$0.isOfUnknownBrand }
                guard !cards.isEmpty else { throw LedgerError.noSuchCard(word) }
                for card in cards {
                    let rows = try Row.fetchAll(
                        db, sql: "SELECT id, kind FROM purse WHERE card = ?", arguments: [card.id])
                    for row in rows where try card.kind == nil || row.value(1) == card.kind {
                        try chosen.insert(row.value(0))
                    }
                }
            }
            purses = chosen.sorted()
            parts.append("\(table).purse IN (\(chosen.sorted().map(String.init).joined(separator: ", ")))")
        }
        if days, let since = LedgerCoding.number(filter.since) {
            parts.append("\(table).date >= ?")
            arguments += [since]
        }
        if days, let until = LedgerCoding.number(filter.until) {
            parts.append("\(table).date <= ?")
            arguments += [until]
        }
        if !filter.kinds.isEmpty {
            let kinds = filter.kinds.map(\.rawValue).sorted()
            parts.append("\(table).kind IN (\(kinds.map { _ in "?" }.joined(separator: ", ")))")
            arguments += StatementArguments(kinds)
        }
        sql = parts.joined(separator: " AND ")
        self.arguments = arguments
        self.purses = purses
    }
}

/// The records that a filter chooses, read from the file one by one, so that their number costs no memory.
package struct LedgerSelection {
    private let ids: [Int64]
    private let select: Statement
    private let reader: LedgerRecordReader
    private let path: String

    fileprivate init(_ ids: [Int64], of ledger: Ledger, _ db: Database) throws {
        (self.ids, path) = (ids, ledger.path)
        reader = try LedgerRecordReader(db, ledger.options)
        select = try db.makeStatement(
            sql: "SELECT \(LedgerRecordReader.columns) FROM \(LedgerRecordReader.source) WHERE r.id = ?")
    }

    /// How many records there are.
    package var count: Int { ids.count }

    /// Passes on each record until the closure returns `false`.
    package func forEach(_ body: (LedgerRecord) -> Bool) throws(LedgerError) {
        do { try visit(body) } catch { throw LedgerError(error, path: path) }
    }

    /// The same for a closure that reads from the file, too.
    func visit(_ body: (LedgerRecord) throws -> Bool) throws {
        for id in ids {
            guard let record = try Row.fetchOne(select, arguments: [id]).flatMap(reader.record) else { continue }
            guard try body(record) else { return }
        }
    }
}

extension Ledger {
    /// The records that a filter chooses, newest first; those of one card in the order of the card, several cards by day.
    ///
    /// - Parameters:
    ///   - filter: every record unless given.
    ///   - limit: upper bound on the number of records; `nil` for all.
    public func records(_ filter: LedgerFilter = LedgerFilter(), limit: Int? = nil) throws(LedgerError)
        -> [LedgerRecord]
    {
        var records: [LedgerRecord] = []
        try select(filter, limit: limit) { selection in
            try selection.forEach { record in
                records.append(record)
                return true
            }
        }
        return records
    }

    /// Gives access to the records that a filter chooses, in the order of ``records(_:limit:)``, from one unchanging snapshot.
    package func select<Value>(
        _ filter: LedgerFilter, limit: Int? = nil, _ body: (LedgerSelection) throws -> Value
    ) throws(LedgerError) -> Value {
        try store.read { db in
            let condition = try LedgerCondition(filter, db, options)
            let order =
                condition.purses?.count == 1 ? "r.ord DESC, r.id DESC" : "r.date DESC, r.purse, r.ord DESC, r.id DESC"
            return try body(selection(condition, order: order, limit: limit, db))
        }
    }

    /// Only the ids are sorted: whole records would need the memory that reading them one by one saves.
    ///
    /// - Parameter isChosen: a further choice by the columns `id`, `purse`, `added` and `completed`.
    func selection(
        _ condition: LedgerCondition, order: String, limit: Int? = nil, _ db: Database,
        where isChosen: (Row) throws -> Bool = { _ in true }
    ) throws -> LedgerSelection {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT r.id, r.purse, r.added, r.completed FROM record r WHERE \(condition.sql)
                ORDER BY \(order) LIMIT \(limit ?? -1)
                """, arguments: condition.arguments)
        var ids: [Int64] = []
        while let row = try rows.next() { if try isChosen(row) { try ids.append(row.value(0)) } }
        return try LedgerSelection(ids, of: self, db)
    }

    /// The gaps on the days that a filter chooses, newest first, including those that begin before or end after them.
    /// The record after the gap must be of the chosen cards and kinds.
    public func gaps(_ filter: LedgerFilter = LedgerFilter()) throws(LedgerError) -> [LedgerGapReport] {
        try store.read { db in
            var gaps: [LedgerGapReport] = []
            try forEachGap(filter, db) { gap, _ in gaps.append(gap) }
            return gaps
        }
    }

    /// The records missing on the days and cards that a filter chooses, regardless of its kinds of records.
    public func missing(_ filter: LedgerFilter = LedgerFilter()) throws(LedgerError) -> LedgerMissing {
        try store.read { db in try missing(filter, db) }
    }

    func missing(_ filter: LedgerFilter, _ db: Database) throws -> LedgerMissing {
        var missing = LedgerMissing()
        try forEachGap(filter.withoutKinds, db) { gap, _ in missing.add(gap) }
        return missing
    }

    /// The gaps before some records.
    func gaps(before ids: Set<Int64>, _ db: Database) throws -> [LedgerGapReport] {
        var gaps: [LedgerGapReport] = []
        let condition = "r.id IN (\(ids.map(String.init).joined(separator: ", ")))"
        try forEachGap(condition, [], until: nil, db) { gap, _ in gaps.append(gap) }
        return gaps
    }

    /// Passes on the gaps of a filter, newest first, each with the number of the change that brought the record after it.
    func forEachGap(
        _ filter: LedgerFilter, _ db: Database, _ body: (LedgerGapReport, _ added: Int) throws -> Void
    ) throws {
        let condition = try LedgerCondition(filter, db, options, days: false)
        let (since, sinceArguments): (String, StatementArguments) =
            LedgerCoding.number(filter.since).map { ("(r.date IS NULL OR r.date >= ?)", [$0]) } ?? ("1", [])
        try forEachGap(
            "\(condition.sql) AND \(since)", condition.arguments + sinceArguments, until: filter.until, db, body)
    }

    private func forEachGap(
        _ condition: String, _ arguments: StatementArguments, until: CalendarDate?, _ db: Database,
        _ body: (LedgerGapReport, _ added: Int) throws -> Void
    ) throws {
        let reader = try LedgerRecordReader(db, options)
        let ids = try Row.fetchCursor(
            db,
            sql: """
                SELECT r.id, r.added FROM gap JOIN record r ON r.id = gap.record
                WHERE \(condition) ORDER BY r.date DESC, r.purse, r.ord DESC
                """, arguments: arguments)
        let one = try db.makeStatement(
            sql: "SELECT \(LedgerRecordReader.columns) FROM \(LedgerRecordReader.source) WHERE r.id = ?")
        let before = try db.makeStatement(
            sql: """
                SELECT \(LedgerRecordReader.columns) FROM \(LedgerRecordReader.source)
                WHERE r.purse = ? AND (r.ord, r.id) < (?, ?) ORDER BY r.ord DESC, r.id DESC LIMIT 1
                """)
        while let row = try ids.next() {
            guard let after = try Row.fetchOne(one, arguments: [row.value(0, as: Int64.self)]).flatMap(reader.record),
                let gap = after.gapBefore,
                let older = try Row.fetchOne(before, arguments: [after.purse.id, after.order, after.id])
                    .flatMap(reader.record)
            else { continue }
            if let until, let day = older.record.date, day > until { continue }
            try body(LedgerGapReport(gap: gap, before: older, after: after), row.value(1))
        }
    }
}
