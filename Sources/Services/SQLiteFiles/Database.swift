// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// How a connection is opened.
package struct DatabaseConfiguration: Sendable {
    /// For how many seconds a statement waits for another program's transaction.
    package var patience = 0
    /// Whether nothing can be written.
    package var isReadOnly = false
    /// Whether references to rows of other tables are checked.
    package var checksForeignKeys = true
    /// Statements that the connection begins with.
    package var setup: [String] = []

    package init() {}
}

/// A connection to a database, which one thread uses at a time (``DatabaseQueue``).
@safe package final class Database {
    private var handle: OpaquePointer?
    private var cache: [String: Statement] = [:]
    private var isInTransaction = false

    init(path: String, _ configuration: DatabaseConfiguration) throws {
        let access = configuration.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = unsafe sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK else {
            unsafe sqlite3_close_v2(handle)
            unsafe handle = nil
            throw DatabaseError(code)
        }
        unsafe sqlite3_extended_result_codes(handle, 1)
        unsafe sqlite3_busy_timeout(handle, Int32(clamping: max(0, min(configuration.patience, 1_000_000)) * 1000))
        unsafe kazasu_sqlite_refuse_quoted_text(handle)
        if configuration.checksForeignKeys { try execute(sql: "PRAGMA foreign_keys = ON") }
        for statements in configuration.setup { try execute(sql: statements) }
        // A file of another kind is noticed now.
        try execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1")
    }

    deinit { close() }

    func close() {
        cache = [:]
        // One that a statement still refers to is closed with that.
        unsafe sqlite3_close_v2(handle)
        unsafe handle = nil
    }

    // MARK: Statements

    /// Prepares the one statement of a text.
    package func makeStatement(sql: String) throws -> Statement { try statement(sql, SQLITE_PREPARE_PERSISTENT) }

    /// The same statement each time.
    package func cachedStatement(sql: String) throws -> Statement {
        if let known = cache[sql] { return known }
        let statement = try makeStatement(sql: sql)
        cache[sql] = statement
        return statement
    }

    /// Runs all statements of a text, each with as many of the arguments as it has parameters.
    package func execute(sql: String, arguments: StatementArguments = []) throws {
        var arguments = arguments
        try forEachStatement(sql) { statement in
            let (own, others) = arguments.split(at: statement.parameterCount)
            try statement.execute(arguments: own)
            arguments = others
        }
        guard arguments.values.isEmpty else { throw DatabaseError(SQLITE_MISUSE, "too many arguments") }
    }

    func statement(_ sql: String, _ flags: Int32 = 0) throws -> Statement {
        var found: Statement?
        try forEachStatement(sql, flags) { statement in
            guard found == nil else { throw DatabaseError(SQLITE_MISUSE, "more than one statement") }
            found = statement
        }
        guard let found else { throw DatabaseError(SQLITE_MISUSE, "no statement") }
        return found
    }

    private func forEachStatement(_ sql: String, _ flags: Int32 = 0, _ body: (Statement) throws -> Void) throws {
        guard unsafe handle != nil else { throw DatabaseError(SQLITE_MISUSE, "the database is closed") }
        try unsafe sql.withCString { text in
            var next = unsafe text
            while unsafe next.pointee != 0 {
                var (prepared, rest): (OpaquePointer?, UnsafePointer<CChar>?)
                let code = unsafe sqlite3_prepare_v3(handle, next, -1, UInt32(flags), &prepared, &rest)
                guard code == SQLITE_OK else { throw lastError(code) }
                // There is none in a comment.
                if let prepared = unsafe prepared { try unsafe body(Statement(prepared, self)) }
                guard let rest = unsafe rest, unsafe rest > next else { return }
                unsafe next = rest
            }
        }
    }

    func lastError(_ code: Int32) -> DatabaseError {
        unsafe DatabaseError(code, String(cString: sqlite3_errmsg(handle)))
    }

    // MARK: Changes

    /// How many rows the last statement has changed.
    package var changesCount: Int { unsafe Int(sqlite3_changes(handle)) }

    /// How many rows the connection has changed.
    package var totalChangesCount: Int { unsafe Int(sqlite3_total_changes(handle)) }

    /// The id of the last row that was inserted.
    package var lastInsertedRowID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Copies everything to an empty database.
    func copy(to other: Database) throws {
        guard let backup = unsafe sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw other.lastError(unsafe sqlite3_extended_errcode(other.handle))
        }
        let copied = unsafe sqlite3_backup_step(backup, -1)
        let code = unsafe sqlite3_backup_finish(backup)
        guard code == SQLITE_OK, copied == SQLITE_DONE else { throw DatabaseError(code == SQLITE_OK ? copied : code) }
    }

    // MARK: Transactions

    /// When a transaction locks the file.
    package enum TransactionKind: String {
        /// With the first statement that needs it.
        case deferred
        /// At once.
        case immediate
    }

    /// Runs a transaction, which ends whole or not at all: its body decides, and an error takes everything back.
    package func transaction<Value>(
        _ kind: TransactionKind = .immediate, _ body: () throws -> (Value, commits: Bool)
    ) throws -> Value {
        try cachedStatement(sql: "BEGIN \(kind.rawValue) TRANSACTION").execute()
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let (value, commits) = try body()
            try cachedStatement(sql: commits ? "COMMIT" : "ROLLBACK").execute()
            return value
        } catch {
            // After some errors SQLite has done this itself.
            if unsafe sqlite3_get_autocommit(handle) == 0 { try cachedStatement(sql: "ROLLBACK").execute() }
            throw error
        }
    }

    /// Whether SQLite has ended the transaction of ``transaction(_:_:)`` by itself, after an error that its body caught. What
    /// follows would be written without one.
    var hasLostTransaction: Bool { unsafe isInTransaction && sqlite3_get_autocommit(handle) != 0 }
}
