// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import SQLiteFiles

/// One addition of records to a ledger: a visit of a card, a file, or files that were imported together.
public struct LedgerImport: Hashable, Sendable, Identifiable {
    /// Its number in this ledger.
    public let id: Int
    /// Where the records came from.
    public let source: LedgerSource
    /// When they were kept.
    public let time: Timestamp
    /// How many of its records the ledger has.
    public let records: Int
}

/// The result of removing records.
public struct LedgerRemoval: Hashable, Sendable {
    /// How many records.
    public internal(set) var records = 0
    /// The cards that are not in the ledger any more.
    public internal(set) var cards: [String] = []
}

extension Ledger {
    /// The additions that the ledger has records of, newest first.
    public func imports() throws(LedgerError) -> [LedgerImport] {
        try store.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT s.id, s.kind, s.name, s.keptAt, count(*) FROM source s JOIN record r ON r.source = s.id
                    GROUP BY s.id ORDER BY s.id DESC
                    """)
            // A file may be named after its card.
            func shown(_ name: String?) -> String? { options.isRedacted ? name.map { _ in "***" } : name }
            return try rows.map { row in
                try LedgerImport(
                    id: row.value(0),
                    source: LedgerSource(LedgerSource.Kind(rawValue: row.value(1)) ?? .file, name: shown(row.value(2))),
                    time: Timestamp(seconds: row.value(3)), records: row.value(4))
            }
        }
    }

    /// Removes a card with all its records, or only those of one kind of purse where the word names a kind.
    ///
    /// - Parameter card: a name, an IDm, its last digits or a kind.
    /// - Throws: ``LedgerError/noSuchCard(_:)``, ``LedgerError/severalCards(_:)``.
    public func forget(_ card: String) throws(LedgerError) -> LedgerRemoval {
        try change(.forget) { db, _ in
            let found = try LedgerCards.single(card, db, options)
            let purses = try Row.fetchAll(db, sql: "SELECT id, kind FROM purse WHERE card = ?", arguments: [found.id])
            var removal = LedgerRemoval()
            for row in purses where try found.kind == nil || row.value(1) == found.kind {
                let purse: Int64 = try row.value(0)
                try db.execute(sql: "DELETE FROM record WHERE purse = ?", arguments: [purse])
                removal.records += db.changesCount
            }
            try removeEmpty(db, &removal)
            return removal
        }
    }

    /// Removes the records that one import added, with whatever later imports added to the same records.
    ///
    /// - Parameter number: the ``LedgerImport/id``.
    /// - Throws: ``LedgerError/noSuchImport(_:)``.
    public func forgetImport(_ number: Int) throws(LedgerError) -> LedgerRemoval {
        let tomorrow = tomorrow
        return try change(.forget) { db, change in
            let purses = try Set(
                Int64.fetchAll(
                    db, sql: "SELECT DISTINCT purse FROM record WHERE source = ?", arguments: [number]))
            guard !purses.isEmpty else { throw LedgerError.noSuchImport(number) }
            // A record that follows one that goes is no longer known to follow anything.
            try db.execute(
                sql: """
                    UPDATE record SET joined = 0 WHERE joined AND purse IN (SELECT purse FROM record WHERE source = ?1)
                    AND (SELECT b.source FROM record b WHERE b.purse = record.purse AND (b.ord, b.id) < (record.ord, record.id)
                        ORDER BY b.ord DESC, b.id DESC LIMIT 1) = ?1
                    """, arguments: [number])
            try db.execute(sql: "DELETE FROM record WHERE source = ?", arguments: [number])
            var removal = LedgerRemoval(records: db.changesCount)
            var merge = WindowMerge(db: db, change: change, source: 0, tomorrow: tomorrow)
            for purse in try MergePurse.all(db, options) where purses.contains(purse.id) {
                try merge.relink(purse, from: .min, through: .max, pairs: [], new: [])
            }
            try removeEmpty(db, &removal)
            return removal
        }
    }

    /// Removes purses without records, and cards without purses.
    private func removeEmpty(_ db: Database, _ removal: inout LedgerRemoval) throws {
        try db.execute(sql: "DELETE FROM purse WHERE NOT EXISTS (SELECT 1 FROM record WHERE record.purse = purse.id)")
        let owners = "NOT EXISTS (SELECT 1 FROM purse WHERE purse.card = card.owner)"
        removal.cards = try String.fetchAll(db, sql: "SELECT key FROM card WHERE \(owners) ORDER BY id")
            .map { LedgerPurse.shown($0, options) }
        try db.execute(sql: "DELETE FROM card WHERE \(owners)")
    }

    /// Runs a change that can be undone; one that changes nothing leaves the file and the last undo step unchanged.
    ///
    /// - Parameters:
    ///   - earlier: the number of a change that this one continues.
    ///   - isTrial: whether everything is taken back at once.
    func change<Value>(
        _ kind: LedgerChange.Kind, after earlier: Int? = nil, isTrial: Bool = false,
        _ body: (_ db: Database, _ number: Int) throws -> Value
    ) throws(LedgerError) -> Value {
        let now = options.clock()
        return try store.write { db in
            let number = try LedgerSchema.nextChange(db)
            try LedgerUndo.begin(kind, number: number, after: earlier, now: now, db)
            let before = db.totalChangesCount
            let value = try body(db, number)
            let isChanged = db.totalChangesCount > before
            if isChanged { try db.execute(sql: "UPDATE change SET number = ?", arguments: [number]) }
            return (value, isChanged && !isTrial)
        }
    }
}
