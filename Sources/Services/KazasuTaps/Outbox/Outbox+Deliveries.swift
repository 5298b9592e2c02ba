// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import SQLiteFiles

/// What sinks use.
extension Outbox {
    /// The result of a delivery.
    struct Outcome: Sendable {
        var event: StoredEvent
        var result: DeliveryResult
    }

    /// The readers that have events for a sink.
    func readersWaiting(for sink: String) throws(OutboxError) -> [String] {
        try read { database in
            try String.fetchAll(
                database, sql: "SELECT DISTINCT reader FROM deliveries WHERE sink = ? AND state = 0", arguments: [sink])
        }
    }

    /// The oldest events of a reader for a sink, and how often the first one was tried.
    ///
    /// A row that is not an event, as only another program writes one, goes to the dead letters.
    func waiting(
        for sink: String, of reader: String, limit: Int
    ) throws(OutboxError) -> (events: [StoredEvent], attempts: Int) {
        while true {
            let (rows, attempts) = try read { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT events.position, events.line, deliveries.attempts
                        FROM deliveries JOIN events USING (position)
                        WHERE deliveries.sink = ? AND deliveries.state = 0 AND deliveries.reader = ?
                        ORDER BY deliveries.position LIMIT ?
                        """,
                    arguments: [sink, reader, limit])
                return (rows, try rows.first?.value("attempts") ?? 0)
            }
            let events = rows.compactMap(Self.event)
            if events.count == rows.count { return (events, attempts) }
            try write { database in
                for row in rows where Self.event(row) == nil {
                    try database.execute(
                        sql: "UPDATE deliveries SET state = 1, error = 'malformed' WHERE sink = ? AND position = ?",
                        arguments: [sink, row.value("position", as: Int64.self)])
                }
            }
        }
    }

    /// Records the results for events of one reader at a sink.
    func record(_ outcomes: [Outcome], at sink: String) throws(OutboxError) {
        try reduce { database in
            for outcome in outcomes {
                let place = "sink = ? AND position = (SELECT position FROM events WHERE id = ?)"
                switch outcome.result {
                case .delivered:
                    try database.execute(
                        sql: "DELETE FROM deliveries WHERE \(place)", arguments: [sink, outcome.event.id])
                case .retry(let reason, _):
                    try database.execute(
                        sql: "UPDATE deliveries SET attempts = attempts + 1, error = ? WHERE \(place)",
                        arguments: [reason, sink, outcome.event.id])
                case .dead(let reason):
                    try database.execute(
                        sql: "UPDATE deliveries SET attempts = attempts + 1, state = 1, error = ? WHERE \(place)",
                        arguments: [reason, sink, outcome.event.id])
                }
            }
        }
    }

    private static func event(_ row: Row) -> StoredEvent? { try? StoredEvent(parsing: row.value("line")) }

    // MARK: The consumer's acknowledgements

    /// Marks the events of a reader up to a number as acknowledged by the consumer. A number beyond the reader's last event
    /// belongs to an outbox that was lost, and is ignored.
    ///
    /// - Parameter isReader: whether a name is that of the reader; names in topics differ from those in events.
    package func confirm(upTo sequence: Int, where isReader: @Sendable (String) -> Bool) throws(OutboxError) {
        try reduce { database in
            let known = try String.fetchAll(
                database, sql: "SELECT reader FROM readers WHERE sequence >= ?", arguments: [sequence])
            for name in known where isReader(name) {
                // With `confirmed = 0` SQLite chooses the index of the few events that are not acknowledged.
                try database.execute(
                    sql: "UPDATE events SET confirmed = 1 WHERE reader = ? AND sequence <= ? AND confirmed = 0",
                    arguments: [name, sequence])
            }
        }
    }

    /// Queues events of a reader again that the consumer has not acknowledged, as after a broker lost them.
    ///
    /// - Parameters:
    ///   - sequence: the number of the first event that the consumer has after the missing ones.
    ///   - isReader: whether a name is that of the reader.
    /// - Returns: how many.
    @discardableResult
    package func resendUnconfirmed(
        to sink: String, before sequence: Int = .max, where isReader: @Sendable (String) -> Bool
    ) throws(OutboxError) -> Int {
        let count = try write { database in
            var count = 0
            for name in try String.fetchAll(database, sql: "SELECT reader FROM readers") where isReader(name) {
                try database.execute(
                    sql: """
                        INSERT OR IGNORE INTO deliveries (sink, reader, position)
                        SELECT ?, reader, position FROM events WHERE confirmed = 0 AND reader = ? AND sequence < ?
                        """,
                    arguments: [sink, name, sequence])
                count += database.changesCount
            }
            return count
        }
        if count > 0 { notify() }
        return count
    }

    // MARK: Retention

    /// How long events are kept that every sink has.
    public struct Retention: Hashable, Sendable {
        /// After so many days they are deleted; `.infinity` for never.
        public var days: Double
        /// Above this size, in bytes, the oldest are deleted.
        public var size: Int
        /// Whether an event must be acknowledged by the consumer, too.
        public var needsConfirmation: Bool

        /// Keeps events as long as these limits say.
        public init(days: Double = 7, size: Int = 100 << 20, needsConfirmation: Bool = false) {
            (self.days, self.size, self.needsConfirmation) = (days, size, needsConfirmation)
        }

        /// The days as milliseconds; more than a million of them count as a million, and so does NaN.
        fileprivate var age: Int { days < 1_000_000 ? Int(max(days, 0) * 86_400_000) : 1_000_000 * 86_400_000 }
    }

    /// Deletes events that every sink has: those that are too old, then the oldest until the rest is small enough.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - all: deletes them whatever their age, as on a full disk.
    /// - Returns: how many.
    @discardableResult
    package func tidy(_ retention: Retention, now: Int, all: Bool = false) throws(OutboxError) -> Int {
        let done =
            "NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.position = events.position)"
            + (retention.needsConfirmation ? " AND confirmed = 1" : "")
        var count = 0
        // In small transactions: a full disk has room for each, and each frees space.
        func delete(
            _ condition: String, _ arguments: StatementArguments = [],
            while isTooMuch: () throws(OutboxError) -> Bool = { true }
        ) throws(OutboxError) {
            var deleted = 1
            while deleted > 0, try isTooMuch() {
                deleted = try reduce { database in
                    try database.execute(
                        sql: """
                            DELETE FROM events WHERE position IN
                            (SELECT position FROM events WHERE \(done) AND \(condition) ORDER BY position LIMIT 256)
                            """,
                        arguments: arguments)
                    return database.changesCount
                }
                count += deleted
            }
        }
        try delete("(time < ? OR ?)", [now - retention.age, all])
        try delete("1") { () throws(OutboxError) in try read(Self.size) > retention.size }
        files.keepReserve()
        return count
    }

    /// The bytes in use, without pages that are free.
    static func size(_ database: Database) throws -> Int {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        return try (pages - free) * (Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
    }
}

extension Outbox {
    /// The events after one, oldest first.
    ///
    /// - Parameters:
    ///   - id: the id of an event; `nil` for all events that are stored.
    ///   - limit: how many events are returned at most.
    /// - Returns: `nil` if no event with that id is stored: it is unknown or was deleted.
    public func events(after id: String?, limit: Int) throws(OutboxError) -> [StoredEvent]? {
        try read { database in
            var position: Int64 = 0
            if let id {
                guard
                    let found = try Int64.fetchOne(
                        database, sql: "SELECT position FROM events WHERE id = ?", arguments: [id])
                else { return nil }
                position = found
            }
            return try Row.fetchAll(
                database, sql: "SELECT line FROM events WHERE position > ? ORDER BY position LIMIT ?",
                arguments: [position, max(0, limit)]
            ).compactMap(Self.event)
        }
    }

    /// The state of a sink's queue.
    public struct QueueStatus: Hashable, Sendable {
        /// The name of the sink.
        public var sink: String
        /// How many events wait for it.
        public var pending: Int
        /// How many it refused for good.
        public var dead: Int
        /// The time of the oldest event that is pending.
        public var oldest: Timestamp?
        /// How often the first pending event was tried.
        public var attempts: Int
        /// Why it failed last: a short token such as `exit3`.
        public var error: String?
    }

    /// The state of the outbox.
    public struct Status: Hashable, Sendable {
        /// How many events are stored.
        public var events: Int
        /// Events that no consumer has acknowledged.
        public var unconfirmed: Int
        /// Whether the last watcher kept those (`--confirm`).
        public var needsConfirmation = false
        /// Bytes.
        public var size: Int
        /// The queues with events.
        public var sinks: [QueueStatus]
        /// Readers and the numbers of their last events.
        public var readers: [String: Int]
    }

    /// The state of the outbox and its queues.
    public func status() throws(OutboxError) -> Status {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT sink, SUM(state = 0) AS pending, SUM(state = 1) AS dead,
                        MIN(CASE state WHEN 0 THEN position END) AS first
                    FROM deliveries GROUP BY sink ORDER BY sink
                    """)
            var status = Status(
                events: try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM events") ?? 0,
                unconfirmed: try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM events WHERE confirmed = 0") ?? 0,
                needsConfirmation: try Self.confirms(database), size: try Self.size(database), sinks: [], readers: [:])
            for row in rows {
                let sink: String = try row.value("sink")
                let first = try Row.fetchOne(
                    database,
                    sql: """
                        SELECT events.time, deliveries.attempts, deliveries.error FROM deliveries
                        JOIN events USING (position) WHERE deliveries.sink = ? AND deliveries.position = ?
                        """,
                    arguments: [sink, row.value("first", as: Int64?.self)])
                try status.sinks.append(
                    QueueStatus(
                        sink: sink, pending: row.value("pending"), dead: row.value("dead"),
                        oldest: first.map { Timestamp(milliseconds: try $0.value("time")) },
                        attempts: first?.value("attempts") ?? 0,
                        error: first?.value("error", as: String?.self)))
            }
            for row in try Row.fetchAll(database, sql: "SELECT reader, sequence FROM readers") {
                try status.readers[row.value("reader")] = row.value("sequence")
            }
            return status
        }
    }

