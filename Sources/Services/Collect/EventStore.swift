// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import SQLiteFiles

/// Why events are not stored.
package enum EventStoreError: Error, Hashable, Sendable {
    /// The database cannot be reached or opened; the words are the library's.
    case unreachable(LocalizedText)
    /// The database refuses a value: the class of its error.
    case data(String)
    /// The database refuses the statement.
    case statement(String)
    /// The file is not a SQLite database.
    case foreign
    /// The file at this path, where SQLite keeps a journal, is something else, or names a file that SQLite would delete.
    case foreignJournal(String)
}

extension EventStoreError: SelfDescribing {
    package var message: LocalizedText {
        switch self {
        case .unreachable(let text): text
        case .data(let code): LocalizedText("a value was refused (\(code))", "値が拒否されました（\(code)）")
        case .statement(let code): LocalizedText("a statement was refused (\(code))", "文が拒否されました（\(code)）")
        case .foreign: LocalizedText("not a SQLite database", "SQLite のデータベースではありません")
        case .foreignJournal(let path): SQLiteFile.foreignJournal(path)
        }
    }
}

/// A connection to a database within a transaction. Parameters are `$1`, `$2`, …; values are texts.
protocol SQLSession {
    func rows(_ statement: String, _ values: [String]) throws(EventStoreError) -> [[String]]
}

/// A step that creates or improves the tables.
struct SchemaStep: Sendable {
    /// Has a row while the step is needed.
    let condition: String
    let statement: String
    /// What is missing without the step, as for a user with fewer rights; `nil` if nothing works without it.
    var improvement: EventStore.Improvement?
}

/// A database that can hold the table of events. Called from one thread at a time.
protocol EventDatabase: Sendable {
    /// A statement that keeps other collectors from changing the schema until the transaction ends.
    var schemaLock: String? { get }
    /// The steps that create the tables.
    var schema: [SchemaStep] { get }
    /// Suffix of a SELECT that locks the selected rows, such as ` FOR UPDATE`.
    var forUpdate: String { get }
    func transaction<Result: Sendable>(
        _ body: @Sendable (any SQLSession) throws(EventStoreError) -> Result
    ) throws(EventStoreError) -> Result
    func close()
}

/// How far the events of a reader are stored.
package struct ReaderProgress: Hashable, Sendable {
    package var source: CollectedEvent.Source
    package var topicSite: String
    package var topicReader: String
    /// Every event up to this number is stored, or was given up.
    package var upTo: Int
    /// The highest number.
    package var last: Int
    /// The first ID since the reader last counted from the beginning.
    var since: String
    /// The lowest number after a gap; `nil` without a gap.
    package var afterGap: Int?
    /// Whether the reader began to count from the beginning.
    package var hasRestarted = false
    /// The numbers that were given up just now.
    package var skipped: ClosedRange<Int>?
}

/// The result of storing a batch.
package struct StoredBatch: Sendable {
    /// One for each reader in the batch.
    package var progress: [ReaderProgress] = []
    package var stored = 0
    package var duplicates = 0
    /// Events that were not stored.
    package var refused: [(event: CollectedEvent, reason: CollectedEvent.Malformed)] = []
    /// New events with a number that was given up.
    package var late: [CollectedEvent] = []
}

