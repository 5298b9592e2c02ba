// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel
internal import SQLiteFiles

/// Records of one purse that follow each other without a gap, oldest first.
struct LedgerRun {
    struct Entry {
        let record: LedgerRecord
        let service: ServiceCode?
        let source: Int64
    }

    var entries: [Entry]

    /// The runs of a purse, oldest first.
    static func all(of purse: Int64, _ reader: LedgerRecordReader, _ db: Database) throws -> [LedgerRun] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(LedgerRecordReader.columns), r.joined, r.service, r.source FROM \(LedgerRecordReader.source)
                WHERE r.purse = ? ORDER BY r.ord, r.id
                """, arguments: [purse])
        var runs: [LedgerRun] = []
        while let row = try rows.next() {
            guard let record = try reader.record(row) else { continue }
            let service = try row.value(30, as: Int?.self).map { ServiceCode(rawValue: UInt16(truncatingIfNeeded: $0)) }
            let entry = try Entry(record: record, service: service, source: row.value(31))
            if try row.value(29, as: Bool.self), !runs.isEmpty {
                runs[runs.count - 1].entries.append(entry)
            } else {
                runs.append(LedgerRun(entries: [entry]))
            }
        }
        return runs
    }

    /// Merges the run into a purse, as if it had been read from a card; records that are added keep their ids unless others have them.
    ///
    /// - Parameter uids: those of the purse.
    func merge(into purse: inout MergePurse, _ uids: inout RecordIDs, _ merge: inout WindowMerge) throws {
        let before = merge.counts.added.count
        let services = Dictionary(
            entries.compactMap { entry in entry.service.map { (entry.record.record.raw, $0) } }
        ) { first, _ in first }
        let window = entries.reversed().map { entry in
            var record = entry.record.record
            // Derived values are computed again.
            if entry.record.hasDerivedAmount { record.amount = nil }
            return record
        }
        try merge.keep(window, isWhole: true, services: services, in: &purse)
        // Of records with the same bytes, the purse had the oldest, so that the newest were added.
        var old = Dictionary(grouping: entries.map(\.record)) { LedgerCoding.raw($0.record) }
        for id in merge.counts.added[before...].reversed() {
            guard let row = try Row.fetchOne(merge.db, sql: "SELECT raw, uid FROM record WHERE id = ?", arguments: [id])
            else { continue }
            let (raw, new): ([UInt8], String) = try (row.value(0), row.value(1))
            let known = old[raw]?.popLast()?.uid
            let uid = known.flatMap { uids.insert($0) ? $0 : nil } ?? uids.free(new)
            if uid != new {
                try merge.db.execute(sql: "UPDATE record SET uid = ? WHERE id = ?", arguments: [uid, id])
            }
        }
    }
}

/// The ids of the records of a purse, so that no two get the same.
struct RecordIDs {
    private var used: Set<String>
    /// The next number to try of each id that was taken.
    private var numbers: [String: Int] = [:]

    init(of purse: Int64, _ db: Database) throws {
        used = try Set(String.fetchAll(db, sql: "SELECT uid FROM record WHERE purse = ?", arguments: [purse]))
    }

    /// Takes an id.
    ///
    /// - Returns: whether it was free.
    mutating func insert(_ uid: String) -> Bool { used.insert(uid).inserted }

    /// Takes the id, or the first free one with a number: `-2`, `-3`, ….
    mutating func free(_ uid: String) -> String {
        if insert(uid) { return uid }
        // Those below were taken; many equal records would try each of them again.
        var number = numbers[uid] ?? 2
        while !insert("\(uid)-\(number)") { number += 1 }
        numbers[uid] = number + 1
        return "\(uid)-\(number)"
    }
}

extension MergePurse {
    static func all(_ db: Database, _ options: Ledger.Options) throws -> [MergePurse] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT purse.id, card.key, purse.kind, purse.system, purse.single, purse.double
                FROM purse JOIN card ON card.id = purse.card ORDER BY purse.id
                """
        ).map { row in
            let (kind, system): (String, Int) = try (row.value(2), row.value(3))
            return try MergePurse(
                id: row.value(0), card: row.value(1), kind: kind,
                system: SystemCode(rawValue: UInt16(truncatingIfNeeded: system)),
                serials: options.decoders.decoder(of: CardKind(rawValue: kind))?.serials, single: row.value(4),
                double: row.value(5))
        }
    }
}

extension Ledger {
    /// Adds the records of another ledger, such as a second computer's; records in both are kept once. Names of cards are taken over
    /// where this ledger has none, and so are links of cards that it does not know.
    ///
    /// - Parameters:
    ///   - other: a ledger that no other program changes meanwhile; it is not changed.
    ///   - name: what ``imports()`` lists; the path unless given.
    public func merge(_ other: Ledger, name: String? = nil) throws(LedgerError) -> LedgerAddition {
        let (tomorrow, now, progress) = (tomorrow, options.clock(), options.progress)
        let theirs = other.options
        guard other !== self else { return LedgerAddition() }
        let (addition, records) = try other.store.read { source in
            let purses = try MergePurse.all(source, theirs)
            let reader = try LedgerRecordReader(source, Ledger.Options())
            return try change(.merge) { db, number in
                let id = try LedgerSchema.next("SELECT max(id) FROM source", db)
                var (merge, addition) = (
                    WindowMerge(db: db, change: number, source: id, tomorrow: tomorrow), LedgerAddition()
                )
                for (place, purse) in purses.enumerated() {
                    progress(place, purses.count)
                    var own = try self.purse(of: purse, reader.purse(purse.id), db, &addition)
                    var uids = try RecordIDs(of: own.id, db)
                    for run in try LedgerRun.all(of: purse.id, reader, source) {
                        try run.merge(into: &own, &uids, &merge)
                    }
                    if !addition.cards.contains(own.card) { addition.cards.append(own.card) }
                }
                try takeNames(from: source, db)
                try finish(&addition, merge, LedgerSource(.ledger, name: name ?? other.path), id, readAt: nil, now, db)
                return (addition, try additions(merge.counts.added, db))
            }
        }
        announce(records)
        return addition
    }

    /// Names and links of the other ledger, for cards that have none here, and which rides it has claimed.
    private func takeNames(from source: Database, _ db: Database) throws {
        for uid in try String.fetchAll(source, sql: "SELECT uid FROM claimed") {
            try db.cachedStatement(sql: "INSERT OR IGNORE INTO claimed VALUES (?)").execute(arguments: [uid])
        }
        let cards = try Row.fetchAll(
            source, sql: "SELECT c.key, c.name, o.key FROM card c JOIN card o ON o.id = c.owner ORDER BY c.id")
        for row in cards {
            let (key, name, owner): (String, String?, String) = try (row.value(0), row.value(1), row.value(2))
            let ownerID = try Int64.fetchOne(db, sql: "SELECT owner FROM card WHERE key = ?", arguments: [owner])
            if key != owner, let ownerID,
                try Int64.fetchOne(db, sql: "SELECT id FROM card WHERE key = ?", arguments: [key]) == nil
            {
                let id = try LedgerSchema.next("SELECT max(id) FROM card", db)
                try db.execute(
                    sql: "INSERT INTO card (id, key, owner) VALUES (?, ?, ?)", arguments: [id, key, ownerID])
            }
            guard let name, try Int64.fetchOne(db, sql: "SELECT id FROM card WHERE name = ?", arguments: [name]) == nil
            else { continue }
            try db.execute(
                sql: "UPDATE card SET name = ? WHERE name IS NULL AND id = (SELECT owner FROM card WHERE key = ?)",
                arguments: [name, key])
        }
    }
}
