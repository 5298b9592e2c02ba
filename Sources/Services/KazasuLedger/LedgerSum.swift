// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import SQLiteFiles

/// The grouping of records for sums.
@nonexhaustive
public enum LedgerGrouping: String, Hashable, Sendable, CaseIterable {
    /// The day of the record.
    case day
    /// The week of the record, from Monday to Sunday.
    case week
    /// The month of the record.
    case month
    /// The year of the record.
    case year
    /// The kind of record.
    case kind
    /// Each station or stop where a ride began or ended; a ride counts at both.
    case station
    /// Each line on which a ride began or ended; a ride within one line counts once.
    case line
    /// The card and its purse.
    case card

    /// The period of a day, as in `2026-11-21`, `2026-W47`, `2026-11`, `2026`; `nil` if it does not group by time.
    func period(_ date: CalendarDate) -> String? {
        switch self {
        case .day: date.description
        case .week: CalendarDays.week(date)
        case .month: String(date.description.prefix(7))
        case .year: String(date.description.prefix(4))
        case .kind, .station, .line, .card: nil
        }
    }

    /// Whether groups are parts of time.
    package var isPeriod: Bool { [.day, .week, .month, .year].contains(self) }
}

/// Totals of a group of records, in one currency.
public struct LedgerSum: Hashable, Sendable {
    /// What they have in common, for scripts: `2026-11`, `rail`, `0_227_59`, `0_227`, an IDm and a kind; empty where unknown.
    public let key: String
    /// The same for people.
    public let label: LocalizedText
    /// The currency.
    public let currency: Currency
    /// How many records there are.
    public var records = 0
    /// How many of them have an unknown amount; no sum includes those.
    public var unknown = 0
    /// The total spent, zero or negative, in the smallest unit.
    public var spent = 0
    /// The total charged, zero or positive, in the smallest unit.
    public var received = 0
    /// How many gaps touch the period or are the card's, so that records and money may be missing here; `nil` for other groups, which do
    /// not say where a lost record belongs.
    public internal(set) var gaps: Int?

    /// The line of a station whose name others have, too.
    var line: LocalizedText?

    /// The label, with the line of a station whose name others have, too.
    var title: LocalizedText {
        guard let line else { return label }
        return LocalizedText(
            "\(label.english) (\(line.english))", "\(label.japanese)（\(line.japanese)）")
    }

    /// The sum of both.
    public var amount: Int { spent &+ received }

    mutating func add(_ other: LedgerSum) {
        records &+= other.records
        unknown &+= other.unknown
        spent &+= other.spent
        received &+= other.received
    }
}

extension Ledger {
    /// Totals of groups of records. Periods are in order, also those that lie within a gap and have no record; the rest begins with the
    /// most money spent, then the most records.
    public func sum(
        by grouping: LedgerGrouping, _ filter: LedgerFilter = LedgerFilter()
    ) throws(LedgerError) -> [LedgerSum] {
        try store.read { db in try sum(by: grouping, filter, db) }
    }

    /// Totals of all records that a filter chooses, one for each currency, in the order of `Currency.rawValue`. Other than the sum over
    /// stations, it has each ride once.
    public func total(_ filter: LedgerFilter = LedgerFilter()) throws(LedgerError) -> [LedgerSum] {
        try store.read { db in try total(filter, db) }
    }

    /// The sums of groups, their totals and what is missing, as of one moment.
    package func summary(
        by grouping: LedgerGrouping, _ filter: LedgerFilter
    ) throws(LedgerError) -> (groups: [LedgerSum], totals: [LedgerSum], missing: LedgerMissing) {
        try store.read { db in
            (try sum(by: grouping, filter, db), try total(filter, db), try missing(filter, db))
        }
    }

    func total(_ filter: LedgerFilter, _ db: Database) throws -> [LedgerSum] {
        var totals: [Currency: LedgerSum] = [:]
        for sum in try sum(by: .card, filter, db) {
            let zero = LedgerSum(key: "", label: LocalizedText("total", "合計"), currency: sum.currency, gaps: 0)
            var total = totals[sum.currency] ?? zero
            total.add(sum)
            total.gaps = (total.gaps ?? 0) &+ (sum.gaps ?? 0)
            totals[sum.currency] = total
        }
        return totals.values.sorted { $0.currency.rawValue < $1.currency.rawValue }
    }