/// Stores each event once and knows up to which number a reader's events are complete.
///
/// The progress is in the database as well, so that several collectors can share the work.
package actor EventStore {
    /// What makes queries faster or easier.
    package enum Improvement: Hashable, Sendable {
        case index
        /// The column `body` is `jsonb`, not `json`.
        case jsonb
    }

    private let database: any EventDatabase
    private let executor = BlockingExecutor("kazasu.collect.store")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ database: any EventDatabase) {
        self.database = database
    }

    /// Creates missing tables: the user may have no right to more than their rows.
    ///
    /// - Returns: the improvements that the database refused.
    @discardableResult
    package func prepare() throws(EventStoreError) -> [(Improvement, EventStoreError)] {
        try database.transaction { [database] session throws(EventStoreError) in
            if let lock = database.schemaLock { _ = try session.rows(lock, []) }
            var refused: [(Improvement, EventStoreError)] = []
            for step in database.schema where try !session.rows(step.condition, []).isEmpty {
                guard let improvement = step.improvement else {
                    _ = try session.rows(step.statement, [])
                    continue
                }
                _ = try session.rows("SAVEPOINT improvement", [])
                do throws(EventStoreError) {
                    _ = try session.rows(step.statement, [])
                } catch .unreachable(let reason) {
                    throw .unreachable(reason)
                } catch {
                    refused.append((improvement, error))
                    _ = try session.rows("ROLLBACK TO SAVEPOINT improvement", [])
                }
            }
            return refused
        }
    }

    package func close() { database.close() }

    /// How far each reader is.
    package func progress() throws(EventStoreError) -> [ReaderProgress] {
        try database.transaction { session throws(EventStoreError) in
            try session.rows("SELECT \(EventTable.columns) FROM event_progress", []).compactMap(EventTable.progress)
        }
    }

    /// Stores events in one transaction.
    ///
    /// - Parameter time: when they were received, RFC 3339.
    package func store(_ events: [CollectedEvent], at time: String) throws(EventStoreError) -> StoredBatch {
        do throws(EventStoreError) {
            return try storeTogether(events, at: time)
        } catch .data where events.count > 1 {
            return try storeEach(events, at: time)
        } catch .data {
            var batch = StoredBatch()
            batch.refused = events.map { ($0, .database) }
            return batch
        }
    }

    private func storeTogether(_ events: [CollectedEvent], at time: String) throws(EventStoreError) -> StoredBatch {
        try database.transaction { [database] session throws(EventStoreError) in
            try EventTable(session: session, forUpdate: database.forUpdate).store(events, at: time)
        }
    }

    /// Stores events one by one, so that one that is refused does not hold up the others.
    private func storeEach(_ events: [CollectedEvent], at time: String) throws(EventStoreError) -> StoredBatch {
        var all = StoredBatch()
        for event in events {
            let one = try store([event], at: time)
            all.stored += one.stored
            all.duplicates += one.duplicates
            all.late += one.late
            all.refused += one.refused
            let restarted = Set(all.progress.filter(\.hasRestarted).map(\.source))
            all.progress.removeAll { old in one.progress.contains { $0.source == old.source } }
            all.progress += one.progress.map { progress in
                var progress = progress
                progress.hasRestarted = progress.hasRestarted || restarted.contains(progress.source)
                return progress
            }
        }
        return all
    }

    /// Gives up the numbers before the reader's next event.
    package func skipGap(_ source: CollectedEvent.Source) throws(EventStoreError) -> ReaderProgress? {
        try database.transaction { [database] session throws(EventStoreError) in
            try EventTable(session: session, forUpdate: database.forUpdate).skipGap(source)
        }
    }
}

/// The statements on the tables, which are the same for all databases.
private struct EventTable {
    static let columns = "site, reader, topic_site, topic_reader, up_to, last_seq, since"
    private static let width = 8
    /// Lower than any event's.
    private static let firstID = "00000000-0000-0000-0000-000000000000"

    let session: any SQLSession
    let forUpdate: String

    static func progress(_ row: [String]) -> ReaderProgress? {
        guard row.count == 7, let upTo = Int(row[4]), let last = Int(row[5]) else { return nil }
        return ReaderProgress(
            source: CollectedEvent.Source(site: row[0], reader: row[1]), topicSite: row[2], topicReader: row[3],
            upTo: upTo, last: last, since: row[6], afterGap: last > upTo ? last : nil)
    }

    func store(_ events: [CollectedEvent], at time: String) throws(EventStoreError) -> StoredBatch {
        var batch = StoredBatch()
        var byID: [String: CollectedEvent] = [:]
        for event in events {
            let first = byID[event.id] ?? event
            byID[event.id] = first
            if !event.isSame(first) { batch.refused.append((event, .idInUse)) }
        }
        // In one order, so that two collectors never wait for each other.
        let unique = byID.values.sorted { $0.id < $1.id }
        guard !unique.isEmpty else { return batch }
        let places = unique.indices.map { index in
            "(" + (1...Self.width).map { "$\(index * Self.width + $0)" }.joined(separator: ",") + ")"
        }
        let values = unique.flatMap { event in
            [
                event.id, event.source.site, event.source.reader, String(event.sequence), event.type, event.at, time,
                event.body,
            ]
        }
        let inserted = try session.rows(
            "INSERT INTO events (id, site, reader, seq, type, at, received_at, body) VALUES "
                + places.joined(separator: ",") + " ON CONFLICT (id) DO NOTHING RETURNING id", values)
        let new = Set(inserted.compactMap(\.first))
        let foreign = try idsInUse(unique.filter { !new.contains($0.id) })
        batch.refused += foreign.map { ($0, .idInUse) }
        batch.stored = new.count
        batch.duplicates = events.count - new.count - batch.refused.count
        let known = unique.filter { !foreign.contains($0) }
        for (source, events) in Dictionary(grouping: known, by: \.source).sorted(by: { $0.key < $1.key }) {
            guard let first = events.first else { continue }
            let (progress, late) = try advance(source, first, events.filter { new.contains($0.id) })
            batch.progress.append(progress)
            batch.late += late
        }
        return batch
    }

