// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
public import CardModel
internal import SQLiteFiles

/// The contents of a report.
struct ReportData {
    /// A purse and its balance over time.
    struct Balance {
        let purse: LedgerPurse
        /// The length of the bins.
        let unit: LedgerGrouping
        /// The parts of time that have a balance, oldest first.
        let bins: [Bin]
        /// The day of the newest record.
        let last: CalendarDate?
        /// When the card was last read, in seconds since 1970.
        let readAt: Int?

        /// The balance after the newest record.
        var now: Int? { bins.last?.last }
    }

    /// The balances of a part of time.
    struct Bin {
        /// The number of its first day with a balance, and of its last.
        var first: Int
        var through: Int
        var low: Int
        var high: Int
        var last: Int
        /// The gap before its first balance, after the previous bin.
        var gap: LedgerGap?
    }

    /// How many gaps the page lists.
    static let shownGaps = 100

    let balances: [Balance]
    /// The period of the sums over time.
    let unit: LedgerGrouping
    let periods: [LedgerSum]
    let kinds: [LedgerSum]
    let stations: [LedgerSum]
    let lines: [LedgerSum]
    let total: LedgerSum?
    /// The newest gaps, and how much is missing in all.
    let gaps: [LedgerGapReport]
    let missing: LedgerMissing
    let first: CalendarDate?
    let last: CalendarDate?
    /// The days that the filter chooses.
    let chosen: (since: CalendarDate?, until: CalendarDate?)
    /// The currency of most records; sums show only this one.
    let currency: Currency
    /// The other currencies.
    let others: [Currency]
    /// When the page was made, in seconds since 1970.
    let madeAt: Int
}

extension LedgerGrouping {
    /// The unit of time in which a period of sums has at most about three dozen parts.
    static func ofSums(_ first: CalendarDate, _ last: CalendarDate) -> LedgerGrouping {
        let days = CalendarDays.number(last) - CalendarDays.number(first)
        return days <= 45 ? .day : days <= 37 * 31 ? .month : .year
    }

    /// The unit of time in which a balance is neither a comb nor a bar.
    static func ofBalance(_ first: CalendarDate, _ last: CalendarDate) -> LedgerGrouping {
        let days = CalendarDays.number(last) - CalendarDays.number(first)
        return days <= 70 ? .day : days <= 5 * 366 ? .week : .month
    }
}

extension Ledger {
    /// A page for people: one HTML file without scripts and without anything from the network.
    ///
    /// Balances now and over time, what was spent and put on, the most used stations and lines, and what is lost; for light and dark screens, for
    /// phones and for paper.
    public func report(_ language: Language, _ filter: LedgerFilter = LedgerFilter()) throws(LedgerError) -> [UInt8] {
        let data = try reportData(filter)
        return Array(ReportPage(data: data, language: language).text.utf8)
    }

    func reportData(_ filter: LedgerFilter) throws(LedgerError) -> ReportData {
        try store.read { db in try reportData(filter, db) }
    }

    private func reportData(_ filter: LedgerFilter, _ db: Database) throws -> ReportData {
        let totals = try total(filter, db)
        let total = totals.max { ($0.records, $1.currency.rawValue) < ($1.records, $0.currency.rawValue) }
        let currency = total?.currency ?? .yen
        func sums(_ grouping: LedgerGrouping, _ filter: LedgerFilter) throws -> [LedgerSum] {
            try sum(by: grouping, filter, db).filter { $0.currency == currency }
        }
        // Only rides: a charge at a station does not count.
        var rides = filter
        let kinds: Set<RecordKind> = [.rail, .bus]
        rides.kinds = filter.kinds.isEmpty ? kinds : filter.kinds.intersection(kinds)
        func places(_ grouping: LedgerGrouping) throws -> [LedgerSum] {
            guard !rides.kinds.isEmpty else { return [] }
            return try sums(grouping, rides).filter { !$0.key.isEmpty }
                .sorted { ($1.records, $0.spent, $0.key) < ($0.records, $1.spent, $1.key) }
        }
        let condition = try LedgerCondition(filter, db, options)
        let row = try Row.fetchOne(
            db, sql: "SELECT min(r.date), max(r.date) FROM record r WHERE \(condition.sql)",
            arguments: condition.arguments)
        let (first, last) = try (LedgerCoding.date(row?.value(0)), LedgerCoding.date(row?.value(1)))
        let unit = first.flatMap { first in last.map { LedgerGrouping.ofSums(first, $0) } } ?? .month
        var (gaps, missing): ([LedgerGapReport], LedgerMissing) = ([], LedgerMissing())
        try forEachGap(filter.withoutKinds, db) { gap, _ in
            missing.add(gap)
            if gaps.count < ReportData.shownGaps { gaps.append(gap) }
        }
        return ReportData(
            balances: try balances(condition, db), unit: unit,
            periods: try Ledger.filled(sums(unit, filter), first, last, unit, currency),
            kinds: try sums(.kind, filter), stations: try places(.station), lines: try places(.line), total: total,
            gaps: gaps, missing: missing, first: first, last: last,
            chosen: (filter.since, filter.until), currency: currency,
            others: totals.map(\.currency).filter { $0 != currency }, madeAt: options.clock())
    }

