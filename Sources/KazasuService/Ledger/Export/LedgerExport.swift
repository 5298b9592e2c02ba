// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
public import CardModel
internal import GRDB

/// The files that a ledger can be written as; the raw values are the words of the command line.
public enum LedgerFormat: String, Hashable, Sendable, CaseIterable {
    /// The columns of `history --format csv`, then the record's id and gap; or those of ``LedgerColumns``.
    case csv
    /// The CSV of Sony's SFCard Viewer, which Japanese expense programs read; CP932.
    case sfcard
    /// The CSV of Money Forward ME.
    case moneyforward
    /// The CSV of Zaim.
    case zaim
    /// OFX 1.0.2.
    case ofx
    /// Quicken Interchange Format; days are written year first.
    case qif
    /// A journal of hledger, with balance assertions.
    case hledger
    /// A file of beancount, with balance assertions.
    case beancount
}

/// How a ledger is written.
public struct LedgerExportOptions: Sendable {
    /// Which records.
    public var filter = LedgerFilter()
    /// Only what no earlier export of the same format and choice had; see ``Ledger/didWrite(_:)``.
    public var onlyNew = false
    /// Rides as lines of an expense claim instead of records; with ``LedgerFormat/csv`` only.
    public var isClaim = false
    /// Other columns for ``LedgerFormat/csv``.
    public var columns: LedgerColumns?
    /// The language of names and texts, and of the columns and words of ``LedgerFormat/csv``.
    public var language = Language.japanese
    /// The account of the card, for hledger and beancount; `nil` for `Assets:Transit:NAME`.
    public var account: String?
    /// Whether what is lost is a line of its own. hledger and beancount always have it, since their balances would not fit.
    public var hasGaps = false
    /// Whether ``LedgerFormat/sfcard`` begins with the line of the card's IDm, which one program refuses.
    public var hasCardLine = true
    /// Whether ``LedgerFormat/csv`` begins with a byte order mark.
    public var hasByteOrderMark = false

    /// All records, in Japanese.
    public init() {}
}

/// A file that a ledger was written as.
public struct LedgerExport: Sendable {
    /// The bytes of the file.
    public let data: [UInt8]
    /// How many records, or lines of a claim, are in it.
    public let records: Int
    /// How many records are not, since the format asks for an amount or a day that is not known.
    public let leftOut: Int
    let format: LedgerFormat
    let selections: [String]
    let number: Int
}

/// What one purse has to be written, oldest first.
struct ExportChain {
    enum Item {
        /// The balance before all that follows.
        case opening(balance: Int, date: CalendarDate)
        /// What is lost before a record.
        case gap(LedgerGap, before: LedgerRecord, date: CalendarDate)
        case record(LedgerRecord, amount: Int, date: CalendarDate)
        /// A record that an earlier export had within a gap, or before its opening balance.
        case late(LedgerRecord, amount: Int, date: CalendarDate, wasInGap: Bool)
    }

    let purse: LedgerPurse
    let items: [Item]
    /// All records, also those without amount or day.
    let records: [LedgerRecord]
    let leftOut: Int
    /// Whether each balance follows from the one before, and the days rise, so that a program can check the balances.
    let isChecked: Bool
    /// Whether an earlier export began the account.
    let isContinued: Bool

    /// The balance after the newest record that was chosen, also if an earlier export had that.
    let closing: (balance: Int, date: CalendarDate)?

    /// - Parameters:
    ///   - records: what is to be written, oldest first.
    ///   - all: all that was chosen, also what an earlier export had.
    ///   - known: the places of the oldest and newest record that an earlier export had.
    init(
        _ purse: LedgerPurse, _ records: [LedgerRecord], of all: [LedgerRecord], isWhole: Bool, hasGaps: Bool,
        known: ClosedRange<Int64>?
    ) {
        let newest = all.last { $0.record.balance != nil && $0.record.date != nil }?.record
        closing = newest.flatMap { newest in newest.balance.flatMap { balance in newest.date.map { (balance, $0) } } }
        self.purse = purse
        self.records = records
        var (items, leftOut, isSorted): ([Item], Int, Bool) = ([], 0, true)
        var last: CalendarDate?
        for record in records {
            guard let date = record.record.date ?? last else {
                leftOut += 1
                continue
            }
            if let last, date < last { isSorted = false }
            last = date
            if let known, record.order < known.upperBound {
                guard let amount = record.record.amount else { continue }
                items.append(.late(record, amount: amount, date: date, wasInGap: record.order > known.lowerBound))
                continue
            }
            if items.isEmpty, known == nil, isWhole,
                let balance = record.record.amount == nil ? record.record.balance : record.balanceBefore
            {
                items.append(.opening(balance: balance, date: date))
            } else if let gap = record.gapBefore, hasGaps, isWhole, gap.amount != nil {
                items.append(.gap(gap, before: record, date: date))
            }
            if let amount = record.record.amount {
                items.append(.record(record, amount: amount, date: date))
            } else {
                leftOut += 1
            }
        }
        self.items = items
        self.leftOut = leftOut
        isChecked = isWhole && isSorted
        isContinued = known != nil
    }
}

