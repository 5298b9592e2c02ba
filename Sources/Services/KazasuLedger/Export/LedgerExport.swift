// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
internal import SQLiteFiles

/// How a ledger is written.
public struct LedgerExportOptions: Sendable {
    /// Which records.
    public var filter = LedgerFilter()
    /// Only records that no earlier export of the same format and choice contains; see ``Ledger/didWrite(_:)``.
    public var skipsExported = false
    /// Rides as lines of an expense claim instead of records; with ``LedgerFormat/csv`` only.
    public var isClaim = false
    /// Options of a claim.
    public var claim = LedgerClaimOptions()
    /// Other columns for ``LedgerFormat/csv``.
    public var columns: LedgerColumns?
    /// The language of names and texts, and of the columns and words of ``LedgerFormat/csv``.
    public var language = Language.japanese
    /// The language of lines and stations in columns; `nil` for the one of the columns.
    public var placeLanguage: Language?
    /// The account of the card, for hledger and beancount; `nil` for `Assets:Transit:NAME`.
    public var account: String?
    /// Whether gaps are lines of their own. hledger and beancount always have them, because balances would not match otherwise. With a
    /// choice of kinds, only a claim has such lines.
    public var hasGaps = false
    /// Whether ``LedgerFormat/sfcard`` begins with the line of the card's IDm, which one program refuses.
    public var hasCardLine = true
    /// Whether ``LedgerFormat/csv`` begins with a byte order mark.
    public var hasByteOrderMark = false

    /// All records, in Japanese.
    public init() {}
}

/// The result of an export: the records that it wrote and left out.
public struct LedgerExport: Sendable {
    /// Chosen records that are not in the file.
    public struct Omission: Hashable, Sendable {
        /// Why the records are not in the file.
        @nonexhaustive
        public enum Reason: Hashable, Sendable, CaseIterable {
            /// The format needs an amount or a day that is not known.
            case unknown
            /// The format holds one currency, and this card has another.
            case currency
            /// The format needs a balance, and the card has none.
            case noBalance
            /// A claim has no rides that cost nothing.
            case free
            /// A claim has no rides within the section of a commuter pass.
            case pass
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
    /// The first rides of a claim without a known fare, at most five.
    public internal(set) var unknownRides: [LedgerRecord] = []
    /// The records missing on the chosen days.
    public internal(set) var missing = LedgerMissing()
    /// The currencies of what was written.
    public internal(set) var currencies: Set<Currency> = []
    /// How many rides of a claim were in earlier claims; see ``Ledger/didClaim(_:)``.
    public internal(set) var repeatedRides = 0
    /// Whether nothing but headers was written.
    public var isEmpty: Bool { records == 0 && !hasOtherLines }
    /// Whether there are lines other than records, such as gaps.
    var hasOtherLines = false
    /// The rides of a claim.
    var rides: [Int64] = []
    let format: LedgerFormat
    var selections: [String] = []
    let number: Int

    /// How many chosen records are not in the file.
    public var leftOut: Int { omissions.reduce(0) { $0 + $1.records } }

    mutating func omit(_ reason: Omission.Reason, _ records: Int, of purse: LedgerPurse? = nil) {
        if records > 0 { omissions.append(Omission(reason: reason, purse: purse, records: records)) }
    }
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
    ) throws(LedgerError) -> LedgerFile {
        var data: [UInt8] = []
        let export = try export(format, options) { piece in
            data += piece
            return true
        }
        return LedgerFile(data: data, export: export)
    }

    private func export(
        _ format: LedgerFormat, _ options: LedgerExportOptions, _ sink: ExportSink, _ db: Database
    ) throws -> LedgerExport {
        let number = try Int.fetchOne(db, sql: "SELECT number FROM change") ?? 0
        var export = LedgerExport(format: format, number: number)
        let marks = options.skipsExported ? try marks(format, db) : [:]
        func selection(_ purse: LedgerPurse) -> String {
            options.filter.selection(purse) + (options.isClaim ? ",claim" + options.claim.selection : "")
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
        let reader = try LedgerRecordReader(db, self.options)
        var chains: [ExportChain] = []
        for purse in purses {
            let chain = try ExportChain(purse, format, options, since: marked[purse.id], reader, self, db)
            if format.needsBalance, chain.closing == nil {
                export.omit(.noBalance, chain.count, of: purse)
                continue
            }
            export.selections.append(selection(purse))
            export.currencies.insert(purse.currency)
            export.records += chain.written
            export.hasOtherLines = export.hasOtherLines || chain.days != nil
            if !format.isTable { export.omit(.unknown, chain.leftOut) }
            chains.append(chain)
        }
        try format.write(chains, options, sink)
        return export
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
        var currency: Currency? = format.money == .yen ? .yen : nil
        if format.money == .one {
            // Yen, else the currency of most records.
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

    /// Marks the records of an export as written, so that the next one with `skipsExported` leaves them out. Call it once the file is in place.
    public func didWrite(_ export: LedgerExport) throws(LedgerError) {
        try store.write { db in
            for selection in export.selections {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO exported VALUES (?, ?, ?)",
                    arguments: [export.format.rawValue, selection, export.number])
            }
        }
    }

    /// Remembers the rides of a claim, so that later claims with one of them say so. Call it once the claim is in place.
    public func didClaim(_ export: LedgerExport) throws(LedgerError) {
        guard !export.rides.isEmpty else { return }
        try store.write { db in
            for ride in export.rides {
                try db.cachedStatement(sql: "INSERT OR IGNORE INTO claimed SELECT uid FROM record WHERE id = ?")
                    .execute(arguments: [ride])
            }
        }
    }

    /// The changes up to which earlier exports of a format went, by what they chose.
    private func marks(_ format: LedgerFormat, _ db: Database) throws -> [String: Int] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT selection, number FROM exported WHERE format = ?", arguments: [format.rawValue])
        return try Dictionary(rows.map { try ($0.value(0), $0.value(1)) }) { first, _ in first }
    }
}
