// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import GRDB

/// What records are summed up by.
public enum LedgerGrouping: String, Hashable, Sendable, CaseIterable {
    /// The month of the record.
    case month
    /// The kind of record.
    case kind
    /// Each station or stop where a ride began or ended; a ride counts at both.
    case station
    /// Each line on which a ride began or ended; a ride within one line counts once.
    case line
    /// The card and its purse.
    case card
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
    public var records: Int
    /// How many of them have no known amount; their money is in no sum.
    public var unknown: Int
    /// What was taken off, zero or negative, in the smallest unit.
    public var spent: Int
    /// What was put on, zero or positive, in the smallest unit.
    public var received: Int
    /// How many gaps touch the month or are the card's, so that records and money may be missing here; `nil` for other groups, which do
    /// not say where a lost record belongs.
    public internal(set) var gaps: Int?

    /// What is left of both.
    public var amount: Int { spent &+ received }

    mutating func add(_ other: LedgerSum) {
        records &+= other.records
        unknown &+= other.unknown
        spent &+= other.spent
        received &+= other.received
    }
}

extension Ledger {
    /// Totals of groups of records. Months are in order; the rest begins with the most money spent, then the most records.
    public func sum(
        by grouping: LedgerGrouping, _ filter: LedgerFilter = LedgerFilter()
    ) throws(LedgerError) -> [LedgerSum] {
        return try store.read { db in
            let (source, arguments) = try Ledger.tally(filter, db, options)
            let reader = try LedgerRecordReader(db, options)
            let columns =
                switch grouping {
                case .month: "month"
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
            var sums: [String: LedgerSum] = [:]
            while let row = try rows.next() {
                // Only a damaged row has no sum; it adds nothing.
                let sum: (String, LocalizedText) throws -> LedgerSum = { key, label in
                    try LedgerSum(
                        key: key, label: label, currency: Currency(rawValue: row.value(4)) ?? .yen,
                        records: row.value(0) ?? 0,
                        unknown: row.value(1) ?? 0, spent: row.value(2) ?? 0, received: row.value(3) ?? 0)
                }
                for (key, label) in try Ledger.groups(of: row, grouping, reader) {
                    let added = try sum(key, label)
                    sums[key + " " + added.currency.rawValue, default: added.zero].add(added)
                }
            }
            let gaps = try gapCounts(by: grouping, filter, reader, db)
            return sums.map { key, sum in
                var sum = sum
                sum.gaps = gaps.map { $0(key) }
                return sum
            }.filter { $0.records > 0 }.sorted {
                grouping == .month
                    ? ($0.key, $0.currency.rawValue) < ($1.key, $1.currency.rawValue)
                    : ($0.spent, -$0.records, $0.key) < ($1.spent, -$1.records, $1.key)
            }
        }
    }

    /// The number of gaps in a group, by its key and currency; `nil` where a gap belongs to no group.
    private func gapCounts(
        by grouping: LedgerGrouping, _ filter: LedgerFilter, _ reader: LedgerRecordReader, _ db: Database
    ) throws -> ((String) -> Int)? {
        guard grouping == .month || grouping == .card else { return nil }
        let condition = try LedgerCondition(filter.withoutKinds, db, options, days: false)
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT r.purse, r.date, (SELECT b.date FROM record b WHERE b.purse = r.purse AND (b.ord, b.id) < (r.ord, r.id)
                    ORDER BY b.ord DESC, b.id DESC LIMIT 1)
                FROM gap JOIN record r ON r.id = gap.record WHERE \(condition.sql)
                """, arguments: condition.arguments)
        let (since, until) = (LedgerCoding.number(filter.since) ?? 0, LedgerCoding.number(filter.until) ?? .max)
        var cards: [String: Int] = [:]
        var months: [Currency: (first: [String], last: [String])] = [:]
        while let row = try rows.next() {
            let (through, from): (Int?, Int?) = try (row.value(1), row.value(2))
            guard let purse = try reader.purse(row.value(0)), through ?? since >= since, from ?? 0 <= until else {
                continue
            }
            cards["\(purse.card) \(purse.kind) \(purse.currency.rawValue)", default: 0] += 1
            guard let first = from ?? through, let last = through ?? from else { continue }
            months[purse.currency, default: ([], [])].first.append(Ledger.month(min(first, last) / 100))
            months[purse.currency, default: ([], [])].last.append(Ledger.month(max(first, last) / 100))
        }
        guard grouping == .month else { return { cards[$0] ?? 0 } }
        return { key in
            let parts = key.split(separator: " ")
            guard parts.count == 2, let spans = Currency(rawValue: String(parts[1])).flatMap({ months[$0] }) else {
                return 0
            }
            return spans.first.count { $0 <= parts[0] } - spans.last.count { $0 < parts[0] }
        }
    }

    private static func month(_ number: Int) -> String {
        "\(number / 100)-\(number % 100 < 10 ? "0" : "")\(number % 100)"
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

    /// What a row of sums belongs to: one thing, but for stations and lines.
    private static func groups(
        of row: Row, _ grouping: LedgerGrouping, _ reader: LedgerRecordReader
    ) throws -> [(String, LocalizedText)] {
        switch grouping {
        case .month:
            let month: Int = try row.value(5) ?? 0
            guard month > 0 else { return [("", LocalizedText("no date", "日付なし"))] }
            let text = Ledger.month(month)
            return [(text, LocalizedText(text, text))]
        case .kind:
            let kind = try RecordKind(rawValue: row.value(5)) ?? .other
            return [(kind.rawValue, kind.name)]
        case .card:
            guard let purse = try reader.purse(row.value(5)) else { return [] }
            return [
                ("\(purse.card) \(purse.kind)", LocalizedText(purse.name(.english), purse.name(.japanese)))
            ]
        case .station, .line:
            var groups: [(String, LocalizedText)] = []
            let places = try [reader.place(row.value(5), on: nil), reader.place(row.value(6), on: nil)]
            for place in places.compactMap(\.self) {
                let key = grouping == .station ? place.code.key : place.code.lineKey
                guard !groups.contains(where: { $0.0 == key }) else { continue }
                let name: (Language) -> String = {
                    grouping == .station ? place.name?.name(in: $0) ?? place.label($0) : place.lineLabel($0)
                }
                groups.append((key, LocalizedText(name(.english), name(.japanese))))
            }
            return groups
        }
    }
}

extension LedgerSum {
    fileprivate var zero: LedgerSum {
        LedgerSum(key: key, label: label, currency: currency, records: 0, unknown: 0, spent: 0, received: 0)
    }
}

extension Place {
    /// The company and the line, or their codes.
    func lineLabel(_ language: Language) -> String {
        let parts = [name?.company(in: language), name?.line(in: language)].compactMap(\.self).filter { !$0.isEmpty }
        guard parts.isEmpty else { return parts.joined(separator: " ") }
        return code.lineKey.split(separator: "_").joined(separator: "-")
    }
}