extension Ledger {
    /// Writes records as a file of another program.
    ///
    /// - Throws: ``LedgerError/noSuchCard(_:)``; ``LedgerError/severalCards(_:)`` for ``LedgerFormat/sfcard``, whose files are of one
    ///   card; ``LedgerError/noCharacterSet``.
    public func export(
        _ format: LedgerFormat, _ options: LedgerExportOptions = LedgerExportOptions()
    ) throws(LedgerError) -> LedgerExport {
        let isDoubleEntry = format == .hledger || format == .beancount
        let (number, marks) = try marks(format, options)
        var selections: [String] = []
        var chains: [ExportChain] = []
        for (purse, records) in try self.chains(options.filter) {
            let selection = options.filter.selection(purse) + (options.isClaim ? ",claim" : "")
            selections.append(selection)
            let mark = options.onlyNew ? marks[selection] : nil
            let new = try mark.map { mark throws(LedgerError) in try self.new(records, since: mark, format) } ?? records
            let old = mark == nil ? nil : known(records, except: new)
            chains.append(
                ExportChain(
                    purse, new, of: records, isWhole: options.filter.keepsChain,
                    hasGaps: options.hasGaps || isDoubleEntry,
                    known: old))
        }
        let text: [UInt8]
        var (count, leftOut) = (chains.reduce(0) { $0 + $1.records.count }, chains.reduce(0) { $0 + $1.leftOut })
        switch format {
        case .csv where options.isClaim || options.columns != nil:
            let lines =
                options.isClaim ? LedgerColumns.lines(claims(chains), options) : LedgerColumns.lines(chains, options)
            (count, leftOut) = (lines.count, 0)
            text = try (options.columns ?? .claim(options.language)).write(lines, options)
        case .csv:
            leftOut = 0
            text = CSVExport.write(chains, options)
        case .sfcard:
            guard chains.count <= 1 else { throw .severalCards(options.filter.cards.first ?? "") }
            text = try SFCardExport.write(chains.first, options)
        case .moneyforward: text = BudgetExport.moneyForward(chains, options)
        case .zaim: text = BudgetExport.zaim(chains, options)
        case .ofx: text = OFXExport.write(chains, options)
        case .qif: text = QIFExport.write(chains, options)
        case .hledger: text = JournalExport.hledger(chains, options)
        case .beancount: text = JournalExport.beancount(chains, options)
        }
        return LedgerExport(
            data: text, records: count - leftOut, leftOut: leftOut, format: format, selections: selections,
            number: number)
    }

    /// Notes that a file is safe where it belongs, so that the next export with `onlyNew` leaves its records out.
    public func didWrite(_ export: LedgerExport) throws(LedgerError) {
        try store.write { db in
            for selection in export.selections {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO exported VALUES (?, ?, ?)",
                    arguments: [export.format.rawValue, selection, export.number])
            }
        }
    }

    // MARK: New records

    private func marks(
        _ format: LedgerFormat, _ options: LedgerExportOptions
    ) throws(LedgerError) -> (Int, [String: Int]) {
        try store.read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT selection, number FROM exported WHERE format = ?", arguments: [format.rawValue])
            let number = try Int.fetchOne(db, sql: "SELECT number FROM change") ?? 0
            return (number, Dictionary(rows.map { ($0[0], $0[1]) }) { first, _ in first })
        }
    }

    /// The records that came, or whose amount came, after a change.
    private func new(
        _ records: [LedgerRecord], since mark: Int, _ format: LedgerFormat
    ) throws(LedgerError) -> [LedgerRecord] {
        // A table has records without amount, too; everything else has a record once its amount is known.
        let column = format == .csv ? "added" : "completed"
        let ids = try store.read { db in
            try Set(Int64.fetchAll(db, sql: "SELECT id FROM record WHERE \(column) > ?", arguments: [mark]))
        }
        return records.filter { ids.contains($0.id) }
    }

    private func known(_ records: [LedgerRecord], except new: [LedgerRecord]) -> ClosedRange<Int64>? {
        let ids = Set(new.map(\.id))
        let old = records.filter { !ids.contains($0.id) }
        guard let first = old.first, let last = old.last else { return nil }
        return min(first.order, last.order)...max(first.order, last.order)
    }

    private func claims(_ chains: [ExportChain]) -> [LedgerClaim] {
        let claims = chains.flatMap { chain in
            LedgerClaim.claims(chain.records.filter { $0.record.kind == .rail || $0.record.kind == .bus })
        }
        return claims.enumerated().sorted { ($0.element.date, $0.offset) < ($1.element.date, $1.offset) }.map(\.element)
    }
}
