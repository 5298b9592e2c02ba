// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// What the sinks take from the outbox.
extension Outbox {
    /// What happened to an event at a sink.
    struct Outcome: Sendable {
        var event: OutboxEvent
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
    func waiting(
        for sink: String, of reader: String, limit: Int
    ) throws(OutboxError) -> (events: [OutboxEvent], attempts: Int) {
        try read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT events.*, deliveries.attempts FROM deliveries JOIN events USING (position)
                    WHERE deliveries.sink = ? AND deliveries.state = 0 AND deliveries.reader = ?
                    ORDER BY deliveries.position LIMIT ?
                    """,
                arguments: [sink, reader, limit])
            return (rows.map(Self.event), rows.first?["attempts"] ?? 0)
        }
    }

    /// Notes what happened to events of one reader at a sink.
    func record(_ outcomes: [Outcome], at sink: String) throws(OutboxError) {
        try write { database in
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

    static func event(_ row: Row) -> OutboxEvent {
        OutboxEvent(
            id: row["id"], reader: row["reader"], sequence: row["sequence"], type: row["type"], time: row["time"],
            tag: row["tag"], line: row["line"])
    }

    // MARK: The consumer's acknowledgements

    /// Notes that the consumer has every event of a reader up to a number. Beyond the reader's last event it is about those of
    /// an outbox that was lost, and is ignored.
    ///
    /// - Parameter reader: tells whether it is this reader; topics have names that differ from those in events.
    package func confirm(upTo sequence: Int, where isReader: (String) -> Bool) throws(OutboxError) {
        try write { database in
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

    /// Sends events of a reader again that a sink has, but the consumer has not acknowledged, as after a broker lost
    /// them.
    ///
    /// - Parameters:
    ///   - sequence: the number of the first event that the consumer has after those that it misses.
    ///   - reader: tells whether it is this reader.
    /// - Returns: how many.
    @discardableResult
    package func resendUnconfirmed(
        to sink: String, before sequence: Int = .max, where isReader: (String) -> Bool
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
    package struct Retention: Hashable, Sendable {
        /// After so many days they are deleted.
        package var days: Double
        /// Above this size, in bytes, the oldest are deleted.
        package var size: Int
        /// Whether an event must be acknowledged by the consumer, too.
        package var confirmed: Bool

        package init(days: Double = 7, size: Int = 100 << 20, confirmed: Bool = false) {
            (self.days, self.size, self.confirmed) = (days, size, confirmed)
        }
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
            + (retention.confirmed ? " AND confirmed = 1" : "")
        let count = try write { database in
            try database.execute(
                sql: "DELETE FROM events WHERE \(done) AND (time < ? OR ?)",
                arguments: [now - Int(retention.days * 86_400_000), all])
            var count = database.changesCount
            while try Self.size(database) > retention.size {
                try database.execute(
                    sql: """
                        DELETE FROM events WHERE position IN
                        (SELECT position FROM events WHERE \(done) ORDER BY position LIMIT 256)
                        """)
                guard database.changesCount > 0 else { break }
                count += database.changesCount
            }
            return count
        }
        return count
    }

    /// The bytes in use, without pages that are free.
    static func size(_ database: Database) throws -> Int {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        return try (pages - free) * (Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
    }
}

/// What the user asks about the outbox.
extension Outbox {
    /// The state of a sink's queue.
    package struct QueueStatus: Hashable, Sendable {
        package var sink: String
        package var pending: Int
        package var dead: Int
        /// The time of the oldest event that is pending, in milliseconds since 1970.
        package var oldest: Int?
        /// How often the first pending event was tried, and why it failed last.
        package var attempts: Int
        package var error: String?
    }

    /// The state of the outbox.
    package struct Status: Hashable, Sendable {
        package var events: Int
        /// Events that no consumer has acknowledged.
        package var unconfirmed: Int
        /// Whether the last watcher kept those (`--confirm`).
        package var confirms = false
        /// Bytes.
        package var size: Int
        package var sinks: [QueueStatus]
        /// Readers and the numbers of their last events.
        package var readers: [String: Int]
    }

    package func status() throws(OutboxError) -> Status {
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
                confirms: try Self.confirms(database), size: try Self.size(database), sinks: [], readers: [:])
            for row in rows {
                let sink: String = row["sink"]
                let first = try Row.fetchOne(
                    database,
                    sql: """
                        SELECT events.time, deliveries.attempts, deliveries.error FROM deliveries
                        JOIN events USING (position) WHERE deliveries.sink = ? AND deliveries.position = ?
                        """,
                    arguments: [sink, row["first"] as Int64?])
                status.sinks.append(
                    QueueStatus(
                        sink: sink, pending: row["pending"], dead: row["dead"], oldest: first?["time"],
                        attempts: first?["attempts"] ?? 0, error: first?["error"]))
            }
            for row in try Row.fetchAll(database, sql: "SELECT reader, sequence FROM readers") {
                status.readers[row["reader"]] = row["sequence"]
            }
            return status
        }
    }

    private static func confirms(_ database: Database) throws -> Bool {
        try String.fetchOne(database, sql: "SELECT value FROM memory WHERE name = 'confirms'") == "1"
    }

    /// The sinks of the last watcher, and those for which there still are events; sorted.
    package func sinks() throws(OutboxError) -> [String] {
        try read { database in
            let last = try String.fetchOne(database, sql: "SELECT value FROM memory WHERE name = 'sinks'") ?? ""
            let stored = try String.fetchSet(database, sql: "SELECT DISTINCT sink FROM deliveries")
            return stored.union(last.split(separator: "\n").map(String.init)).sorted()
        }
    }

    /// An event that a sink will never get by itself.
    package struct DeadLetter: Hashable, Sendable {
        package var event: OutboxEvent
        package var sink: String
        package var attempts: Int
        package var error: String?
    }

    /// The dead letters, oldest first.
    ///
    /// - Parameter sink: `nil` for those of every sink.
    package func deadLetters(of sink: String? = nil) throws(OutboxError) -> [DeadLetter] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT events.*, deliveries.sink, deliveries.attempts, deliveries.error FROM deliveries
                    JOIN events USING (position) WHERE deliveries.state = 1 AND (?1 IS NULL OR deliveries.sink = ?1)
                    ORDER BY position, sink
                    """,
                arguments: [sink]
            ).map {
                DeadLetter(event: Self.event($0), sink: $0["sink"], attempts: $0["attempts"], error: $0["error"])
            }
        }
    }

    /// Which deliveries to change.
    package struct Selection: Hashable, Sendable {
        /// Only those of this sink.
        package var sink: String?
        /// Only those of these events.
        package var ids: [String]
        /// Whether those that are pending count as well as the dead.
        package var pending: Bool

        package init(sink: String? = nil, ids: [String] = [], pending: Bool = false) {
            (self.sink, self.ids, self.pending) = (sink, ids, pending)
        }

        /// Of deliveries.
        fileprivate var condition: String {
            (pending ? "1" : "state = 1") + " AND (? IS NULL OR sink = ?)"
                + (ids.isEmpty ? "" : " AND position IN (SELECT position FROM events WHERE \(conditionOfEvents))")
        }

        fileprivate var arguments: StatementArguments {
            StatementArguments([sink, sink]) + StatementArguments(ids)
        }

        fileprivate var conditionOfEvents: String {
            ids.isEmpty ? "1" : "id IN (" + ids.map { _ in "?" }.joined(separator: ",") + ")"
        }

        /// Whether it includes events that wait for nothing but the consumer behind a broker.
        fileprivate var includesUnconfirmed: Bool { pending && sink.map { $0.hasPrefix("mqtt:") } ?? true }
    }

    /// Queues dead letters again.
    ///
    /// - Returns: how many.
    package func resend(_ selection: Selection) throws(OutboxError) -> Int {
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
    package func drop(_ selection: Selection) throws(OutboxError) -> Int {
        try write { database in
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
