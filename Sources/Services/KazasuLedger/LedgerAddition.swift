// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardDecoders
public import CardModel
internal import DumpFormats
internal import SQLiteFiles

/// The source of records.
public struct LedgerSource: Hashable, Sendable {
    /// The ways that records come.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A card on a reader.
        case card
        /// A file.
        case file
        /// A card that was seen while readers were watched.
        case watch
        /// Another ledger.
        case ledger
    }

    /// The way.
    public var kind: Kind
    /// The reader's ID or the file's name, or `nil`.
    public var name: String?

    /// Creates a source.
    public init(_ kind: Kind, name: String? = nil) {
        self.kind = kind
        self.name = name
    }
}

/// How long the records on a card last before it overwrites them.
public struct LedgerPace: Hashable, Sendable {
    /// The card's purse.
    public let purse: LedgerPurse
    /// How many records the card holds.
    public let records: Int
    /// For how many days of its owner's usual rides and payments they last, rounded down.
    public let days: Int
}

/// Which part of an import a call is.
public struct LedgerBatch: Hashable, Sendable {
    /// The ``LedgerAddition/change`` of the part before; ``Ledger/undo()`` takes both back.
    public var earlier: Int?
    /// Whether the file is not changed, as for a preview.
    public var isTrial: Bool

    /// An import of its own, unless told otherwise.
    public init(after earlier: Int? = nil, isTrial: Bool = false) {
        (self.earlier, self.isTrial) = (earlier, isTrial)
    }
}

/// The result of keeping histories.
public struct LedgerAddition: Hashable, Sendable {
    /// How many records were read.
    public var read = 0
    /// How many of them are new.
    public var added = 0
    /// How many records that the ledger had got their amount.
    public var completed = 0
    /// The cards whose history was read.
    public var cards: [String] = []
    /// Those of them that the ledger did not have.
    public var newCards: [String] = []
    /// The number by which ``Ledger/forgetImport(_:)`` removes what was added, or `nil` if nothing was.
    public var source: Int?
    /// The number of the change, for ``LedgerBatch``.
    public var change: Int?
    /// How soon the last of the cards must be read again, where enough of its records are known.
    public var pace: LedgerPace?
    /// What the owner should know.
    public var notices: [LedgerNotice] = []
    /// The gaps beside what was added, newest first.
    public var gaps: [LedgerGapReport] = []

    /// Creates an empty result.
    public init() {}

    /// Merges another result. Gaps it closed stay listed until the ledger is queried again.
    package mutating func add(_ other: LedgerAddition) {
        read += other.read
        added += other.added
        completed += other.completed
        for card in other.cards where !cards.contains(card) { cards.append(card) }
        for card in other.newCards where !newCards.contains(card) { newCards.append(card) }
        (source, change) = (other.source ?? source, other.change ?? change)
        pace = other.pace ?? pace
        notices += other.notices
        let again = Set(other.gaps.map(\.after.id))
        gaps = other.gaps + gaps.filter { !again.contains($0.after.id) }
    }
}

/// One history that is to be kept.
private struct History {
    let card: String
    let report: CardReport
    let records: [HistoryRecord]
    let system: SystemCode
    let services: [Block: ServiceCode]
    /// The id of the brand, where it is known.
    let brand: String?
    /// Whether the card is known only by its records, since a file does not say its IDm.
    let isUnnamed: Bool
    /// Which of the dumps it is from.
    var dump = 0
}

extension Ledger {
    /// Keeps every history of a dump.
    ///
    /// - Throws: ``LedgerError/noHistory`` when no decoder finds one.
    @discardableResult
    public func keep(
        _ dump: CardDump, source: LedgerSource = LedgerSource(.card)
    ) throws(LedgerError) -> LedgerAddition {
        try keep([dump], source: source)
    }

