// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
public import CardModel

/// What a report shows.
struct ReportData {
    /// A purse and its balance from day to day.
    struct Balance {
        let purse: LedgerPurse
        let points: [Point]
        let records: Int
        let gaps: Int
    }

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
    let gaps: [LedgerGapReport]
    let first: CalendarDate?
    let last: CalendarDate?
    /// What most records are counted in; charts show this currency alone.
    let currency: Currency
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
        let chains = try chains(filter)
        let counts = Dictionary(chains.map { ($0.purse.currency, $0.records.count) }, uniquingKeysWith: +)
        let currency = counts.max { $0.value < $1.value }?.key ?? .yen
        func sums(_ grouping: LedgerGrouping) throws(LedgerError) -> [LedgerSum] {
            try sum(by: grouping, filter).filter { $0.currency == currency }
        }
        let stations = try sums(.station).filter { !$0.key.isEmpty }
        let lines = try sums(.line).filter { !$0.key.isEmpty }
        let dates = chains.flatMap { $0.records.compactMap(\.record.date) }
        return ReportData(
            balances: chains.map { Ledger.balance($0.purse, $0.records) },
            months: try sums(.month).filter { !$0.key.isEmpty }, kinds: try sums(.kind),
            stations: stations.sorted { ($1.records, $0.key) < ($0.records, $1.key) },
            lines: lines.sorted { ($1.records, $0.key) < ($0.records, $1.key) }, gaps: try gaps(filter),
            first: dates.min(), last: dates.max(), currency: currency)
    }

    /// The last balance of each day.
    private static func balance(_ purse: LedgerPurse, _ records: [LedgerRecord]) -> ReportData.Balance {
        var points: [ReportData.Point] = []
        var isAfterGap = false
        for record in records {
            isAfterGap = isAfterGap || record.gapBefore != nil
            guard let date = record.record.date, let balance = record.record.balance else { continue }
            // A machine with a wrong clock must not stretch the chart.
            if let last = points.last, date < last.date { continue }
            if points.last?.date == date { points.removeLast() }
            points.append(ReportData.Point(date: date, day: day(date), balance: balance, isAfterGap: isAfterGap))
            isAfterGap = false
        }
        return ReportData.Balance(
            purse: purse, points: points, records: records.count, gaps: records.count { $0.gapBefore != nil })
    }

    /// The number of a day on a straight scale, counted from 1 March of the year 0 (Howard Hinnant's `days_from_civil`).
    static func day(_ date: CalendarDate) -> Int {
        let year = date.month <= 2 ? date.year - 1 : date.year
        let month = (date.month + 9) % 12
        return year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date.day - 1
    }
}
