// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A connection that any thread may use; they wait for one another.
package final class DatabaseQueue: Sendable {
    private let lock = Mutex(())
    private nonisolated(unsafe) let database: Database

    /// A value that only the calling thread has.
    @safe private struct Passed<Value>: @unchecked Sendable {
        let value: Value
    }

    /// Opens a database.
    ///
    /// - Parameter path: the file; by default it is in memory.
    package init(path: String = ":memory:", _ configuration: DatabaseConfiguration = DatabaseConfiguration()) throws {
        unsafe database = try Database(path: path, configuration)
    }

    /// Runs statements, each in a transaction of its own.
    package func writeWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try lock.withLock { _ in try unsafe Passed(value: body(database)) }.value
    }

    /// Runs a transaction that no other program's transaction can come between.
    package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try writeWithoutTransaction { database in try database.transaction { (try body(database), true) } }
    }

    /// Runs a transaction that cannot write.
    package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try writeWithoutTransaction { database in
            try database.cachedStatement(sql: "PRAGMA query_only = 1").execute()
            defer { try? database.cachedStatement(sql: "PRAGMA query_only = 0").execute() }
            return try database.transaction(.deferred) { (try body(database), true) }
        }
    }

    /// Copies everything to an empty database.
    package func copy(to other: DatabaseQueue) throws {
        try other.writeWithoutTransaction { other in try writeWithoutTransaction { try $0.copy(to: other) } }
    }

    /// Closes the connection; what comes later is `SQLITE_MISUSE`.
    package func close() { lock.withLock { _ in unsafe database.close() } }
}