    private static func confirms(_ database: Database) throws -> Bool {
        try String.fetchOne(database, sql: "SELECT value FROM memory WHERE name = 'confirms'") == "1"
    }

    /// The sinks of the last watcher, and those for which there still are events; sorted.
    public func sinks() throws(OutboxError) -> [String] {
        try read { database in
            let last = try String.fetchOne(database, sql: "SELECT value FROM memory WHERE name = 'sinks'") ?? ""
            let stored = try Set(String.fetchAll(database, sql: "SELECT DISTINCT sink FROM deliveries"))
            return stored.union(last.split(separator: "\n").map(String.init)).sorted()
        }
    }

    /// An event that a sink gets only if it is sent again.
    public struct DeadLetter: Hashable, Sendable {
        /// The id of the event.
        public var id: String
        /// The event; `nil` if it is not one of this version.
        public var event: TapEvent?
        /// The name of the sink.
        public var sink: String
        /// How often it was tried.
        public var attempts: Int
        /// Why it failed last: a short token such as `status404`.
        public var error: String?
    }

    /// The dead letters, oldest first.
    ///
    /// - Parameter sink: `nil` for those of every sink.
    public func deadLetters(of sink: String? = nil) throws(OutboxError) -> [DeadLetter] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT events.id, events.line, deliveries.sink, deliveries.attempts, deliveries.error FROM deliveries
                    JOIN events USING (position) WHERE deliveries.state = 1 AND (?1 IS NULL OR deliveries.sink = ?1)
                    ORDER BY position, sink
                    """,
                arguments: [sink]
            ).map { row in
                try DeadLetter(
                    id: row.value("id"), event: Self.event(row)?.event, sink: row.value("sink"),
                    attempts: row.value("attempts"), error: row.value("error"))
            }
        }
    }

    /// Which deliveries to change.
    public struct Selection: Hashable, Sendable {
        /// Only those of this sink.
        public var sink: String?
        /// Only those of these events.
        public var ids: [String]
        /// Whether those that are pending count as well as the dead.
        public var includesPending: Bool

        /// Selects deliveries.
        public init(sink: String? = nil, ids: [String] = [], includesPending: Bool = false) {
            (self.sink, self.ids, self.includesPending) = (sink, ids, includesPending)
        }

        /// Of deliveries.
        fileprivate var condition: String {
            (includesPending ? "1" : "state = 1") + " AND (? IS NULL OR sink = ?)"
                + (ids.isEmpty ? "" : " AND position IN (SELECT position FROM events WHERE \(conditionOfEvents))")
        }

        fileprivate var arguments: StatementArguments {
            StatementArguments([sink, sink]) + StatementArguments(ids)
        }

        fileprivate var conditionOfEvents: String {
            ids.isEmpty ? "1" : "id IN (" + ids.map { _ in "?" }.joined(separator: ",") + ")"
        }

        /// Whether it includes events that wait for nothing but the consumer behind a broker.
        fileprivate var includesUnconfirmed: Bool { includesPending && sink.map { $0.hasPrefix("mqtt:") } ?? true }
    }

    /// Queues dead letters again.
    ///
    /// - Returns: how many.
    public func resend(_ selection: Selection) throws(OutboxError) -> Int {
        try write { database in
            try database.execute(
                sql: "UPDATE deliveries SET state = 0, attempts = 0 WHERE state = 1 AND \(selection.condition)",
                arguments: selection.arguments)
            return database.changesCount
        }
    }

    /// Discards deliveries. Events that no consumer has acknowledged are pending, too: they count as acknowledged
    /// afterwards.
    ///
    /// - Returns: how many.
    public func drop(_ selection: Selection) throws(OutboxError) -> Int {
        try reduce { database in
            var count = 0
            if selection.includesUnconfirmed, try Self.confirms(database) {
                let events = "confirmed = 0 AND \(selection.conditionOfEvents)"
                count =
                    try Int.fetchOne(
                        database,
                        sql: """
                            SELECT COUNT(*) FROM events WHERE \(events)
                            AND position NOT IN (SELECT position FROM deliveries WHERE \(selection.condition))
                            """,
                        arguments: StatementArguments(selection.ids) + selection.arguments) ?? 0
                try database.execute(
                    sql: "UPDATE events SET confirmed = 1 WHERE \(events)", arguments: StatementArguments(selection.ids)
                )
            }
            try database.execute(
                sql: "DELETE FROM deliveries WHERE \(selection.condition)", arguments: selection.arguments)
            return count + database.changesCount
        }
    }
}