    /// The events whose ids belong to other stored events.
    private func idsInUse(_ events: [CollectedEvent]) throws(EventStoreError) -> [CollectedEvent] {
        guard !events.isEmpty else { return [] }
        let places = (1...events.count).map { "$\($0)" }.joined(separator: ",")
        let rows = try session.rows(
            "SELECT id, site, reader, seq FROM events WHERE id IN (\(places))", events.map(\.id))
        let stored = Dictionary(rows.map { ($0.first ?? "", Array($0.dropFirst())) }) { first, _ in first }
        return events.filter { stored[$0.id] != [$0.source.site, $0.source.reader, String($0.sequence)] }
    }

    /// Counts new events, which are in the order of their IDs.
    private func advance(
        _ source: CollectedEvent.Source, _ first: CollectedEvent, _ events: [CollectedEvent]
    ) throws(EventStoreError) -> (ReaderProgress, late: [CollectedEvent]) {
        var late: [CollectedEvent] = []
        var progress: ReaderProgress
        if let known = try self.progress(source) { progress = known } else { progress = try begin(source, first) }
        let before = progress
        for event in events where event.id >= progress.since {
            if event.sequence > progress.last {
                if progress.upTo == progress.last, event.sequence == progress.last + 1 { progress.upTo += 1 }
                progress.last = event.sequence
            } else if event.sequence > 0, try isRestart(event, progress) {
                progress.since = event.id
                (progress.upTo, progress.last) = (event.sequence, event.sequence)
                progress.hasRestarted = true
            } else if event.sequence <= progress.upTo {
                late.append(event)
            }
        }
        try advance(&progress)
        if progress != before || !events.isEmpty { try save(progress) }
        return (progress, late)
    }

    /// Within one count, IDs grow with the numbers: a late event is older than those with higher numbers.
    private func isRestart(_ event: CollectedEvent, _ progress: ReaderProgress) throws(EventStoreError) -> Bool {
        try !session.rows(
            "SELECT id FROM events WHERE site = $1 AND reader = $2 AND seq >= $3 AND id >= $4 AND id < $5 LIMIT 1",
            [event.source.site, event.source.reader, String(event.sequence), progress.since, event.id]
        ).isEmpty
    }

    private func progress(_ source: CollectedEvent.Source) throws(EventStoreError) -> ReaderProgress? {
        try session.rows(
            "SELECT \(Self.columns) FROM event_progress WHERE site = $1 AND reader = $2" + forUpdate,
            [source.site, source.reader]
        ).compactMap(Self.progress).first
    }

    private func begin(
        _ source: CollectedEvent.Source, _ first: CollectedEvent
    ) throws(EventStoreError) -> ReaderProgress {
        // Earlier events are requested, too, and given up like any gap if nobody has them.
        _ = try session.rows(
            "INSERT INTO event_progress (\(Self.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)"
                + " ON CONFLICT (site, reader) DO NOTHING",
            [source.site, source.reader, first.topicSite, first.topicReader, "0", "0", EventTable.firstID])
        guard let progress = try progress(source) else { throw .statement("event_progress") }
        return progress
    }

    /// Advances to the last number before a gap.
    private func advance(_ progress: inout ReaderProgress) throws(EventStoreError) {
        progress.afterGap = nil
        while progress.upTo < progress.last {
            let rows = try session.rows(
                "SELECT seq FROM events WHERE site = $1 AND reader = $2 AND id >= $3 AND seq > $4"
                    + " ORDER BY seq LIMIT 1000",
                [progress.source.site, progress.source.reader, progress.since, String(progress.upTo)])
            for number in rows.compactMap({ Int($0.first ?? "") }) where number > progress.upTo {
                guard number == progress.upTo + 1 else {
                    progress.afterGap = number
                    return
                }
                progress.upTo = number
            }
            if rows.isEmpty { return progress.last = progress.upTo }
        }
    }

    func skipGap(_ source: CollectedEvent.Source) throws(EventStoreError) -> ReaderProgress? {
        guard var progress = try progress(source) else { return nil }
        try advance(&progress)
        guard let next = progress.afterGap else { return progress }
        progress.skipped = progress.upTo + 1...next - 1
        progress.upTo = next - 1
        try advance(&progress)
        try save(progress)
        return progress
    }

    private func save(_ progress: ReaderProgress) throws(EventStoreError) {
        _ = try session.rows(
            "UPDATE event_progress SET up_to = $1, last_seq = $2, since = $3 WHERE site = $4 AND reader = $5",
            [
                String(progress.upTo), String(progress.last), progress.since, progress.source.site,
                progress.source.reader,
            ])
    }
}
