// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
internal import CardModel
internal import GRDB

/// Which records are wanted; empty for all.
public struct LedgerFilter: Hashable, Sendable {
    /// Names, IDms, last digits of IDms (at least four) or kinds of purses; empty for all cards.
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

    /// A text that is the same for the same choice.
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
                let cards = try LedgerCards.matching(word, db, options)
                guard !cards.isEmpty else { throw LedgerError.noSuchCard(word) }
                for card in cards {
                    let rows = try Row.fetchAll(
                        db, sql: "SELECT id, kind FROM purse WHERE card = ?", arguments: [card.id])
                    chosen.formUnion(rows.filter { card.kind == nil || $0[1] == card.kind }.map { $0[0] })
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

extension Ledger {
    /// The records that a filter chooses, newest first; those of one card in the order of the card, several cards by day.
    ///
    /// - Parameters:
    ///   - filter: every record unless given.
    ///   - limit: how many at most.
    public func records(_ filter: LedgerFilter = LedgerFilter(), limit: Int? = nil) throws(LedgerError)
        -> [LedgerRecord]
    {
        return try store.read { db in
            let condition = try LedgerCondition(filter, db, options)
            let reader = try LedgerRecordReader(db, options)
            let order =
                condition.purses?.count == 1 ? "r.ord DESC, r.id DESC" : "r.date DESC, r.purse, r.ord DESC, r.id DESC"
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT \(LedgerRecordReader.columns) FROM \(LedgerRecordReader.source) WHERE \(condition.sql)
                    ORDER BY \(order) LIMIT \(limit ?? -1)
                    """, arguments: condition.arguments)
            var records: [LedgerRecord] = []
            while let row = try rows.next() { if let record = reader.record(row) { records.append(record) } }
            return records
        }
    }

    /// The records of each purse that a filter chooses, oldest first.
    func chains(_ filter: LedgerFilter) throws(LedgerError) -> [(purse: LedgerPurse, records: [LedgerRecord])] {
        return try store.read { db in
            let condition = try LedgerCondition(filter, db, options)
            let reader = try LedgerRecordReader(db, options)
            let ids = try Int64.fetchAll(db, sql: "SELECT id FROM purse ORDER BY id")
            var chains: [(LedgerPurse, [LedgerRecord])] = []
            for id in ids where condition.purses?.contains(id) ?? true {
                guard let purse = reader.purse(id) else { continue }
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT \(LedgerRecordReader.columns) FROM \(LedgerRecordReader.source)
                        WHERE r.purse = ? AND \(condition.sql) ORDER BY r.ord, r.id
                        """, arguments: [id] + condition.arguments)
                let records = rows.compactMap(reader.record)
                if !records.isEmpty { chains.append((purse, records)) }
            }
            return chains
        }
    }

    /// What is lost between records that a filter chooses, newest first. The record after the gap is the one that must fit.
    public func gaps(_ filter: LedgerFilter = LedgerFilter()) throws(LedgerError) -> [LedgerGapReport] {
        return try store.read { db in
            let condition = try LedgerCondition(filter, db, options)
            return try gaps(condition.sql, condition.arguments, db)
        }
    }

    /// The gaps before some records.
    func gaps(before ids: Set<Int64>) throws(LedgerError) -> [LedgerGapReport] {
        try store.read { db in
            try gaps("r.id IN (\(ids.map(String.init).joined(separator: ", ")))", [], db)
        }
    }

    private func gaps(_ condition: String, _ arguments: StatementArguments, _ db: Database) throws -> [LedgerGapReport]
    {
        let reader = try LedgerRecordReader(db, options)
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT \(LedgerRecordReader.columns) FROM gap JOIN record r ON r.id = gap.record
                WHERE \(condition) ORDER BY r.date DESC, r.purse, r.ord DESC
                """, arguments: arguments)
        let before = try db.makeStatement(
            sql: """
                SELECT \(LedgerRecordReader.columns) FROM \(LedgerRecordReader.source)
                WHERE r.purse = ? AND (r.ord, r.id) < (?, ?) ORDER BY r.ord DESC, r.id DESC LIMIT 1
                """)
        return try rows.compactMap { row in
            guard let after = reader.record(row), let gap = after.gapBefore,
                let older = try Row.fetchOne(before, arguments: [after.purse.id, after.order, after.id]),
                let record = reader.record(older)
            else { return nil }
            return LedgerGapReport(gap: gap, before: record, after: after)
        }
    }
}
