// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import Glibc
internal import SQLiteFiles

/// The state of earlier runs that the outbox keeps.
package struct OutboxMemory: Sendable {
    /// The state of a reader.
    package struct Reader: Sendable {
        /// The number of its last event.
        package var sequence: Int
        /// The `on` of a visit that has not ended.
        package var visit: TapEvent?

        package init(sequence: Int, visit: TapEvent? = nil) { (self.sequence, self.visit) = (sequence, visit) }
    }

    /// The id of the last event.
    package var lastID: String?
    package var readers: [String: Reader]

    package init(lastID: String? = nil, readers: [String: Reader] = [:]) {
        (self.lastID, self.readers) = (lastID, readers)
    }
}

/// Why the outbox cannot be used.
@nonexhaustive
public enum OutboxError: Error, Hashable, Sendable {
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
    /// The disk is full.
    case full
    /// The file or its file system is read-only.
    case readOnly
    /// Another error of SQLite: its primary result code.
    case failed(code: Int32)
}

extension OutboxError: SelfDescribing {
    /// One sentence.
    public var message: LocalizedText {
        switch self {
        case .locked(let path):
            LocalizedText("another watcher uses the outbox \(path)", "outbox \(path) は別の watch が使用中です")
        case .unusable(let path, let errno):
            LocalizedText("\(path) cannot be written: ", "\(path) に書けません: ") + SystemMessage.of(errno)
        case .newer(let path):
            LocalizedText("\(path) was made by a newer version of Kazasu", "\(path) は新しい版の Kazasu が作成しました")
        case .foreign(let path):
            LocalizedText(
                "\(path) is not an outbox of Kazasu; it was not changed",
                "\(path) は Kazasu の outbox ではありません（変更していません）")
        case .foreignJournal(let path): SQLiteFile.foreignJournal(path)
        case .damaged(let path): LocalizedText("the outbox \(path) is damaged", "outbox \(path) は壊れています")
        case .full: LocalizedText("the outbox cannot grow: the disk is full", "ディスクに空きがなく、outbox に書けません")
        case .readOnly: LocalizedText("the outbox is read-only", "outbox は読み取り専用です")
        case .failed(let code):
            LocalizedText("the outbox cannot be used: ", "outbox を使えません: ") + SQLiteFile.failure(code)
        }
    }
}

