// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc
internal import Synchronization

/// What the outbox remembers of earlier runs.
package struct OutboxMemory: Sendable {
    /// What it remembers of a reader.
    package struct Reader: Sendable {
        /// The number of its last event.
        package var sequence: Int
        /// The `on` of a visit that has not ended.
        package var visit: String?

        package init(sequence: Int, visit: String? = nil) { (self.sequence, self.visit) = (sequence, visit) }
    }

    /// The id of the last event.
    package var lastID: String?
    package var readers: [String: Reader]

    package init(lastID: String? = nil, readers: [String: Reader] = [:]) {
        (self.lastID, self.readers) = (lastID, readers)
    }
}

/// Why the outbox cannot be used. Errors of SQLite carry its primary result code.
package enum OutboxError: Error, Hashable, Sendable {
    /// Another watcher uses it.
    case locked(path: String)
    /// The file or its folder cannot be made.
    case unusable(path: String, errno: Int32)
    /// It was made by a newer version.
    case newer(path: String)
    /// The file is something else.
    case foreign(path: String)
    /// The file at this path, where SQLite keeps the outbox's journal, is something else, or names a file that SQLite would
    /// delete.
    case foreignJournal(path: String)
    /// The file is an outbox, but damaged.
    case damaged(path: String)
    case full
    case readOnly
    case failed(code: Int32)
}