    func sum(by grouping: LedgerGrouping, _ filter: LedgerFilter, _ db: Database) throws -> [LedgerSum] {
        let hasDays = grouping == .day || grouping == .week
        let (source, arguments) = try hasDays ? days(filter, db) : Ledger.tally(filter, db, options)
        let reader = try LedgerRecordReader(db, options)
        let columns =
            switch grouping {
            case .day, .week, .month, .year: "month"
            case .kind: "t.kind"
            case .card: "purse"
            case .station, .line: "entry, exit"
            }
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT sum(records), sum(unknown), sum(spent), sum(received), currency, \(columns)
                FROM \(source) t JOIN purse ON purse.id = t.purse GROUP BY currency, \(columns)
                """, arguments: arguments)
        var sums: [Group: LedgerSum] = [:]
        var lines: [String: LocalizedText] = [:]
        while let row = try rows.next() {
            let currency = try Currency(rawValue: row.value(4)) ?? .yen
            for (key, label, line) in try Ledger.groups(of: row, grouping, reader) {
                if let line { lines[key] = line }
                // Only a damaged row overflows; it is not added.
                let sum = try LedgerSum(
                    key: key, label: label, currency: currency, records: row.value(0) ?? 0, unknown: row.value(1) ?? 0,
                    spent: row.value(2) ?? 0, received: row.value(3) ?? 0)
                let zero = LedgerSum(key: key, label: label, currency: currency)
                sums[Group(key: key, currency: currency), default: zero].add(sum)
            }
        }
        sums = Ledger.distinct(sums.filter { $0.value.records > 0 }, lines)
        try countGaps(by: grouping, filter, &sums, reader, db)
        return sums.values.sorted {
            grouping.isPeriod
                ? ($0.key, $0.currency.rawValue) < ($1.key, $1.currency.rawValue)
                : ($0.spent, -$0.records, $0.key) < ($1.spent, -$1.records, $1.key)
        }
    }

    private struct Group: Hashable {
        let key: String
        let currency: Currency
    }

    /// Adds the number of gaps to the groups to which they belong; a period within a gap becomes a group of its own.
    private func countGaps(
        by grouping: LedgerGrouping, _ filter: LedgerFilter, _ sums: inout [Group: LedgerSum],
        _ reader: LedgerRecordReader, _ db: Database
    ) throws {
        guard grouping.isPeriod || grouping == .card else { return }
        for group in sums.keys { sums[group]?.gaps = 0 }
        let condition = try LedgerCondition(filter.withoutKinds, db, options, days: false)
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT r.purse, r.date, (SELECT b.date FROM record b WHERE b.purse = r.purse AND (b.ord, b.id) < (r.ord, r.id)
                    ORDER BY b.ord DESC, b.id DESC LIMIT 1)
                FROM gap JOIN record r ON r.id = gap.record WHERE \(condition.sql)
                """, arguments: condition.arguments)
        while let row = try rows.next() {
            let (through, from) = try (LedgerCoding.date(row.value(1)), LedgerCoding.date(row.value(2)))
            guard let purse = try reader.purse(row.value(0)),
                filter.since.map({ through ?? $0 >= $0 }) ?? true, filter.until.map({ from ?? $0 <= $0 }) ?? true
            else { continue }
            if grouping == .card {
                sums[Group(key: "\(purse.card) \(purse.kind)", currency: purse.currency)]?.gaps? += 1
                continue
            }
            guard let one = from ?? through, let other = through ?? from else { continue }
            var (day, last) = (min(one, other), max(one, other))
            if let since = filter.since { day = max(day, since) }
            if let until = filter.until { last = min(last, until) }
            guard day <= last else { continue }
            for key in Ledger.periods(from: day, through: last, by: grouping) {
                let group = Group(key: key, currency: purse.currency)
                if sums[group] == nil, grouping != .day {
                    sums[group] = LedgerSum(
                        key: key, label: LocalizedText(key, key), currency: purse.currency, gaps: 0)
                }
                sums[group]?.gaps? += 1
            }
        }
    }

    /// The periods from one day through another, each once.
    static func periods(from first: CalendarDate, through last: CalendarDate, by grouping: LedgerGrouping) -> [String] {
        var periods: [String] = []
        for number in CalendarDays.number(first)...max(CalendarDays.number(first), CalendarDays.number(last)) {
            guard let period = CalendarDays.date(number).flatMap(grouping.period), period != periods.last else {
                continue
            }
            periods.append(period)
        }
        return periods
    }

    /// The records of each day, in the columns of ``tally(_:_:_:)`` with the whole date in the place of the month.
    private func days(_ filter: LedgerFilter, _ db: Database) throws -> (String, StatementArguments) {
        let condition = try LedgerCondition(filter, db, options, table: "x")
        return (
            """
            (SELECT purse, coalesce(date, 0) AS month, kind, entry, exit, 1 AS records, amount IS NULL AS unknown,
                min(coalesce(amount, 0), 0) AS spent, max(coalesce(amount, 0), 0) AS received
            FROM record x WHERE \(condition.sql))
            """, condition.arguments
        )
    }

    /// Whole months from the tally, the days of months that are chosen in part from the records.
    private static func tally(
        _ filter: LedgerFilter, _ db: Database, _ options: Ledger.Options
    ) throws -> (String, StatementArguments) {
        let condition = try LedgerCondition(filter, db, options, days: false, table: "x")
        let columns = "purse, month, kind, entry, exit, records, unknown, spent, received"
        var whole = ["SELECT \(columns) FROM tally x WHERE \(condition.sql)"]
        var arguments = condition.arguments
        let (since, until) = (LedgerCoding.number(filter.since), LedgerCoding.number(filter.until))
        guard since != nil || until != nil else { return ("(\(whole[0]))", arguments) }
        // A month that begins before the first day or ends after the last is chosen in part.
        let isFirstWhole = since.map { $0 % 100 == 1 } ?? true
        let isLastWhole =
            filter.until.map { CalendarDate(year: $0.year, month: $0.month, day: $0.day + 1) == nil } ?? true
        let firstMonth = since.map { $0 / 100 + (isFirstWhole ? 0 : 1) } ?? 1
        let lastMonth = until.map { $0 / 100 - (isLastWhole ? 0 : 1) } ?? 999_912
        whole[0] += " AND month BETWEEN ? AND ?"
        arguments += [firstMonth, lastMonth]
        for month in Set([isFirstWhole ? nil : since.map { $0 / 100 }, isLastWhole ? nil : until.map { $0 / 100 }])
            .compactMap(\.self)
        {
            whole.append(
                """
                SELECT purse, date / 100, kind, entry, exit, 1, amount IS NULL, min(coalesce(amount, 0), 0),
                    max(coalesce(amount, 0), 0)
                FROM record x WHERE \(condition.sql) AND date BETWEEN ? AND ?
                """)
            arguments += condition.arguments
            arguments += [max(since ?? 0, month * 100), min(until ?? .max, month * 100 + 99)]
        }
        return ("(\(whole.joined(separator: " UNION ALL ")))", arguments)
    }

    /// What a row of sums belongs to: one thing, but for stations and lines. Stations have their line.
    private static func groups(
        of row: Row, _ grouping: LedgerGrouping, _ reader: LedgerRecordReader
    ) throws -> [(key: String, label: LocalizedText, line: LocalizedText?)] {
        switch grouping {
        case .day, .week, .month, .year:
            let number: Int = try row.value(5) ?? 0
            // Months have no day.
            guard let date = LedgerCoding.date(number < 1_000_000 ? number &* 100 &+ 1 : number),
                let text = grouping.period(date)
            else { return [("", LocalizedText("no date", "日付なし"), nil)] }
            return [(text, LocalizedText(text, text), nil)]
        case .kind:
            let kind = try RecordKind(rawValue: row.value(5)) ?? .other
            return [(kind.rawValue, kind.name, nil)]
        case .card:
            guard let purse = try reader.purse(row.value(5)) else { return [] }
            return [
                ("\(purse.card) \(purse.kind)", LocalizedText(purse.name(.english), purse.name(.japanese)), nil)
            ]
        case .station, .line:
            var groups: [(String, LocalizedText, LocalizedText?)] = []
            let places = try [reader.place(row.value(5), on: nil), reader.place(row.value(6), on: nil)]
            for place in places.compactMap(\.self) {
                let key = grouping == .station ? place.code.key : place.code.lineKey
                guard !groups.contains(where: { $0.0 == key }) else { continue }
                let name: (Language) -> String = {
                    grouping == .station ? place.shortLabel($0) : place.lineLabel($0)
                }
                let line: (Language) -> String = { place.name?.line(in: $0) ?? place.lineLabel($0) }
                groups.append(
                    (
                        key, LocalizedText(name(.english), name(.japanese)),
                        grouping == .station ? LocalizedText(line(.english), line(.japanese)) : nil
                    ))
            }
            return groups
        }
    }
}

extension Ledger {
    /// The sums, with their line where several stations have one name, as the three of Shibuya.
    private static func distinct(_ sums: [Group: LedgerSum], _ lines: [String: LocalizedText]) -> [Group: LedgerSum] {
        guard !lines.isEmpty else { return sums }
        var keys: [LocalizedText: Set<String>] = [:]
        for sum in sums.values { keys[sum.label, default: []].insert(sum.key) }
        return sums.mapValues { sum in
            var sum = sum
            if keys[sum.label]?.count ?? 0 > 1 { sum.line = lines[sum.key] }
            return sum
        }
    }
}

extension Place {
    /// The line as people call it, or its codes.
    func lineLabel(_ language: Language) -> String {
        name?.lineLabel(language) ?? code.lineKey.split(separator: "_").joined(separator: "-")
    }
}
