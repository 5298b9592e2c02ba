// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import CardModel
internal import SQLiteFiles

/// Events in an SQLite file.
struct SQLiteDatabase: EventDatabase {
    private let queue: DatabaseQueue

    let schemaLock: String? = nil

    let schema = [
        step(
            "events",
            """
            CREATE TABLE events (id TEXT PRIMARY KEY, site TEXT NOT NULL, reader TEXT NOT NULL, \
            seq INTEGER NOT NULL, type TEXT NOT NULL, at TEXT NOT NULL, received_at TEXT NOT NULL, body TEXT NOT NULL)
            """),
        step("events_reader", "CREATE INDEX events_reader ON events (site, reader, seq)"),
        step("events_at", "CREATE INDEX events_at ON events (at)"),
        step(
            "event_progress",
            """
            CREATE TABLE event_progress (site TEXT NOT NULL, reader TEXT NOT NULL, \
            topic_site TEXT NOT NULL, topic_reader TEXT NOT NULL, up_to INTEGER NOT NULL, last_seq INTEGER NOT NULL, \
            since TEXT NOT NULL, PRIMARY KEY (site, reader))
            """),
    ]

    private static func step(_ name: String, _ statement: String) -> SchemaStep {
        SchemaStep(
            condition: "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = '\(name)')",
            statement: statement)
    }

    /// Only one transaction writes at a time.
    let forUpdate = ""

    init(path: String) throws(EventStoreError) {
        var configuration = DatabaseConfiguration()
        configuration.patience = 10
        configuration.setup = ["PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"]
        do {
            // Tags are personal data: only its owner can read a new file.
            queue = try SQLiteFile.queue(SQLiteFile.prepare(path, makesFolders: false), configuration)
        } catch {
            throw Self.error(error)
        }
    }

    func transaction<Result: Sendable>(
        _ body: @Sendable (any SQLSession) throws(EventStoreError) -> Result
    ) throws(EventStoreError) -> Result {
        do {
            return try queue.write { try body(Session(database: $0)) }
        } catch {
            throw Self.error(error)
        }
    }

    func close() { queue.close() }

    private static func error(_ error: any Error) -> EventStoreError {
        if let error = error as? EventStoreError { return error }
        switch error as? SQLiteFile.Fault {
        case .inaccessible(let number): return .unreachable(SystemMessage.of(number))
        case .foreignJournal(let path): return .foreignJournal(path)
        case .foreign, .damaged, .newer: return .foreign
        case nil: break
        }
        guard let error = error as? DatabaseError else { return .statement("\(type(of: error))") }
        switch error.primaryCode {
        // SQLite's words repeat the data.
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: return .data("SQLite error \(error.code)")
        case SQLITE_NOTADB: return .foreign
        case SQLITE_ERROR: return .statement(error.message)
        default: return .unreachable(LocalizedText(error.message, error.message))
        }
    }

    private struct Session: SQLSession {
        let database: Database

        func rows(_ statement: String, _ values: [String]) throws(EventStoreError) -> [[String]] {
            do {
                let prepared = try database.cachedStatement(sql: statement.replacing("$", with: "?"))
                return try Row.fetchAll(prepared, arguments: StatementArguments(values)).map { row in
                    row.databaseValues.map {
                        String(databaseValue: $0) ?? Int(databaseValue: $0).map(String.init) ?? ""
                    }
                }
            } catch {
                throw SQLiteDatabase.error(error)
            }
        }
    }
}