    /// Sums of periods with those between them that have no record.
    private static func filled(
        _ sums: [LedgerSum], _ first: CalendarDate?, _ last: CalendarDate?, _ unit: LedgerGrouping, _ currency: Currency
    ) -> [LedgerSum] {
        let known = Dictionary(sums.map { ($0.key, $0) }) { first, _ in first }
        guard let first, let last else { return [] }
        return periods(from: first, through: last, by: unit).map { key in
            known[key]
                ?? LedgerSum(key: key, label: LocalizedText(key, key), currency: currency, gaps: 0)
        }
    }

    /// The balances of each purse.
    private func balances(_ condition: LedgerCondition, _ db: Database) throws -> [ReportData.Balance] {
        var balances: [ReportData.Balance] = []
        let purses = try Row.fetchAll(db, sql: LedgerPurse.select + " ORDER BY purse.id").map {
            try LedgerPurse($0, options)
        }
        for purse in purses {
            let chosen = "r.purse = \(purse.id) AND \(condition.sql)"
            let edges = try Row.fetchOne(
                db,
                sql: """
                    SELECT min(r.date), max(r.date), count(*), (SELECT max(keptAt) FROM source WHERE id IN
                        (SELECT r.source FROM record r WHERE \(chosen)))
                    FROM record r WHERE \(chosen)
                    """, arguments: condition.arguments + condition.arguments)
            guard let edges, try edges.value(2, as: Int.self) > 0 else { continue }
            let (first, last) = try (LedgerCoding.date(edges.value(0)), LedgerCoding.date(edges.value(1)))
            let unit = first.flatMap { first in last.map { LedgerGrouping.ofBalance(first, $0) } } ?? .week
            balances.append(
                ReportData.Balance(
                    purse: purse, unit: unit, bins: try bins(unit, chosen, condition.arguments, db), last: last,
                    readAt: try edges.value(3)))
        }
        return balances
    }

    private func bins(
        _ unit: LedgerGrouping, _ chosen: String, _ arguments: StatementArguments, _ db: Database
    ) throws -> [ReportData.Bin] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT r.date, r.balance, gap.atLeast, gap.atMost, gap.amount, gap.coversNext, gap.reason
                FROM \(LedgerRecordReader.source) WHERE \(chosen) ORDER BY r.ord, r.id
                """, arguments: arguments)
        var (bins, gap, day, period): ([ReportData.Bin], LedgerGap?, Int, String) = ([], nil, .min, "")
        while let row = try rows.next() {
            gap = try LedgerGap(row, from: 2) ?? gap
            guard let date = try LedgerCoding.date(row.value(0)), let balance: Int = try row.value(1) else { continue }
            // A machine with a wrong clock must not stretch the chart.
            let number = CalendarDays.number(date)
            guard number >= day else { continue }
            let own = number == day ? period : unit.period(date) ?? ""
            if own == period, !bins.isEmpty, gap == nil {
                bins[bins.count - 1].through = number
                bins[bins.count - 1].low = min(bins[bins.count - 1].low, balance)
                bins[bins.count - 1].high = max(bins[bins.count - 1].high, balance)
                bins[bins.count - 1].last = balance
            } else {
                bins.append(
                    ReportData.Bin(
                        first: number, through: number, low: balance, high: balance, last: balance,
                        gap: bins.isEmpty ? nil : gap))
            }
            (day, period, gap) = (number, own, nil)
        }
        return bins
    }
}
