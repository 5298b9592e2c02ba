// SPDX-License-Identifier: Apache-2.0

import CardModel
import TapSupport
import TestSupport
import Testing

@testable import Collect
@testable import MQTT
@testable import KazasuTaps

@Suite("Events that are collected")
struct CollectedEventTests {
    static func message(_ line: String, topic: String = "kazasu/tokyo/door/event") -> MQTTMessage {
        MQTTMessage(topic, line)
    }

    private static let good = TapEvent.made(7).line

    static let damages: [(old: String, new: String, reason: CollectedEvent.Malformed)] = [
        ("{", "[", .notJSON), ("kazasu.tap/1", "kazasu.tap/2", .schema), ("-7", "-", .id),
        (#""seq":7"#, #""seq":0"#, .seq),
        (#""seq":7"#, #""seq":"7""#, .seq), (#""site":"tokyo""#, #""site":"osaka""#, .site),
        (#""reader":"door""#, #""reader":"door\u0000""#, .reader), (#""reader":"door""#, #""reader":"gate""#, .reader),
        ("2026-11-21T", "2026-02-30T", .at), ("2026-11-21T", "yesterday", .at), (#""type":"on","#, "", .type),
    ]

    @Test("Malformed", arguments: damages)
    func malformed(_ row: (old: String, new: String, reason: CollectedEvent.Malformed)) throws {
        _ = try CollectedEvent(Self.message(Self.good), prefix: "kazasu")
        let line = Self.good.replacing(row.old, with: row.new, maxReplacements: 1)
        #expect(line != Self.good)
        #expect(throws: row.reason) { try CollectedEvent(Self.message(line), prefix: "kazasu") }
    }

    @Test("A byte order mark is not part of the event")
    func byteOrderMark() throws {
        let message = MQTTMessage("kazasu/tokyo/door/event", [0xEF, 0xBB, 0xBF] + Array(Self.good.utf8))
        #expect(try CollectedEvent(message, prefix: "kazasu").body == Self.good)
    }

    static let times: [(text: String, utc: String?)] = [
        ("2026-11-21T20:45:00.123+09:00", "2026-11-21T11:45:00.123Z"),
        ("2026-11-21T20:45:00Z", "2026-11-21T20:45:00.000Z"),
        ("2026-12-31T23:59:59.98765-01:30", "2027-01-01T01:29:59.987Z"),
        ("1969-12-31T00:00:00.5Z", "1969-12-31T00:00:00.500Z"),
        ("0001-01-01T00:00:00+00:00", "0001-01-01T00:00:00.000Z"), ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"),
        ("2026-02-29T12:00:00Z", nil), ("2026-11-21T24:00:00Z", nil), ("2026-11-21 20:45:00Z", nil), ("", nil),
        ("2026-11-21T20:45:00+15:00", nil), ("２０26-11-21T20:45:00Z", nil),
    ]

    @Test("Times are stored in one form, which sorts", arguments: times)
    func utc(_ row: (text: String, utc: String?)) {
        #expect(Timestamp(row.text)?.text(.utc) == row.utc)
    }

    @Test(
        "Topics",
        arguments: [
            "kazasu/tokyo/event", "kazasu/tokyo/door/event/x", "other/tokyo/door/event", "kazasu//door/event",
            "kazasu/tokyo/door/tag",
        ])
    func topics(topic: String) {
        #expect(throws: CollectedEvent.Malformed.topic) {
            try CollectedEvent(Self.message(Self.good, topic: topic), prefix: "kazasu")
        }
    }

    @Test("Destinations without passwords")
    func destinations() throws {
        #expect(try Collector.Destination("sqlite:a.db") == .sqlite(path: "a.db"))
        #expect(try Collector.Destination("postgresql://me@db/taps") == .postgreSQL(url: "postgresql://me@db/taps"))
        for text in ["postgresql://me:secret@db/taps", "postgres://db/taps?user=me&password=secret"] {
            #expect(throws: Collector.Destination.AddressError.password) { try Collector.Destination(text) }
        }
        for text in ["sqlite:", "mysql://db", ""] {
            #expect(throws: Collector.Destination.AddressError.unknown) { try Collector.Destination(text) }
        }
    }
}

@Suite("The table of events in SQLite")
struct EventStoreTests {
    /// Events of one reader by their numbers; negative ones are of a second count.
    private static func events(_ numbers: [Int]) throws -> [CollectedEvent] {
        try numbers.map { number in
            let event = TapEvent.made(abs(number), epoch: number < 0 ? 1 : 0)
            return try CollectedEvent(CollectedEventTests.message(event.line), prefix: "kazasu")
        }
    }

    /// Batches that come, up to where the reader's events are complete afterwards, and the number after a gap.
    static let rows: [(batches: [[Int]], upTo: Int, afterGap: Int?, stored: Int)] = [
        ([[1, 2, 3]], 3, nil, 3), ([[5], [6, 7]], 0, 5, 3), ([[1, 2], [2, 3]], 3, nil, 3), ([[1, 1, 1]], 1, nil, 1),
        ([[1, 4]], 1, 4, 2), ([[1], [4, 5], [2, 3]], 5, nil, 5), ([[1], [3], [5], [2]], 3, 5, 4),
        ([[3], [2]], 0, 2, 2), ([[1, 2, 3], [-1, -2]], 2, nil, 5), ([[1, 2, 3], [-1], [-3]], 1, 3, 5),
        ([[1, 2, 3], [-2], [2]], 2, nil, 4),
    ]

    @Test("Order, duplicates, gaps, another count", arguments: rows)
    func store(_ row: (batches: [[Int]], upTo: Int, afterGap: Int?, stored: Int)) async throws {
        let folder = try TemporaryFolder()
        let store = EventStore(try SQLiteDatabase(path: folder.path + "/events"))
        try await store.prepare()
        var stored = 0
        var progress: ReaderProgress?
        for batch in row.batches {
            let result = try await store.store(Self.events(batch), at: "2026-11-21T00:00:00.000Z")
            stored += result.stored
            progress = result.progress.first
        }
        #expect(progress?.upTo == row.upTo)
        #expect(progress?.afterGap == row.afterGap)
        #expect(stored == row.stored)
        let all = try await store.progress()
        #expect(all.map(\.upTo) == [row.upTo])
        await store.close()
    }

    @Test("An event with the id of another is refused, not taken for a repeat", arguments: [true, false])
    func foreignID(isOneBatch: Bool) async throws {
        let folder = try TemporaryFolder()
        let store = EventStore(try SQLiteDatabase(path: folder.path + "/events"))
        try await store.prepare()
        let first = try Self.events([1])
        let line = TapEvent.made(1).line.replacing("tokyo", with: "osaka")
        let message = CollectedEventTests.message(line, topic: "kazasu/osaka/door/event")
        let other = try CollectedEvent(message, prefix: "kazasu")
        var batches = [first + first + [other]]
        if !isOneBatch { batches = [first, first, [other]] }
        var (stored, duplicates, refused) = (0, 0, [CollectedEvent]())
        for batch in batches {
            let result = try await store.store(batch, at: "2026-11-21T00:00:00.000Z")
            stored += result.stored
            duplicates += result.duplicates
            #expect(result.refused.allSatisfy { $0.reason == .idInUse })
            refused += result.refused.map(\.event)
        }
        #expect((stored, duplicates) == (1, 1))
        #expect(refused == [other])
        #expect(try await store.progress().map(\.source.site) == ["tokyo"])
        await store.close()
    }

    @Test("A gap that is given up, and what comes after all")
    func skip() async throws {
        let folder = try TemporaryFolder()
        let store = EventStore(try SQLiteDatabase(path: folder.path + "/events"))
        try await store.prepare()
        _ = try await store.store(Self.events([1, 4, 5]), at: "2026-11-21T00:00:00.000Z")
        let source = CollectedEvent.Source(site: "tokyo", reader: "door")
        let skipped = try await store.skipGap(source)
        #expect(skipped?.skipped == 2...3)
        #expect(skipped?.upTo == 5)
        let again = try await store.skipGap(source)
        #expect(again?.skipped == nil)
        let late = try await store.store(Self.events([3, 6]), at: "2026-11-21T00:00:00.000Z")
        #expect(late.late.map(\.sequence) == [3])
        #expect(late.progress.map(\.upTo) == [6])
        await store.close()
    }

    @Test("A file that cannot be made")
    func unusable() {
        #expect(throws: EventStoreError.self) { try SQLiteDatabase(path: "/nonexistent/events") }
    }
}

@Suite("Gaps and silent sites")
struct SiteMonitorTests {
    private let source = CollectedEvent.Source(site: "tokyo", reader: "door")

    private func progress(_ upTo: Int, gap: Int? = nil) -> ReaderProgress {
        ReaderProgress(
            source: source, topicSite: "tokyo", topicReader: "door", upTo: upTo, last: gap ?? upTo, since: "",
            afterGap: gap)
    }

    @Test("A site is reported by its name, not by that in topics")
    func names() {
        let start = ContinuousClock.now
        var monitor = SiteMonitor(gapLimit: .seconds(60), silenceLimit: .seconds(180))
        monitor.setOnline(true, at: start)
        let reader = ReaderProgress(
            source: CollectedEvent.Source(site: "東京", reader: "入口"), topicSite: "--", topicReader: "--", upTo: 1,
            last: 1, since: "")
        #expect(monitor.store(reader, at: start).isEmpty)
        #expect(monitor.hear(site: "--", at: start).isEmpty)
        #expect(monitor.silences(at: start + .seconds(180)) == [.silent(site: "東京", seconds: 180)])
        #expect(monitor.hear(site: "--", at: start + .seconds(181)) == [.returned(site: "東京")])
    }

    @Test("A gap is overdue after its limit, while the site is heard")
    func gaps() {
        let start = ContinuousClock.now
        var monitor = SiteMonitor(gapLimit: .seconds(60), silenceLimit: .seconds(180))
        monitor.setOnline(true, at: start)
        #expect(monitor.hear(site: "tokyo", at: start).isEmpty)
        #expect(monitor.store(progress(1, gap: 3), at: start).isEmpty)
        #expect(monitor.withGaps.map(\.upTo) == [1])
        #expect(monitor.overdue(at: start + .seconds(59)).isEmpty)
        #expect(monitor.overdue(at: start + .seconds(60)) == [source])
        #expect(monitor.overdue(at: start + .seconds(181)).isEmpty, "nobody is there to fill it")
        // The broker was away: everybody gets the whole time again.
        monitor.setOnline(false, at: start + .seconds(181))
        #expect(monitor.silences(at: start + .seconds(400)).isEmpty)
        monitor.setOnline(true, at: start + .seconds(500))
        #expect(monitor.overdue(at: start + .seconds(559)).isEmpty)
        #expect(monitor.overdue(at: start + .seconds(560)) == [source])
        #expect(monitor.store(progress(3), at: start + .seconds(561)).isEmpty)
        #expect(monitor.overdue(at: start + .seconds(600)).isEmpty)
        #expect(monitor.withGaps.isEmpty)
    }

    @Test("A site is silent once, and returns")
    func silence() {
        let start = ContinuousClock.now
        var monitor = SiteMonitor(gapLimit: .seconds(60), silenceLimit: .seconds(180))
        monitor.setOnline(true, at: start)
        monitor.expect(site: "tokyo", at: start)
        #expect(monitor.silences(at: start + .seconds(179)).isEmpty)
        #expect(monitor.silences(at: start + .seconds(180)) == [.silent(site: "tokyo", seconds: 180)])
        #expect(monitor.silences(at: start + .seconds(300)).isEmpty)
        #expect(monitor.hear(site: "tokyo", at: start + .seconds(301)) == [.returned(site: "tokyo")])
        #expect(monitor.hear(site: "tokyo", at: start + .seconds(302)).isEmpty)
    }
}
