// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
public import CardModel
internal import GRDB

/// What a report shows.
struct ReportData {
    /// A purse and its balance from day to day.
    struct Balance {
        let purse: LedgerPurse
        let points: [Point]
    }

    /// How many gaps the page lists.
    static let shownGaps = 100

    struct Point {
        let date: CalendarDate
        let day: Int
        let balance: Int
        /// Whether something is lost before it.
        let isAfterGap: Bool
    }

    let balances: [Balance]
    let months: [LedgerSum]
    let kinds: [LedgerSum]
    let stations: [LedgerSum]
    let lines: [LedgerSum]
    /// The newest gaps, and how many there are.
    let gaps: [LedgerGapReport]
    let gapCount: Int
    let first: CalendarDate?
    let last: CalendarDate?
    /// What most records are counted in; sums and months show this currency alone.
    let currency: Currency
    /// The other currencies.
    let others: [Currency]
}

extension Ledger {
    /// A page for people: one HTML file without scripts and without anything from the network.
    ///
    /// Balance over time, months, kinds, the most used stations and lines, and what is lost; for light and dark screens, for phones
    /// and for paper.
    public func report(_ language: Language, _ filter: LedgerFilter = LedgerFilter()) throws(LedgerError) -> [UInt8] {
        let data = try reportData(filter)
        return Array(ReportPage(data: data, language: language).text.utf8)
    }

    func reportData(_ filter: LedgerFilter) throws(LedgerError) -> ReportData {
        let all = try sum(by: .month, filter)
        let counts = Dictionary(all.map { ($0.currency, $0.records) }, uniquingKeysWith: +)
        let currency = counts.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key ?? .yen
        func sums(_ grouping: LedgerGrouping) throws(LedgerError) -> [LedgerSum] {
            try sum(by: grouping, filter).filter { $0.currency == currency }
        }
        let stations = try sums(.station).filter { !$0.key.isEmpty }
        let lines = try sums(.line).filter { !$0.key.isEmpty }
        let balances = try store.read { db in try self.balances(LedgerCondition(filter, db, options), db) }
        let (first, last) = try store.read { db in
            let condition = try LedgerCondition(filter, db, options)
            let row = try Row.fetchOne(
                db, sql: "SELECT min(r.date), max(r.date) FROM record r WHERE \(condition.sql)",
                arguments: condition.arguments)
            return try (LedgerCoding.date(row?.value(0)), LedgerCoding.date(row?.value(1)))
        }
        var (gaps, gapCount): ([LedgerGapReport], Int) = ([], 0)
        try store.read { db in
            try forEachGap(filter, db) { gap, _ in
                gapCount += 1
                if gapCount <= ReportData.shownGaps { gaps.append(gap) }
            }
        }
        return ReportData(
            balances: balances, months: all.filter { $0.currency == currency && !$0.key.isEmpty },
            kinds: try sums(.kind), stations: stations.sorted { ($1.records, $0.key) < ($0.records, $1.key) },
            lines: lines.sorted { ($1.records, $0.key) < ($0.records, $1.key) }, gaps: gaps, gapCount: gapCount,
            first: first, last: last, currency: currency,
            others: counts.keys.filter { $0 != currency }.sorted { $0.rawValue < $1.rawValue })
    }

    /// The last balance of each day of each purse.
    private func balances(_ condition: LedgerCondition, _ db: Database) throws -> [ReportData.Balance] {
        var balances: [ReportData.Balance] = []
        let purses = try Row.fetchAll(db, sql: LedgerPurse.select + " ORDER BY purse.id").map {
            try LedgerPurse($0, options)
        }
        for purse in purses {
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT r.date, r.balance, gap.record IS NOT NULL FROM \(LedgerRecordReader.source)
                    WHERE r.purse = \(purse.id) AND \(condition.sql) ORDER BY r.ord, r.id
                    """, arguments: condition.arguments)
            var (points, isAfterGap, isEmpty): ([ReportData.Point], Bool, Bool) = ([], false, true)
            while let row = try rows.next() {
                isEmpty = false
                isAfterGap = try isAfterGap || row.value(2)
                guard let date = try LedgerCoding.date(row.value(0)), let balance: Int = try row.value(1) else {
                    continue
                }
                // A machine with a wrong clock must not stretch the chart.
                if let last = points.last, date < last.date { continue }
                if points.last?.date == date { points.removeLast() }
                let day = Ledger.day(date)
                points.append(ReportData.Point(date: date, day: day, balance: balance, isAfterGap: isAfterGap))
                isAfterGap = false
            }
            if !isEmpty { balances.append(ReportData.Balance(purse: purse, points: points)) }
        }
        return balances
    }

    /// The number of a day on a straight scale, counted from 1 March of the year 0 (Howard Hinnant's `days_from_civil`).
    static func day(_ date: CalendarDate) -> Int {
        let year = date.month <= 2 ? date.year - 1 : date.year
        let month = (date.month + 9) % 12
        return year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date.day - 1
    }
}
