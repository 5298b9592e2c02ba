// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
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
    /// Quicken Interchange Format, one currency a file; days are written year first.
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
    /// Whether what is lost is a line of its own. hledger and beancount always have it, since their balances would not fit. A choice of
    /// kinds leaves such lines out of everything but a claim.
    public var hasGaps = false
    /// Whether ``LedgerFormat/sfcard`` begins with the line of the card's IDm, which one program refuses.
    public var hasCardLine = true
    /// Whether ``LedgerFormat/csv`` begins with a byte order mark.
    public var hasByteOrderMark = false

    /// All records, in Japanese.
    public init() {}
}

/// What an export wrote, and what it left out.
public struct LedgerExport: Sendable {
    /// Chosen records that are not in the file.
    public struct Omission: Hashable, Sendable {
        /// Why the records are not in the file.
        public enum Reason: Hashable, Sendable, CaseIterable {
            /// The format needs an amount or a day that is not known.
            case unknown
            /// The format holds one currency, and this card has another.
            case currency
            /// The format needs a balance, and the card has none.
            case noBalance
            /// A claim has no rides that cost nothing.
            case free
        }

        /// Why.
        public let reason: Reason
        /// The card, where a whole card is left out.
        public let purse: LedgerPurse?
        /// How many records.
        public let records: Int
    }

    /// How many records, or lines of a claim, are in the file.
    public internal(set) var records = 0
    /// The records that are not.
    public internal(set) var omissions: [Omission] = []
    /// The sums of a claim by currency, in the smallest unit.
    public internal(set) var totals: [Currency: Int] = [:]
    /// How many lines of a claim have no known fare; no sum has them.
    public internal(set) var unknownFares = 0
    /// What the ledger lacks on the chosen days.
    public internal(set) var missing = LedgerMissing()
    /// The currencies of what was written.
    public internal(set) var currencies: Set<Currency> = []
    let format: LedgerFormat
    var selections: [String] = []
    let number: Int

    /// How many chosen records are not in the file.
    public var leftOut: Int { omissions.reduce(0) { $0 + $1.records } }

    mutating func omit(_ reason: Omission.Reason, _ records: Int, of purse: LedgerPurse? = nil) {
        if records > 0 { omissions.append(Omission(reason: reason, purse: purse, records: records)) }
    }
}

extension LedgerFormat {
    /// The only currency that the format holds, where it names one itself.
    fileprivate var currency: Currency? { self == .sfcard || self == .moneyforward ? .yen : nil }
    /// Whether each record needs a day of its own; journals give it that of the record before.
    var needsDay: Bool { self != .hledger && self != .beancount }
    var isDoubleEntry: Bool { self == .hledger || self == .beancount }
}

extension Ledger {
    /// Writes records as a file of another program, piece by piece.
    ///
    /// - Parameters:
    ///   - format: the program that it is for.
    ///   - options: which records, and how.
    ///   - output: receives each piece, and returns whether it wants more.
    /// - Throws: ``LedgerError/noSuchCard(_:)``; ``LedgerError/severalCards(_:)`` for ``LedgerFormat/sfcard``, whose files are of one
    ///   card; ``LedgerError/otherCurrency(cards:)`` for a chosen card whose currency the format cannot hold;
    ///   ``LedgerError/noCharacterSet``.
    public func export(
        _ format: LedgerFormat, _ options: LedgerExportOptions = LedgerExportOptions(),
        to output: ([UInt8]) -> Bool
    ) throws(LedgerError) -> LedgerExport {
        try withoutActuallyEscaping(output) { output throws(LedgerError) in
            let sink = ExportSink(output)
            return try store.read { db in
                let export = try export(format, options, sink, db)
                sink.flush()
                return export
            }
        }
    }

    /// Writes records as a file of another program, whole.
    public func export(
        _ format: LedgerFormat, _ options: LedgerExportOptions = LedgerExportOptions()
    ) throws(LedgerError) -> (data: [UInt8], export: LedgerExport) {
        var data: [UInt8] = []
        let export = try export(format, options) { piece in
            data += piece
            return true
        }
        return (data, export)
    }

    private func export(
        _ format: LedgerFormat, _ options: LedgerExportOptions, _ sink: ExportSink, _ db: Database
    ) throws -> LedgerExport {
        let number = try Int.fetchOne(db, sql: "SELECT number FROM change") ?? 0
        var export = LedgerExport(format: format, number: number)
        let marks = options.onlyNew ? try marks(format, db) : [:]
        func selection(_ purse: LedgerPurse) -> String {
            options.filter.selection(purse) + (options.isClaim ? ",claim" : "")
        }
        let chosen = try purses(of: options.filter, db)
        let purses = try fitting(format, options.filter, chosen, &export)
        let marked = Dictionary(
            uniqueKeysWithValues: purses.compactMap { purse in marks[selection(purse)].map { (purse.id, $0) } })
        try forEachGap(options.filter.withoutKinds, db) { gap, added in
            if added > marked[gap.after.purse.id] ?? -1 { export.missing.add(gap) }
        }
        if options.isClaim {
            export.selections = purses.map(selection)
            try writeClaim(options, marked, sink, db, &export)
            return export
        }
        var chains: [ExportChain] = []
        for purse in purses {
            let chain = try ExportChain(purse, format, options, since: marked[purse.id], self, db)
            if format == .ofx, chain.closing == nil {
                export.omit(.noBalance, chain.count, of: purse)
                continue
            }
            export.selections.append(selection(purse))
            export.currencies.insert(purse.currency)
            export.records += chain.written
            if format != .csv { export.omit(.unknown, chain.leftOut) }
            chains.append(chain)
        }
        try write(chains, format, options, sink)
        return export
    }

