// SPDX-License-Identifier: Apache-2.0

internal import SQLiteFiles

/// The SQLite file of a ledger: opened with care, migrated, read and written in transactions.
///
/// The file keeps SQLite's rollback journal, so that it is one file when nothing writes, and a killed program leaves a
/// journal that the next one rolls back.
struct LedgerStore: Sendable {
    let path: String
    /// The copy of the file from before it was brought up to date, if that was just done.
    let olderCopy: String?
    private let queue: DatabaseQueue

    init(path: String, _ options: Ledger.Options) throws(LedgerError) {
        self.path = path
        var configuration = DatabaseConfiguration()
        configuration.patience = options.patience
        configuration.setup = ["PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(max(0, options.cacheSize))"]
        if let pageLimit = options.pageLimit { configuration.setup.append("PRAGMA max_page_count = \(pageLimit)") }
        do {
            var copy: String?
            queue = try SQLiteFile.open(path, LedgerSchema.format, configuration) { copy = $0 }
            olderCopy = copy
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// Runs a reading transaction.
    func read<Value>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        do {
            return try queue.read(body)
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// Runs a writing transaction, which ends whole or not at all.
    func write<Value>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try write { db in (try body(db), true) }
    }

    /// Runs a writing transaction whose body decides whether it is committed.
    func write<Value>(_ body: (Database) throws -> (Value, commits: Bool)) throws(LedgerError) -> Value {
        try withoutTransaction { db in try db.transaction { try body(db) } }
    }

    /// Runs a writing transaction in which deleting a row deletes no others; the body checks that none is missing.
    func writeWithoutForeignKeys<Value>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        try withoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            defer { try? db.execute(sql: "PRAGMA foreign_keys = ON") }
            return try db.transaction { (try body(db), true) }
        }
    }

    /// Runs statements that no transaction may surround.
    func withoutTransaction<Value>(_ body: (Database) throws -> Value) throws(LedgerError) -> Value {
        do {
            return try queue.writeWithoutTransaction(body)
        } catch {
            throw LedgerError(error, path: path)
        }
    }
}