    /// Keeps every history of some dumps: all of them, or none when something fails.
    ///
    /// - Parameters:
    ///   - dumps: in any order, of any cards.
    ///   - source: where they come from.
    ///   - card: the name or IDm of the card that they must be of; of any card for `nil`.
    ///   - kind: the id of the only decoder whose histories are kept; all for `nil`.
    ///   - batch: which part of an import they are, and whether it is a preview.
    /// - Throws: ``LedgerError/noHistory`` when no decoder finds one in any, ``LedgerError/otherCard(dump:)`` when one is of another card.
    @discardableResult
    public func keep(
        _ dumps: [CardDump], source: LedgerSource, of card: String? = nil, kind: CardKind? = nil,
        batch: LedgerBatch = LedgerBatch()
    ) throws(LedgerError) -> LedgerAddition {
        let histories = dumps.enumerated().flatMap { index, dump in
            self.histories(dump).map { history in
                var history = history
                history.dump = index
                return history
            }
        }.filter { $0.report.kind == kind ?? $0.report.kind }
        guard !histories.isEmpty else { throw .noHistory }
        return try keep(histories, source, readAt: dumps.compactMap(\.readAt).last, of: card, batch)
    }

    /// Keeps a history that was decoded before, as a watcher of readers has it.
    ///
    /// - Parameters:
    ///   - report: what was decoded, with a history.
    ///   - card: the identifier of the card.
    ///   - brand: the brand that the card tells; a known one is never replaced by `nil`.
    ///   - source: where the history comes from.
    ///   - readAt: when the card was read, in the form of ISO 8601.
    @discardableResult
    public func keep(
        _ report: CardReport, of card: IDm, brand: CardBrand? = nil, source: LedgerSource, readAt: String? = nil
    ) throws(LedgerError) -> LedgerAddition {
        try keep(
            report, key: options.cardKey(card.inSystem(0)), brand: brand?.id, source: source, readAt: readAt)
    }

    /// Keeps the history of a card that the ledger knows by this key.
    package func keep(
        _ report: CardReport, key: String, brand: String?, source: LedgerSource, readAt: String?
    ) throws(LedgerError) -> LedgerAddition {
        guard let records = report.history, !records.isEmpty, let decoder = options.decoders.decoder(of: report.kind)
        else { throw .noHistory }
        let history = History(
            card: key, report: report, records: records, system: decoder.system,
            services: [:], brand: brand ?? decoder.onlyBrand?.id, isUnnamed: false)
        return try keep([history], source, readAt: readAt, of: nil, LedgerBatch())
    }

    /// The result of importing a file.
    @nonexhaustive
    public enum ImportResult: Hashable, Sendable {
        /// Its histories were kept.
        case kept(LedgerAddition)
        /// It is of no format that is known, or not what its format asks for.
        case unreadable(DocumentError)
    }

    /// Keeps every history of a dump file of any known format.
    public func `import`(
        _ file: [UInt8], name: String?, of card: String? = nil
    ) throws(LedgerError) -> ImportResult {
        let dumps: [CardDump]
        do {
            dumps = try DumpFormatRegistry.standard.read(file).dumps
        } catch {
            return .unreadable(error)
        }
        return .kept(try keep(dumps, source: LedgerSource(.file, name: name), of: card))
    }

    // MARK: Histories

    private func histories(_ dump: CardDump) -> [History] {
        options.decoders.recognizing(dump).compactMap { decoder in
            guard decoder.hasBalance, let report = try? decoder.decode(dump), let records = report.history,
                !records.isEmpty, let system = dump.system(decoder.system)
            else { return nil }
            var services: [Block: ServiceCode] = [:]
            let codes = decoder.historyReads.map(\.service)
            for service in system.services where codes.contains(where: { $0.overlapGroup == service.code.overlapGroup })
            {
                for entry in service.blocks { services[entry.block] = service.code }
            }
            let isUnnamed = Ledger.isIDmAssumed(system)
            // A file that does not say whose records it holds is known by the oldest of them until others overlap it.
            let first = records.last.map { LedgerCoding.hash(LedgerCoding.raw($0)) } ?? 0
            let key =
                isUnnamed
                ? Ledger.unnamed + Hex.encode(first, digits: 16, uppercase: false)
                : options.cardKey(system.idm.inSystem(0))
            return History(
                card: key, report: report, records: records, system: decoder.system, services: services,
                brand: decoder.brand(dump)?.id, isUnnamed: isUnnamed)
        }
    }

    /// What the keys of cards begin with whose IDm no file says.
    static let unnamed = "file-"

