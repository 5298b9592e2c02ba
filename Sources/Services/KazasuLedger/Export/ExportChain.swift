// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import SQLiteFiles

/// The records of one purse that an export writes, oldest first. They are read from the file each time, so that their number costs no
/// memory.
struct ExportChain {
    enum Item {
        /// The balance before all that follows.
        case opening(balance: Int, date: CalendarDate)
        /// The gap before a record.
        case gap(LedgerGap, before: LedgerRecord, date: CalendarDate)
        case record(LedgerRecord, amount: Int, date: CalendarDate)
        /// A record that an earlier export had within a gap, or before its opening balance.
        case late(LedgerRecord, amount: Int, date: CalendarDate, wasInGap: Bool)

        /// The day of the line.
        var date: CalendarDate {
            switch self {
            case .opening(_, let date), .gap(_, _, let date), .record(_, _, let date), .late(_, _, let date, _): date
            }
        }
    }

    let purse: LedgerPurse
    /// The balance after the newest record that was chosen, also if an earlier export had that.
    let closing: (balance: Int, date: CalendarDate)?
    /// How many records were to be written.
    private(set) var count = 0
    /// How many are written.
    private(set) var written = 0
    /// How many are not, since amount or day is unknown.
    var leftOut: Int { count - written }
    /// The first and the last day of the items, or `nil` if there is none.
    private(set) var days: ClosedRange<CalendarDate>?
    /// Whether each balance follows from the one before, and the days rise, so that a program can check the balances.
    private(set) var isChecked: Bool
    /// Whether an earlier export began the account.
    var isContinued: Bool { known != nil }

    private let db: Database
    private let reader: LedgerRecordReader
    private let sql: String
    private let arguments: StatementArguments
    /// The places of the oldest and newest record that an earlier export had.
    private let known: ClosedRange<Int64>?
    private let isWhole: Bool
    private let hasGaps: Bool
    private let needsDay: Bool
    /// A table has records without amount or day, too.
    private let isTable: Bool

    /// - Parameters:
    ///   - mark: the change up to which an earlier export went; `nil` for none.
    ///   - reader: that of all chains, since it holds the names of all places and cards.
    init(
        _ purse: LedgerPurse, _ format: LedgerFormat, _ options: LedgerExportOptions, since mark: Int?,
        _ reader: LedgerRecordReader, _ ledger: Ledger, _ db: Database
    ) throws {
        self.purse = purse
        self.db = db
        self.reader = reader
        isWhole = options.filter.keepsChain
        hasGaps = options.hasGaps || format.hasOwnGaps
        needsDay = format.needsDay
        isTable = format.isTable
        isChecked = isWhole
        let condition = try LedgerCondition(options.filter, db, ledger.options)
        let chosen = "r.purse = \(purse.id) AND \(condition.sql)"
        arguments = condition.arguments
        let newest = try Row.fetchOne(
            db,
            sql: """
                SELECT r.balance, r.date FROM record r WHERE \(chosen) AND r.balance IS NOT NULL AND r.date IS NOT NULL
                ORDER BY r.ord DESC, r.id DESC LIMIT 1
                """, arguments: arguments)
        closing = try newest.flatMap { row in try LedgerCoding.date(row.value(1)).map { try (row.value(0), $0) } }
        var isNew = "1"
        var known: ClosedRange<Int64>?
        if let mark {
            // Formats other than tables wait for a record's amount; gaps are written immediately.
            isNew = "\(isTable ? "r.added" : "max(r.added, coalesce(r.completed, 0))") > \(mark)"
            let edges = try Row.fetchOne(
                db, sql: "SELECT min(r.ord), max(r.ord) FROM record r WHERE \(chosen) AND NOT \(isNew)",
                arguments: arguments)
            if let edges, let first: Int64 = try edges.value(0), let last: Int64 = try edges.value(1) {
                known = first...last
            }
        }
        self.known = known
        sql = """
            SELECT \(LedgerRecordReader.columns) FROM \(LedgerRecordReader.source)
            WHERE \(chosen) AND \(isNew) ORDER BY r.ord, r.id
            """
        try measure()
    }

    /// Collects the facts that the first line needs.
    private mutating func measure() throws {
        var (count, written, days): (Int, Int, ClosedRange<CalendarDate>?) = (0, 0, nil)
        var walk = Walk()
        try forEachRecord { record in
            count += 1
            if isTable {
                written += 1
                return
            }
            for item in items(record, &walk) {
                days = min(days?.lowerBound ?? item.date, item.date)...max(days?.upperBound ?? item.date, item.date)
                switch item {
                case .record, .late: written += 1
                case .opening, .gap: break
                }
            }
        }
        (self.count, self.written, self.days) = (count, written, days)
        isChecked = isWhole && walk.isSorted
    }

    /// Passes on each record, also those without amount or day, as long as the sink wants more.
    func forEachRecord(to sink: ExportSink? = nil, _ body: (LedgerRecord) throws -> Void) throws {
        let rows = try Row.fetchCursor(db, sql: sql, arguments: arguments)
        while sink?.isStopped != true, let row = try rows.next() {
            if let record = try reader.record(row) { try body(record) }
        }
    }

    /// Passes on the items to be written, as long as the sink wants more.
    func forEachItem(to sink: ExportSink, _ body: (Item) throws -> Void) throws {
        var walk = Walk()
        try forEachRecord(to: sink) { record in try items(record, &walk).forEach(body) }
    }

    /// The state of one pass over the records.
    private struct Walk {
        var last: CalendarDate?
        var isFirst = true
        var isSorted = true
    }

    private func items(_ record: LedgerRecord, _ walk: inout Walk) -> [Item] {
        guard let date = record.record.date ?? walk.last else { return [] }
        if let last = walk.last, date < last { walk.isSorted = false }
        walk.last = date
        let amount = needsDay && record.record.date == nil ? nil : record.record.amount
        if let known, record.order < known.upperBound {
            return amount.map { [.late(record, amount: $0, date: date, wasInGap: record.order > known.lowerBound)] }
                ?? []
        }
        var items: [Item] = []
        if walk.isFirst, known == nil, isWhole,
            let balance = record.record.amount == nil ? record.record.balance : record.balanceBefore
        {
            items.append(.opening(balance: balance, date: date))
        } else if let gap = record.gapBefore, hasGaps, isWhole, gap.amount != nil {
            items.append(.gap(gap, before: record, date: date))
        }
        if let amount { items.append(.record(record, amount: amount, date: date)) }
        if !items.isEmpty { walk.isFirst = false }
        return items
    }
}
