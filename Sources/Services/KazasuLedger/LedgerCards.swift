// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardDecoders
internal import CardModel
internal import SQLiteFiles

/// One purse of a card, with a summary of its records.
public struct LedgerCard: Hashable, Sendable {
    /// The card and its purse.
    public let purse: LedgerPurse
    /// How many records are kept.
    public let records: Int
    /// The day of the oldest record, or `nil`.
    public let first: CalendarDate?
    /// The day of the newest record, or `nil`.
    public let last: CalendarDate?
    /// The balance after the newest record, in the smallest unit.
    public let balance: Int?
    /// How many gaps there are.
    public let gaps: Int
    /// The other cards that were linked to this one.
    public let linked: [String]
}

/// How cards are named and found.
enum LedgerCards {
    struct Found: Hashable {
        let id: Int64
        let key: String
        /// The kind of purse that the word names; `nil` if it names the whole card.
        var kind: String?
        /// Whether the word names a brand, and that of the purse is unknown.
        var isOfUnknownBrand = false
    }

    /// The cards that a word means: a name, an IDm, the last digits of one (at least four), a kind of purse, or a brand:
    /// purses of that brand, then, marked, those of its kind whose brand is unknown.
    static func matching(_ word: String, _ db: Database, _ options: Ledger.Options) throws -> [Found] {
        func fetch(_ condition: String, _ arguments: StatementArguments, kind: String? = nil) throws -> [Found] {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT o.id, o.key FROM card c JOIN card o ON o.id = c.owner
                    LEFT JOIN purse ON purse.card = o.id WHERE \(condition) ORDER BY o.id
                    """, arguments: arguments)
            return try rows.map { try Found(id: $0.value(0), key: $0.value(1), kind: kind) }
        }
        let named = try fetch("c.name = ?", [word])
        if !named.isEmpty { return named }
        if let (decoder, brand) = options.decoders.purse(ofName: word) {
            let kind = decoder.kind.rawValue
            var cards =
                try brand.map { try fetch("purse.kind = ? AND purse.brand = ?", [kind, $0.id], kind: kind) }
                ?? fetch("purse.kind = ?", [kind], kind: kind)
            if brand != nil {
                for var card in try fetch("purse.kind = ? AND purse.brand IS NULL", [kind], kind: kind) {
                    card.isOfUnknownBrand = true
                    cards.append(card)
                }
            }
            if !cards.isEmpty { return cards }
        }
        let keyed = try fetch("c.key = ?", [word.lowercased()])
        if !keyed.isEmpty { return keyed }
        let bytes = try? Hex.decode(word)
        if let bytes, let idm = IDm(bytes) { return try fetch("c.key = ?", [options.cardKey(idm.inSystem(0))]) }
        // Half a byte cannot be decoded.
        let digits =
            bytes.map { Hex.encode($0, uppercase: false) } ?? word.lowercased().filter { !" :-".contains($0) }
        return digits.count < 4 ? [] : try fetch("substr(c.key, ?) = ?", [-digits.count, digits])
    }

    /// The one card that a word means. A brand is never assumed, since the card is changed.
    static func single(_ word: String, _ db: Database, _ options: Ledger.Options) throws -> Found {
        let found = try matching(word, db, options).filter { !$0.isOfUnknownBrand }
        guard let first = found.first else { throw LedgerError.noSuchCard(word) }
        guard found.count == 1 else { throw LedgerError.severalCards(word) }
        return first
    }

    /// The card whose purse of the same kind has the oldest records that a new card brought.
    static func sameHistory(as purse: MergePurse, _ added: [Int64], _ db: Database) throws -> String? {
        let oldest = added.prefix(3)
        guard oldest.count == 3 else { return nil }
        return try String.fetchOne(
            db,
            sql: """
                SELECT card.key FROM record mine
                JOIN record other ON other.date = mine.date AND other.purse <> mine.purse AND other.raw = mine.raw
                JOIN purse ON purse.id = other.purse AND purse.kind = ? JOIN card ON card.id = purse.card
                WHERE mine.id IN (?, ?, ?) GROUP BY purse.id HAVING count(*) >= 2 LIMIT 1
                """, arguments: StatementArguments([purse.kind]) + StatementArguments(oldest))
    }
}

extension Ledger {
    /// Every card that has records, one entry a purse.
    public func cards() throws(LedgerError) -> [LedgerCard] {
        try store.read { db in
            let linked = try Row.fetchAll(
                db,
                sql: "SELECT o.key, c.key FROM card c JOIN card o ON o.id = c.owner WHERE c.id <> c.owner ORDER BY c.id"
            )
            return try Row.fetchAll(db, sql: LedgerPurse.select + " ORDER BY purse.id").map { row in
                let purse = try LedgerPurse(row, options)
                let key: String = try row.value("key")
                func edge(_ order: String) throws -> Row? {
                    try Row.fetchOne(
                        db,
                        sql:
                            "SELECT date, balance FROM record WHERE purse = ? ORDER BY ord \(order), id \(order) LIMIT 1",
                        arguments: [purse.id])
                }
                let (first, last) = (try edge("ASC"), try edge("DESC"))
                return try LedgerCard(
                    purse: purse,
                    records: Int.fetchOne(
                        db, sql: "SELECT sum(records) FROM tally WHERE purse = ?", arguments: [purse.id]) ?? 0,
                    first: LedgerCoding.date(first?.value(0)), last: LedgerCoding.date(last?.value(0)),
                    balance: last?.value(1),
                    gaps: Int.fetchOne(
                        db,
                        sql: "SELECT count(*) FROM gap JOIN record ON record.id = gap.record WHERE record.purse = ?",
                        arguments: [purse.id]) ?? 0,
                    linked: linked.filter { try $0.value(0) == key }.map { try LedgerPurse.shown($0.value(1), options) }
                )
            }
        }
    }

    /// The purses of unknown brand that a filter leaves out because it names brands of their kind.
    ///
    /// - Returns: each with whether it was read from a card, which then does not tell its brand.
    package func purses(
        ofUnknownBrandIn filter: LedgerFilter
    ) throws(LedgerError) -> [(purse: LedgerPurse, isRead: Bool)] {
        try store.read { db in
            let found = try filter.cards.flatMap { try LedgerCards.matching($0, db, options) }
            return try Row.fetchAll(db, sql: LedgerPurse.select + " ORDER BY purse.id").compactMap { row in
                let (purse, key): (LedgerPurse, String) = try (LedgerPurse(row, options), row.value("key"))
                let isAssumed = found.contains { $0.isOfUnknownBrand && $0.key == key && $0.kind == purse.kind }
                // A name, a number or a kind chooses it whatever its brand.
                let isChosen = found.contains {
                    !$0.isOfUnknownBrand && $0.key == key && $0.kind ?? purse.kind == purse.kind
                }
                guard isAssumed, !isChosen else { return nil }
                let isRead = try Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM record JOIN source ON source.id = record.source
                            WHERE record.purse = ? AND source.kind = 'card')
                        """, arguments: [purse.id])
                return (purse, isRead ?? false)
            }
        }
    }

    /// Gives a card a name, or takes it away with `nil`.
    ///
    /// - Throws: ``LedgerError/noSuchCard(_:)``, ``LedgerError/severalCards(_:)``, ``LedgerError/nameInUse(_:)``.
    public func name(_ card: String, as name: String?) throws(LedgerError) {
        try change(.name) { db, _ in
            let found = try LedgerCards.single(card, db, options)
            let other = try Int64.fetchOne(db, sql: "SELECT id FROM card WHERE name = ?", arguments: [name])
            if let name, let other, other != found.id { throw LedgerError.nameInUse(name) }
            try db.execute(sql: "UPDATE card SET name = ? WHERE id = ?", arguments: [name, found.id])
        }
    }

    /// Takes a card for the continuation of an older one, as after a change of the phone: their records become one history
    /// under the name that one of them has.
    ///
    /// - Returns: how many records of the newer card the older one had already.
    /// - Throws: ``LedgerError/noSuchCard(_:)``, ``LedgerError/severalCards(_:)``, ``LedgerError/sameCard``,
    ///   ``LedgerError/otherPurses``, ``LedgerError/severalNames``.
    @discardableResult
    public func link(_ newer: String, to older: String) throws(LedgerError) -> Int {
        let tomorrow = tomorrow
        return try change(.link) { db, change in
            let (new, old) = (
                try LedgerCards.single(newer, db, options), try LedgerCards.single(older, db, options)
            )
            guard new.id != old.id else { throw LedgerError.sameCard }
            let purses = try MergePurse.all(db, options)
            let kept = Dictionary(purses.filter { $0.card == old.key }.map { ($0.kind, $0) }) { first, _ in first }
            let moved = purses.filter { $0.card == new.key }
            guard moved.contains(where: { kept[$0.kind] != nil }) else { throw LedgerError.otherPurses }
            func nameOf(_ card: LedgerCards.Found) throws -> String? {
                try String.fetchOne(db, sql: "SELECT name FROM card WHERE id = ?", arguments: [card.id])
            }
            if let name = try nameOf(new) {
                guard try nameOf(old) == nil else { throw LedgerError.severalNames }
                try db.execute(sql: "UPDATE card SET name = NULL WHERE id = ?", arguments: [new.id])
                try db.execute(sql: "UPDATE card SET name = ? WHERE id = ?", arguments: [name, old.id])
            }
            try db.execute(sql: "UPDATE card SET owner = ? WHERE owner = ?", arguments: [old.id, new.id])
            var repeated = 0
            for from in moved {
                guard var purse = kept[from.kind] else {
                    try db.execute(sql: "UPDATE purse SET card = ? WHERE id = ?", arguments: [old.id, from.id])
                    continue
                }
                repeated += try Ledger.move(from.id, to: &purse, change: change, tomorrow: tomorrow, db)
            }
            return repeated
        }
    }

    /// Merges the records of a purse into another.
    private static func move(
        _ from: Int64, to purse: inout MergePurse, change: Int, tomorrow: CalendarDate, _ db: Database
    ) throws -> Int {
        let runs = try LedgerRun.all(of: from, LedgerRecordReader(db, Ledger.Options()), db)
        try db.execute(sql: "DELETE FROM record WHERE purse = ?", arguments: [from])
        try db.execute(sql: "DELETE FROM purse WHERE id = ?", arguments: [from])
        var (repeated, uids) = (0, try RecordIDs(of: purse.id, db))
        for run in runs {
            guard let source = run.entries.first?.source else { continue }
            var merge = WindowMerge(db: db, change: change, source: source, tomorrow: tomorrow)
            try run.merge(into: &purse, &uids, &merge)
            repeated += run.entries.count - merge.counts.added.count
        }
        return repeated
    }
}