    private static func isIDmAssumed(_ system: SystemDump) -> Bool {
        system.assumed.contains(.idm) || system.idm.rawValue == 0
    }

    // MARK: Transaction

    private func keep(
        _ histories: [History], _ source: LedgerSource, readAt: String?, of card: String?, _ batch: LedgerBatch
    ) throws(LedgerError) -> LedgerAddition {
        let (tomorrow, now, progress) = (tomorrow, options.clock(), options.progress)
        let (addition, records) = try change(.keep, after: batch.earlier, isTrial: batch.isTrial) { db, number in
            let sourceID = try LedgerSchema.next("SELECT max(id) FROM source", db)
            let wanted = try card.map { try LedgerCards.single($0, db, options).key }
            var merge = WindowMerge(db: db, change: number, source: sourceID, tomorrow: tomorrow)
            var addition = LedgerAddition()
            for (place, history) in histories.enumerated() {
                progress(place, histories.count)
                let (found, isNew) = try purse(of: history, db)
                var purse = found
                if let wanted, purse.card != wanted { throw LedgerError.otherCard(dump: history.dump) }
                let isWhole = !history.report.warnings.contains(.historyIncomplete)
                let before = merge.counts.added.count
                try merge.keep(history.records, isWhole: isWhole, services: history.services, in: &purse)
                if !addition.cards.contains(purse.card) { addition.cards.append(purse.card) }
                if isNew, !addition.newCards.contains(purse.card) { addition.newCards.append(purse.card) }
                if isNew, let other = try LedgerCards.sameHistory(as: purse, Array(merge.counts.added[before...]), db) {
                    addition.notices.append(.sameHistory(card: purse.card, as: other))
                }
                if place == histories.count - 1 { addition.pace = try pace(of: purse, holding: history.records, db) }
            }
            try finish(&addition, merge, source, sourceID, readAt: readAt, now, db)
            return (addition, try additions(merge.counts.added, db))
        }
        if !batch.isTrial { announce(records) }
        return addition
    }

    /// Ends a change that added records: their source, what was counted, and the gaps beside them.
    func finish(
        _ addition: inout LedgerAddition, _ merge: WindowMerge, _ source: LedgerSource, _ sourceID: Int64,
        readAt: String?, _ now: Int, _ db: Database
    ) throws {
        let counts = merge.counts
        addition.read = counts.read
        addition.added = counts.added.count
        addition.completed = counts.completed
        addition.notices += counts.notices
        addition.change = merge.change
        if !counts.added.isEmpty || counts.completed > 0 {
            addition.source = Int(sourceID)
            try db.execute(
                sql: "INSERT INTO source VALUES (?, ?, ?, ?, ?)",
                arguments: [sourceID, source.kind.rawValue, source.name, readAt, now])
        }
        if !counts.gaps.isEmpty { addition.gaps = try gaps(before: counts.gaps, db) }
        guard options.isRedacted else { return }
        addition.cards = addition.cards.map { LedgerPurse.shown($0, options) }
        addition.newCards = addition.newCards.map { LedgerPurse.shown($0, options) }
        addition.notices = addition.notices.map { $0.masked(options) }
    }