/// The events that are kept until every sink has them: a SQLite database.
///
/// Each call is one transaction, on the disk when the call returns (WAL, `synchronous=FULL`).
package final class Outbox: Sendable {
    let database: DatabaseQueue
    /// Where the file is.
    package let path: String
    private let lock: Int32?
    private let listeners = Mutex<[AsyncStream<Void>.Continuation]>([])

    /// `kzob`, so that other databases are not mistaken for an outbox.
    private static let format = SQLiteFile.Format(
        application: 0x6B7A_6F62, steps: [schema], wholeCheck: 16 << 20)

    /// Opens the file, or makes it.
    ///
    /// - Parameters:
    ///   - isWatcher: whether this process stores events; only one may.
    ///   - makesFolders: whether it also makes the folders above the file.
    package init(_ path: String, isWatcher: Bool, makesFolders: Bool = false) throws(OutboxError) {
        self.path = path
        try Self.checkLink(path)
        try Self.attempt(path) { _ = try SQLiteFile.prepare(path, makesFolders: makesFolders) }
        lock = isWatcher ? try Self.lock(path) : nil
        do throws(OutboxError) {
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
            }
            let configured = configuration
            database = try Self.attempt(path) { try SQLiteFile.open(path, Self.format, configured) }
            try Self.attempt(path) { [database] in
                try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
            }
        } catch {
            if let lock { Glibc.close(lock) }
            throw error
        }
    }

    /// Closes the database. Nothing can be stored afterwards.
    package func close() {
        for listener in listeners.withLock({ $0 }) { listener.finish() }
        try? database.close()
        if let lock { Glibc.close(lock) }
    }

    /// A link is not followed: an administrator's outbox in a folder of others could be a link to any file.
    private static func checkLink(_ path: String) throws(OutboxError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return }
        throw .foreign(path: path)
    }

    /// The lock is on a file of its own: closing a file that SQLite has open would release SQLite's locks.
    private static func lock(_ path: String) throws(OutboxError) -> Int32 {
        let file = unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .unusable(path: path + ".lock", errno: errno) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(file)
            throw .locked(path: path)
        }
        return file
    }

    /// Names a damaged file `….damaged-1`, so that a new one can be made.
    ///
    /// - Returns: its new name; `nil` if it could not be renamed.
    static func setAside(_ path: String) -> String? {
        for number in 1...1000 {
            let name = "\(path).damaged-\(number)"
            guard unsafe access(name, F_OK) != 0 else { continue }
            guard unsafe rename(path, name) == 0 else { return nil }
            for suffix in ["-wal", "-shm", "-journal"] where unsafe access(path + suffix, F_OK) == 0 {
                unsafe rename(path + suffix, name + suffix)
            }
            return name
        }
        return nil
    }

    /// Opens the outbox of a watcher. A damaged one is set aside: what is in it may be saved by hand, and readers must
    /// not wait for that.
    ///
    /// - Parameter setAside: gets the damaged file's new name.
    package static func opened(
        _ path: String, makesFolders: Bool = false, setAside: (String) -> Void
    ) throws(OutboxError) -> Outbox {
        do throws(OutboxError) {
            return try Outbox(path, isWatcher: true, makesFolders: makesFolders)
        } catch .damaged(let damaged) {
            guard let name = Self.setAside(path) else { throw .damaged(path: damaged) }
            setAside(name)
            return try Outbox(path, isWatcher: true)
        }
    }

    /// Rows of `deliveries` are deleted when the sink has the event; what is left is pending (0) or dead (1).
    private static let schema = """
        CREATE TABLE events (
            position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, reader TEXT NOT NULL,
            sequence INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL, tag TEXT, line TEXT NOT NULL,
            confirmed INTEGER NOT NULL DEFAULT 0, UNIQUE (reader, sequence)) STRICT;
        CREATE INDEX events_unconfirmed ON events (reader, sequence) WHERE confirmed = 0;
        CREATE TABLE deliveries (
            sink TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0, reader TEXT NOT NULL,
            position INTEGER NOT NULL REFERENCES events (position) ON DELETE CASCADE,
            attempts INTEGER NOT NULL DEFAULT 0, error TEXT, PRIMARY KEY (sink, position)) STRICT, WITHOUT ROWID;
        CREATE INDEX deliveries_by_state ON deliveries (sink, state, reader, position);
        CREATE INDEX deliveries_by_position ON deliveries (position);
        CREATE TABLE readers (reader TEXT PRIMARY KEY, sequence INTEGER NOT NULL, visit TEXT) STRICT, WITHOUT ROWID;
        CREATE TABLE memory (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        """

    // MARK: Access

    func read<Value>(_ body: (Database) throws -> Value) throws(OutboxError) -> Value {
        try Self.attempt(path) { try database.read(body) }
    }

    func write<Value>(_ body: (Database) throws -> Value) throws(OutboxError) -> Value {
        try Self.attempt(path) { try database.write(body) }
    }

    private static func attempt<Value>(_ path: String, _ body: () throws -> Value) throws(OutboxError) -> Value {
        do {
            return try body()
        } catch let fault as SQLiteFile.Fault {
            switch fault {
            case .foreign: throw .foreign(path: path)
            case .damaged: throw .damaged(path: path)
            case .newer: throw .newer(path: path)
            case .foreignJournal(let path): throw .foreignJournal(path: path)
            case .inaccessible(let errno): throw .unusable(path: path, errno: errno)
            }
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_FULL: throw .full
            case .SQLITE_READONLY: throw .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: throw .damaged(path: path)
            case let code: throw .failed(code: code.rawValue)
            }
        } catch {
            throw .failed(code: -1)
        }
    }

    // MARK: Storing

    /// What it remembers of earlier runs.
    package func memory() throws(OutboxError) -> OutboxMemory {
        try read { database in
            var memory = OutboxMemory(
                lastID: try String.fetchOne(database, sql: "SELECT value FROM memory WHERE name = 'lastID'"))
            for row in try Row.fetchAll(database, sql: "SELECT reader, sequence, visit FROM readers") {
                memory.readers[row["reader"]] = OutboxMemory.Reader(sequence: row["sequence"], visit: row["visit"])
            }
            return memory
        }
    }

    /// Remembers who gets events from now on, for the commands that ask about the outbox.
    ///
    /// - Parameter confirms: whether events are kept until a consumer acknowledges them.
    func remember(sinks: [String], confirms: Bool) throws(OutboxError) {
        try write { database in
            let values = ["sinks": sinks.joined(separator: "\n"), "confirms": confirms ? "1" : "0"]
            for (name, value) in values {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO memory (name, value) VALUES (?, ?)", arguments: [name, value])
            }
        }
    }

    /// Stores events, each once, for these sinks; then tells the listeners.
    package func store(_ events: [OutboxEvent], for sinks: [String]) throws(OutboxError) {
        guard let last = events.last else { return }
        try write { database in
            for event in events {
                try database.execute(
                    sql: """
                        INSERT INTO events (id, reader, sequence, type, time, tag, line) VALUES (?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        event.id, event.reader, event.sequence, event.type, event.time, event.tag, event.line,
                    ])
                let position = database.lastInsertedRowID
                for sink in sinks {
                    try database.execute(
                        sql: "INSERT INTO deliveries (sink, reader, position) VALUES (?, ?, ?)",
                        arguments: [sink, event.reader, position])
                }
                try database.execute(
                    sql: """
                        INSERT INTO readers (reader, sequence, visit) VALUES (?, ?, ?) ON CONFLICT (reader) DO UPDATE
                        SET sequence = excluded.sequence, visit = CASE ? WHEN 'reader' THEN visit ELSE excluded.visit END
                        """,
                    arguments: [
                        event.reader, event.sequence, event.type == "on" ? event.line : nil, event.type,
                    ])
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO memory (name, value) VALUES ('lastID', ?)", arguments: [last.id])
        }
        notify()
    }

    /// Adds a listener, which gets an element when there may be something new to deliver.
    func listen(_ listener: AsyncStream<Void>.Continuation) {
        listeners.withLock { $0.append(listener) }
    }

    func notify() {
        for listener in listeners.withLock({ $0 }) { listener.yield() }
    }
}
