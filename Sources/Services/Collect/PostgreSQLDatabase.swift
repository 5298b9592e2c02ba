// SPDX-License-Identifier: Apache-2.0

internal import CPostgreSQL
internal import CardModel
internal import Synchronization

/// Events in a PostgreSQL database, through libpq. A lost connection is made again at the next transaction.
final class PostgreSQLDatabase: EventDatabase {
    private let url: String
    private let connection = Mutex<Connection?>(nil)

    let schemaLock: String? = "SELECT pg_advisory_xact_lock(6033470017021)"

    let schema = [
        step(
            "events",
            """
            CREATE TABLE events (id UUID PRIMARY KEY, site TEXT NOT NULL, reader TEXT NOT NULL, \
            seq BIGINT NOT NULL, type TEXT NOT NULL, at TIMESTAMPTZ NOT NULL, received_at TIMESTAMPTZ NOT NULL, \
            body JSONB NOT NULL)
            """),
        step(
            "event_progress",
            """
            CREATE TABLE event_progress (site TEXT NOT NULL, reader TEXT NOT NULL, \
            topic_site TEXT NOT NULL, topic_reader TEXT NOT NULL, up_to BIGINT NOT NULL, last_seq BIGINT NOT NULL, \
            since UUID NOT NULL, PRIMARY KEY (site, reader))
            """),
        SchemaStep(
            condition: """
                SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('events') AND attname = 'body' \
                AND atttypid = 'json'::regtype
                """,
            statement: "ALTER TABLE events ALTER COLUMN body TYPE JSONB", improvement: .jsonb),
        step("events_reader", "CREATE INDEX events_reader ON events (site, reader, seq)", .index),
        step("events_at", "CREATE INDEX events_at ON events (at)", .index),
        step("events_tag", "CREATE INDEX events_tag ON events ((body->>'tag'), at)", .index),
    ]

    private static func step(
        _ name: String, _ statement: String, _ improvement: EventStore.Improvement? = nil
    ) -> SchemaStep {
        SchemaStep(
            condition: "SELECT 1 WHERE to_regclass('\(name)') IS NULL", statement: statement, improvement: improvement)
    }

    let forUpdate = " FOR UPDATE"

    /// - Parameter url: `postgresql://…` or another form that libpq takes.
    init(url: String) {
        self.url = url
    }

    func transaction<Result: Sendable>(
        _ body: @Sendable (any SQLSession) throws(EventStoreError) -> Result
    ) throws(EventStoreError) -> Result {
        let current: Connection
        if let open = connection.withLock({ $0 }) {
            current = open
        } else {
            current = try Connection(url)
            connection.withLock { $0 = current }
        }
        do throws(EventStoreError) {
            _ = try current.rows("BEGIN", [])
            let result = try body(current)
            _ = try current.rows("COMMIT", [])
            return result
        } catch {
            var isUsable = current.isAlive && (try? current.rows("ROLLBACK", [])) != nil
            // A session stays read-only, as after a failover; a new one goes to a server that takes writes.
            if case .unreachable = error { isUsable = false }
            if !isUsable { connection.withLock { $0 = nil } }
            throw error
        }
    }

    func close() { connection.withLock { $0 = nil } }

    /// One connection of libpq, used by one thread at a time.
    @safe
    private final class Connection: SQLSession, @unchecked Sendable {
        private let handle: OpaquePointer

        init(_ url: String) throws(EventStoreError) {
            // The address comes last, so that its own settings win.
            let settings = [
                ("connect_timeout", "10"), ("application_name", "kazasu"), ("client_encoding", "UTF8"),
                ("keepalives_idle", "30"), ("tcp_user_timeout", "30000"), ("target_session_attrs", "read-write"),
                ("dbname", url),
            ]
            let opened = unsafe CTexts.with(settings.map(\.0)) { keys in
                unsafe CTexts.with(settings.map(\.1)) { values in unsafe PQconnectdbParams(keys, values, 1) }
            }
            guard let opened = unsafe opened else { throw .unreachable(LocalizedText("libpq", "libpq")) }
            unsafe handle = opened
            // What the server has to say about tables that exist already is not for the operator.
            unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
            guard unsafe PQstatus(handle) == CONNECTION_OK else { throw .unreachable(LocalizedText(message, message)) }
        }

        deinit { unsafe PQfinish(handle) }

        var isAlive: Bool { unsafe PQstatus(handle) == CONNECTION_OK }

        private var message: String {
            let text = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
            return text.split(separator: "\n").first.map(String.init) ?? ""
        }

        func rows(_ statement: String, _ values: [String]) throws(EventStoreError) -> [[String]] {
            let result = unsafe CTexts.with(values) { texts in
                unsafe PQexecParams(handle, statement, Int32(clamping: values.count), nil, texts, nil, nil, 0)
            }
            defer { unsafe PQclear(result) }
            let status = unsafe PQresultStatus(result)
            guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
                guard isAlive else { throw .unreachable(LocalizedText(message, message)) }
                let state = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "C")))
                let code = unsafe state.map { unsafe String(cString: $0) } ?? ""
                switch code.prefix(2) {
                // Data exceptions, constraints.
                case "22", "23": throw .data(code)
                // Transactions to repeat, resources, operators, system errors.
                case "40", "53", "57", "58", "08", "25": throw .unreachable(LocalizedText(message, message))
                default: throw .statement(code.isEmpty ? message : code)
                }
            }
            let (height, width) = unsafe (PQntuples(result), PQnfields(result))
            return (0..<max(0, height)).map { row in
                (0..<max(0, width)).map { column in
                    unsafe PQgetvalue(result, row, column).map { unsafe String(cString: $0) } ?? ""
                }
            }
        }
    }
}

/// Texts as C expects them: pointers to bytes that end with 0, and a null pointer after the last.
private enum CTexts {
    static func with<Result>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
    ) -> Result {
        var bytes: [CChar] = []
        for text in texts { bytes += text.utf8.map { CChar(bitPattern: $0) } + [0] }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            var offset = 0
            for text in texts {
                unsafe pointers.append(buffer.baseAddress.map { unsafe $0 + offset })
                offset += text.utf8.count + 1
            }
            unsafe pointers.append(nil)
            return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
        }
    }
}