    /// How long the records of a card last at the pace of its last hundred records and those lost among them.
    private func pace(of purse: MergePurse, holding records: [HistoryRecord], _ db: Database) throws -> LedgerPace? {
        // With fewer records the card may hold more, or the pace is a guess.
        guard records.count >= 5, let own = try LedgerRecordReader(db, options).purse(purse.id) else { return nil }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT r.date, coalesce(gap.atLeast, 0) FROM \(LedgerRecordReader.source)
                WHERE r.purse = ? AND r.date IS NOT NULL ORDER BY r.ord DESC, r.id DESC LIMIT 100
                """, arguments: [purse.id])
        let dates = try rows.compactMap { try LedgerCoding.date($0.value(0)) }.filter { $0 <= tomorrow }
        guard let first = dates.min(), let last = dates.max(), first < last else { return nil }
        let lost = try rows.dropLast().reduce(0) { try $0 &+ $1.value(1) }
        let (days, all) = (CalendarDays.number(last) - CalendarDays.number(first), dates.count &+ max(0, lost))
        return LedgerPace(purse: own, records: records.count, days: records.count * days / max(1, all))
    }

    /// The purse that a history belongs to; made when it is new.
    private func purse(
        of history: History, _ db: Database, currency: Currency? = nil
    ) throws -> (MergePurse, isNew: Bool) {
        var card = try Row.fetchOne(
            try db.cachedStatement(
                sql: "SELECT o.id, o.key FROM card c JOIN card o ON o.id = c.owner WHERE c.key = ?"),
            arguments: [history.card])
        if card == nil, history.isUnnamed, let known = try owner(of: history, db) { card = known }
        if card == nil {
            let id = try LedgerSchema.next("SELECT max(id) FROM card", db)
            try db.execute(
                sql: "INSERT INTO card (id, key, owner) VALUES (?, ?, ?)", arguments: [id, history.card, id])
            card = try Row.fetchOne(db, sql: "SELECT id, key FROM card WHERE id = ?", arguments: [id])
        }
        let (owner, key): (Int64, String) = try (card?.value(0) ?? 0, card?.value(1) ?? history.card)
        let select = try db.cachedStatement(
            sql: "SELECT id, single, double FROM purse WHERE card = ? AND kind = ?")
        var row = try Row.fetchOne(select, arguments: [owner, history.report.kind.rawValue])
        let isNew = row == nil
        if row == nil {
            try db.execute(
                sql: """
                    INSERT INTO purse (card, kind, system, english, japanese, currency) VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    owner, history.report.kind.rawValue, Int(history.system.rawValue), history.report.name.english,
                    history.report.name.japanese, (currency ?? history.report.currency).rawValue,
                ])
            row = try Row.fetchOne(select, arguments: [owner, history.report.kind.rawValue])
        }
        if let brand = history.brand {
            try db.cachedStatement(sql: "UPDATE purse SET brand = ? WHERE id = ? AND brand IS NOT ?")
                .execute(arguments: [brand, row?.value(0, as: Int64.self), brand])
        }
        let purse = try MergePurse(
            id: row?.value(0) ?? 0, card: key, kind: history.report.kind.rawValue, system: history.system,
            serials: options.decoders.decoder(of: history.report.kind)?.serials, single: row?.value(1) ?? false,
            double: row?.value(2) ?? false)
        return (purse, isNew)
    }

    /// The purse of this ledger that a purse of another one is; made when it is new.
    func purse(
        of other: MergePurse, _ description: LedgerPurse?, _ db: Database, _ addition: inout LedgerAddition
    ) throws -> MergePurse {
        let report = CardReport(
            kind: CardKind(rawValue: other.kind), name: description?.title ?? LocalizedText(other.kind, other.kind),
            history: [])
        let history = History(
            card: other.card, report: report, records: [], system: other.system, services: [:],
            brand: description?.brand?.id, isUnnamed: false)
        let (own, isNew) = try purse(of: history, db, currency: description?.currency)
        if isNew, !addition.newCards.contains(own.card) { addition.newCards.append(own.card) }
        return own
    }

    /// The card that has a record of a file which does not say whose it is.
    private func owner(of history: History, _ db: Database) throws -> Row? {
        let raws = history.records.map { LedgerCoding.raw($0) }
        let purses = try Row.fetchAll(
            db,
            sql: "SELECT purse.id, card.id, card.key FROM purse JOIN card ON card.id = purse.card WHERE purse.kind = ?",
            arguments: [history.report.kind.rawValue])
        for purse in purses {
            for (record, raw) in zip(history.records, raws) {
                let statement = try db.cachedStatement(
                    sql: "SELECT 1 FROM record WHERE date IS ? AND purse = ? AND raw = ? LIMIT 1")
                let arguments: StatementArguments = try [
                    LedgerCoding.number(record.date), purse.value(0, as: Int64.self), raw,
                ]
                if try Int.fetchOne(statement, arguments: arguments) != nil {
                    return try Row.fetchOne(
                        db, sql: "SELECT id, key FROM card WHERE id = ?", arguments: [purse.value(1, as: Int64.self)])
                }
            }
        }
        return nil
    }
}

extension CardDecoder {
    /// The brand of every card of its kind, if it covers only one.
    var onlyBrand: CardBrand? { brands.count == 1 ? brands.first : nil }
}