/// Keeps events until every sink has them: a SQLite database.
///
/// Each call is one transaction, on the disk when the call returns (WAL, `synchronous=FULL`).
public actor Outbox {
    let files: OutboxFile
    /// Where the file is.
    public nonisolated let path: String
    private var listeners: [AsyncStream<Void>.Continuation] = []
    private let executor: BlockingExecutor
    /// The outbox blocks, so that it has a thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Opens the file, or makes it, on a thread of the outbox: another program that uses the file may be waited for.
    ///
    /// - Parameters:
    ///   - path: the file, which is made if it is missing.
    ///   - isWatcher: whether this process stores events; only one may.
    ///   - makesFolders: whether it also makes the folders above the file.
    /// - Throws: ``OutboxError``; a file that is something else is not changed.
    public static func open(
        _ path: String, isWatcher: Bool, makesFolders: Bool = false
    ) async throws(OutboxError) -> Outbox {
        let outbox = Outbox(unopened: path, isWatcher: isWatcher, makesFolders: makesFolders)
        try await outbox.openFile()
        return outbox
    }

    private func openFile() throws(OutboxError) { _ = try files.database() }

    /// Opens the file as ``open(_:isWatcher:makesFolders:)`` does, on the calling thread.
    package init(_ path: String, isWatcher: Bool, makesFolders: Bool = false) throws(OutboxError) {
        self.init(unopened: path, isWatcher: isWatcher, makesFolders: makesFolders)
        _ = try files.database()
    }

    /// An outbox that is opened with ``open(setAside:)``, or when it is first used.
    package init(unopened path: String, isWatcher: Bool, makesFolders: Bool = false) {
        self.path = path
        files = OutboxFile(path, isWatcher: isWatcher, makesFolders: makesFolders)
        executor = BlockingExecutor("kazasu.outbox")
    }

    /// Opens the outbox of a watcher. A damaged one is renamed, so that readers work at once and its events can be
    /// recovered by hand. One that cannot be opened because the disk is full is opened when it is used and there is room.
    ///
    /// - Parameter setAside: gets the damaged file's new name.
    package func open(setAside: @Sendable (String) -> Void) throws(OutboxError) {
        do throws(OutboxError) {
            _ = try files.database()
        } catch .full {
            return
        } catch .damaged(let damaged) {
            guard let name = Self.setAside(path) else { throw .damaged(path: damaged) }
            setAside(name)
            _ = try files.database()
        }
    }

    /// Closes the database for good. An outbox that is dropped is closed, too.
    public func close() {
        for listener in listeners { listener.finish() }
        files.close()
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

    /// Rows of `deliveries` are deleted when the sink has the event; what is left is pending (0) or dead (1).
    static let schema = """
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

    // Not isolated: they touch nothing but the database, and Swift 6.2 takes a closure that the actor lends for one that races.
    nonisolated func read<Value>(_ body: (Database) throws -> Value) throws(OutboxError) -> Value {
        let database = try files.database()
        return try OutboxFile.attempt(path) { try database.read(body) }
    }

    nonisolated func write<Value>(_ body: (Database) throws -> Value) throws(OutboxError) -> Value {
        let database = try files.database()
        return try OutboxFile.attempt(path) { try database.write(body) }
    }

    /// Makes a change that leaves less than there was, also on a full disk.
    nonisolated func reduce<Value>(_ body: (Database) throws -> Value) throws(OutboxError) -> Value {
        do throws(OutboxError) {
            return try write(body)
        } catch .full {
            // What the write-ahead log has is room again once it is in the file.
            checkpoint()
        }
        do throws(OutboxError) {
            return try write(body)
        } catch .full {
            guard files.giveUpReserve() else { throw .full }
            return try write(body)
        }
    }

    private nonisolated func checkpoint() {
        guard let database = try? files.database() else { return }
        _ = try? database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)") }
    }

    // MARK: Storing

    /// The state of earlier runs.
    package func memory() throws(OutboxError) -> OutboxMemory { try read(Self.memory) }

    static func memory(_ database: Database) throws -> OutboxMemory {
        var memory = OutboxMemory(
            lastID: try String.fetchOne(database, sql: "SELECT value FROM memory WHERE name = 'lastID'"))
        for row in try Row.fetchAll(database, sql: "SELECT reader, sequence, visit FROM readers") {
            let visit = try row.value("visit", as: String?.self).flatMap { try? TapEvent(parsing: $0) }
            let sequence: Int = try row.value("sequence")
            // Above what any reader counts to.
            guard (0..<1 << 53).contains(sequence) else { throw SQLiteFile.Fault.damaged }
            try memory.readers[row.value("reader")] = OutboxMemory.Reader(sequence: sequence, visit: visit)
        }
        return memory
    }

    /// Continues series of events under new names of their readers, each once: another reader that has the old name later
    /// does not.
    ///
    /// - Parameter names: the old and the new name of each reader.
    /// - Returns: those that were moved: a series of the old name exists, and none of the new one.
    package func moveSeries(_ names: [(old: String, new: String)]) throws(OutboxError) -> [(old: String, new: String)] {
        guard !names.isEmpty else { return [] }
        return try write { database in
            try names.filter { names in
                try database.execute(
                    sql: """
                        INSERT OR IGNORE INTO readers (reader, sequence, visit)
                        SELECT ?, sequence, visit FROM readers WHERE reader = ?
                        AND NOT EXISTS (SELECT 1 FROM memory WHERE name = ?)
                        """,
                    arguments: [names.new, names.old, "moved \(names.old)"])
                guard database.changesCount > 0 else { return false }
                try database.execute(
                    sql: "UPDATE readers SET visit = NULL WHERE reader = ?", arguments: [names.old])
                try database.execute(
                    sql: "INSERT INTO memory (name, value) VALUES (?, ?)",
                    arguments: ["moved \(names.old)", names.new])
                return true
            }
        }
    }

    /// Stores the names of the current sinks, for the commands that show the outbox.
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

    /// Stores events, each once, for these sinks; then wakes the listeners.
    ///
    /// An event without a number is not stored.
    package func store(_ events: [StoredEvent], for sinks: [String]) throws(OutboxError) {
        let events = events.filter { $0.sequence > 0 }
        guard let last = events.last else { return }
        try write { database in
            for event in events {
                let type = event.kind.word
                try database.execute(
                    sql: """
                        INSERT INTO events (id, reader, sequence, type, time, tag, line) VALUES (?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        event.id, event.reader, event.sequence, type, event.moment.milliseconds, event.card?.tag,
                        event.line,
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
                        SET sequence = excluded.sequence,
                            visit = CASE ? WHEN 'reader' THEN visit WHEN 'answer' THEN visit ELSE excluded.visit END
                        """,
                    arguments: [event.reader, event.sequence, type == "on" ? event.line : nil, type])
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO memory (name, value) VALUES ('lastID', ?)", arguments: [last.id])
        }
        notify()
    }

    /// Adds a listener, which gets an element whenever there may be something new to deliver.
    func listen(_ listener: AsyncStream<Void>.Continuation) {
        listeners.append(listener)
    }

    func notify() {
        listeners.removeAll { if case .terminated = $0.yield() { true } else { false } }
    }
}