    private func write(
        _ chains: [ExportChain], _ format: LedgerFormat, _ options: LedgerExportOptions, _ sink: ExportSink
    ) throws {
        switch format {
        case .csv:
            guard let columns = options.columns else { return try CSVExport.write(chains, options, sink) }
            try columns.begin(sink, options)
            for chain in chains {
                try chain.forEachRecord { record in
                    columns.write(LedgerColumns.lines(record, options), to: sink)
                    return !sink.isStopped
                }
            }
        case .sfcard:
            guard chains.count <= 1 else { throw LedgerError.severalCards(options.filter.cards.first ?? "") }
            try SFCardExport.write(chains.first, options, sink)
        case .moneyforward: try BudgetExport.moneyForward(chains, options, sink)
        case .zaim: try BudgetExport.zaim(chains, options, sink)
        case .ofx: try OFXExport.write(chains, options, sink)
        case .qif: try QIFExport.write(chains, options, sink)
        case .hledger: try JournalExport.hledger(chains, options, sink)
        case .beancount: try JournalExport.beancount(chains, options, sink)
        }
    }

    /// The purses that have records on the chosen days.
    private func purses(of filter: LedgerFilter, _ db: Database) throws -> [(purse: LedgerPurse, records: Int)] {
        let condition = try LedgerCondition(filter, db, options)
        let counts = try Row.fetchAll(
            db, sql: "SELECT r.purse, count(*) FROM record r WHERE \(condition.sql) GROUP BY r.purse",
            arguments: condition.arguments)
        let records: [Int64: Int] = try Dictionary(counts.map { try ($0.value(0), $0.value(1)) }) { first, _ in first }
        return try Row.fetchAll(db, sql: LedgerPurse.select + " ORDER BY purse.id").compactMap { row in
            let purse = try LedgerPurse(row, options)
            return records[purse.id].map { (purse, $0) }
        }
    }

    /// The purses whose currency the format can hold. One that was chosen by the user is refused, others are left out.
    private func fitting(
        _ format: LedgerFormat, _ filter: LedgerFilter, _ purses: [(purse: LedgerPurse, records: Int)],
        _ export: inout LedgerExport
    ) throws(LedgerError) -> [LedgerPurse] {
        var currency = format.currency
        if format == .qif {
            // Yen, else the currency of most records: a file of QIF names none.
            let counts = Dictionary(purses.map { ($0.purse.currency, $0.records) }, uniquingKeysWith: +)
            currency =
                counts.keys.contains(.yen)
                ? .yen : counts.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key
        }
        let others = purses.filter { currency != nil && $0.purse.currency != currency }
        guard others.isEmpty || filter.cards.isEmpty else { throw .otherCurrency(cards: others.map(\.purse)) }
        for other in others { export.omit(.currency, other.records, of: other.purse) }
        return purses.map(\.purse).filter { purse in !others.contains { $0.purse.id == purse.id } }
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

    /// The changes up to which earlier exports of a format went, by what they chose.
    private func marks(_ format: LedgerFormat, _ db: Database) throws -> [String: Int] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT selection, number FROM exported WHERE format = ?", arguments: [format.rawValue])
        return try Dictionary(rows.map { try ($0.value(0), $0.value(1)) }) { first, _ in first }
    }

    // MARK: Claims

    private func writeClaim(
        _ options: LedgerExportOptions, _ marks: [Int64: Int], _ sink: ExportSink, _ db: Database,
        _ export: inout LedgerExport
    ) throws {
        let columns = options.columns ?? .claim(options.language)
        try columns.begin(sink, options)
        var gaps: [LedgerGapReport] = []
        if options.hasGaps {
            try forEachGap(options.filter.withoutKinds, db) { gap, added in
                if added > marks[gap.after.purse.id] ?? -1 { gaps.append(gap) }
            }
            // The newest first; the day of a line is not always that of the record after the gap.
            let dated = gaps.map { (gap: $0, day: LedgerCoding.number(options.filter.day(of: $0)) ?? 0) }
            gaps = dated.sorted { $0.day > $1.day }.map(\.gap)
        }
        func writeGaps(through day: CalendarDate?) {
            while let gap = gaps.last, options.filter.day(of: gap).flatMap({ own in day.map { own <= $0 } }) ?? true {
                columns.write([LedgerColumns.line(gap, options)], to: sink)
                gaps.removeLast()
            }
        }
        // A ride without a fare is on a line, and on one again once its fare is known.
        let omissions = try forEachClaim(
            options.filter, db,
            where: { row in
                let mark = try marks[row.value(1)] ?? -1
                return try row.value(2) > mark || row.value(3) ?? -1 > mark
            },
            { claim in
                writeGaps(through: claim.date)
                columns.write([LedgerColumns.line(claim, options)], to: sink)
                export.records += 1
                export.currencies.insert(claim.purse.currency)
                if let total = claim.total { export.totals[claim.purse.currency, default: 0] &+= total }
                if claim.fare == nil { export.unknownFares += 1 }
                return !sink.isStopped
            })
        writeGaps(through: nil)
        export.omit(.free, omissions.free)
        export.omit(.unknown, omissions.undated)
    }
}
