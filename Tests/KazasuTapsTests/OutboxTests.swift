// SPDX-License-Identifier: Apache-2.0

import CSQLite
import SQLiteFiles
import Glibc
import Synchronization
import TapSupport
import TestSupport
import Testing

@testable import KazasuTaps

@Suite("Outbox")
struct OutboxTests {
    /// An event with its time in milliseconds since 1970.
    private static func event(
        _ number: Int, reader: String = "a", type: String = "on", site: String = "here"
    ) -> StoredEvent {
        var event = TapEvent.made(number, reader: reader, site: site, type: type, tag: "01")
        event.id = "\(reader)-\(number)"
        event.moment = TapEvent.Moment(EventClock.Reading(wall: number * 1000, boot: 0, isSynchronized: true))
        return StoredEvent(event)
    }

    @Test("Sinks and readers of the outbox get the text that was stored, members of a later version included")
    func text() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/outbox.sqlite", isWatcher: true)
        let event = try StoredEvent(parsing: TapEvent.made(1).line.dropLast() + #","later":{"a":1}}"#)
        try await outbox.store([event], for: ["s"])
        #expect(try await outbox.waiting(for: "s", of: "door", limit: 9).events == [event])
        #expect(try await outbox.events(after: nil, limit: 9) == [event])
        await outbox.close()
    }

    @Test("Remembers numbers, the last id and open visits")
    func memory() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/deep/er/outbox.sqlite"
        #expect(throws: OutboxError.unusable(path: path, errno: ENOENT)) { try Outbox(path, isWatcher: true) }
        let outbox = try Outbox(path, isWatcher: true, makesFolders: true)
        try await outbox.store([Self.event(1), Self.event(2, type: "off"), Self.event(1, reader: "b")], for: ["s"])
        try await outbox.store([Self.event(2, reader: "b", type: "reader")], for: [])
        await outbox.close()
        let again = try Outbox(path, isWatcher: true)
        let memory = try await again.memory()
        #expect(memory.lastID == "b-2")
        #expect(memory.readers["a"]?.sequence == 2)
        #expect(memory.readers["a"]?.visit == nil)
        #expect(memory.readers["b"]?.visit == Self.event(1, reader: "b").event)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("A series goes on under the new name of its reader, once, and never over another one")
    func movedSeries() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/o"
        let outbox = try Outbox(path, isWatcher: true)
        let (old, new) = ("acr122_usb:001:005", "acr122_usb:port=1-2")
        try await outbox.store([Self.event(1, reader: old), Self.event(2, reader: old)], for: ["s"])
        try await outbox.store([Self.event(7, reader: "b")], for: [])
        func move(_ names: [(old: String, new: String)]) async throws -> [String] {
            try await outbox.moveSeries(names).map { "\($0.old) > \($0.new)" }
        }
        #expect(try await move([]).isEmpty)
        #expect(try await move([("never", "seen"), (old, "b")]).isEmpty, "b has a series of its own")
        #expect(try await move([(old, new)]) == ["\(old) > \(new)"])
        var memory = try await outbox.memory()
        #expect(memory.readers[new]?.sequence == 2)
        #expect(memory.readers[new]?.visit == Self.event(2, reader: old).event)
        #expect(memory.readers[old]?.visit == nil)
        // Another reader has the number now, and is plugged in elsewhere.
        #expect(try await move([(old, new), (old, "acr122_usb:port=1-3")]).isEmpty)
        try await outbox.store([Self.event(3, reader: new)], for: ["s"])
        memory = try await outbox.memory()
        #expect(memory.readers[new]?.sequence == 3 && memory.readers["b"]?.sequence == 7)
        #expect(try await outbox.waiting(for: "s", of: old, limit: 9).events.count == 2, "what was stored is delivered")
        await outbox.close()
    }

    @Test("Only one watcher uses it")
    func lock() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/o"
        let first = try Outbox(path, isWatcher: true)
        #expect(throws: OutboxError.locked(path: path)) { try Outbox(path, isWatcher: true) }
        _ = try await Outbox(path, isWatcher: false).status()
        await first.close()
        _ = try Outbox(path, isWatcher: true)
    }

    /// A file with one event, closed.
    private static func stored(_ folder: TemporaryFolder) async throws -> [UInt8] {
        let path = "\(folder.path)/made"
        let outbox = try Outbox(path, isWatcher: true)
        try await outbox.store([event(1)], for: ["s"])
        await outbox.close()
        return try TestFiles.read(path)
    }

    /// What a user may name by mistake. The number is that of bytes of an outbox that come first.
    static let foreignFiles: [(String, Int)] = [
        ("{\"schema\":\"kazasu.dump/1\"}", 0), ("x", 0), (String(repeating: "no database ", count: 400), 0),
        ("KZLG", 68), ("\0\0\0\0", 68),
    ]

    @Test("A file that is something else is left as it is", arguments: foreignFiles, [true, false])
    func foreign(_ file: (text: String, head: Int), isWatcher: Bool) async throws {
        let folder = try TemporaryFolder()
        let made = try await Self.stored(folder)
        let bytes = made.prefix(file.head) + Array(file.text.utf8) + (file.head == 68 ? made.dropFirst(72) : [])
        let path = try folder.write(Array(bytes), as: "o")
        #expect(throws: OutboxError.foreign(path: path)) { try Outbox(path, isWatcher: isWatcher) }
        let unopened = Outbox(unopened: path, isWatcher: true)
        await #expect(throws: OutboxError.foreign(path: path)) {
            try await unopened.open { Issue.record("set aside as \($0)") }
        }
        #expect(access(path + ".lock", F_OK) != 0)
        #expect(try TestFiles.read(path) == Array(bytes))
    }

    @Test("A link, a pipe and a folder are not opened", arguments: ["link", "dangling", "pipe", "folder"])
    func notFiles(kind: String) async throws {
        let folder = try TemporaryFolder()
        let (path, target) = ("\(folder.path)/o", "\(folder.path)/made")
        let made = try await Self.stored(folder)
        switch kind {
        case "pipe": try #require(mkfifo(path, 0o600) == 0)
        case "folder": try #require(mkdir(path, 0o700) == 0)
        default: try #require(symlink(kind == "link" ? target : "\(folder.path)/none", path) == 0)
        }
        let expected: OutboxError =
            kind == "folder" ? .unusable(path: path, errno: EISDIR) : .foreign(path: path)
        #expect(throws: expected) { try Outbox(path, isWatcher: true) }
        #expect(try TestFiles.read(target) == made)
        #expect(access("\(folder.path)/none", F_OK) != 0)
    }

    /// Changes to the bytes of an outbox after its header.
    static let damage: [@Sendable (inout [UInt8]) -> Void] = [
        { $0.replaceSubrange(100..<200, with: [UInt8](repeating: 0xEE, count: 100)) },
        { $0.removeLast($0.count / 2) },
        { bytes in for page in stride(from: 4096, to: bytes.count, by: 4096) { bytes[page] = 0xEE } },
    ]

    @Test("A damaged outbox is noticed and set aside", arguments: damage.indices)
    func damaged(index: Int) async throws {
        let folder = try TemporaryFolder()
        var bytes = try await Self.stored(folder)
        Self.damage[index](&bytes)
        let path = try folder.write(bytes, as: "o")
        #expect(throws: OutboxError.damaged(path: path)) { try Outbox(path, isWatcher: true) }
        let outbox = Outbox(unopened: path, isWatcher: true)
        try await outbox.open { #expect($0 == path + ".damaged-1") }
        try await outbox.store([Self.event(1)], for: [])
        #expect(try TestFiles.read(path + ".damaged-1") == bytes)
    }

    @Test("An outbox of a newer version is left as it is")
    func newer() async throws {
        let folder = try TemporaryFolder()
        var bytes = try await Self.stored(folder)
        bytes[63] = 2
        let path = try folder.write(bytes, as: "o")
        #expect(throws: OutboxError.newer(path: path)) { try Outbox(path, isWatcher: true) }
        #expect(try TestFiles.read(path) == bytes)
    }

    @Test("A watcher that was killed leaves a file that is recognized")
    func recognized() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/o"
        let outbox = try Outbox(path, isWatcher: true)
        try await outbox.store([Self.event(1)], for: [])
        #expect(try TestFiles.read(path)[68..<72].elementsEqual(Array("kzob".utf8)))
        #expect(try await Outbox(path, isWatcher: false).status().events == 1)
        await outbox.close()
    }

    @Test("Events are delivered, retried, dead, sent again and dropped")
    func deliveries() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.store((1...3).map { Self.event($0) }, for: ["s", "t"])
        #expect(try await outbox.readersWaiting(for: "s") == ["a"])
        let (events, attempts) = try await outbox.waiting(for: "s", of: "a", limit: 2)
        #expect(events == [Self.event(1), Self.event(2)])
        #expect(attempts == 0)
        try await outbox.record(
            [.init(event: events[0], result: .delivered), .init(event: events[1], result: .retry("x"))], at: "s")
        #expect(try await outbox.waiting(for: "s", of: "a", limit: 9).attempts == 1)
        try await outbox.record([.init(event: events[1], result: .dead("no"))], at: "s")
        #expect(try await outbox.waiting(for: "s", of: "a", limit: 9).events.map(\.sequence) == [3])
        let dead = try await outbox.deadLetters()
        #expect(dead.map(\.id) == ["a-2"])
        #expect(dead.first?.error == "no")
        #expect(try await outbox.resend(.init(sink: "t")) == 0)
        #expect(try await outbox.resend(.init(ids: ["a-2"])) == 1)
        #expect(try await outbox.waiting(for: "s", of: "a", limit: 9).events.map(\.sequence) == [2, 3])
        let status = try await outbox.status()
        #expect(status.sinks.map(\.pending) == [2, 3])
        #expect(status.readers == ["a": 3])
        #expect(try await outbox.drop(.init(sink: "t", includesPending: true)) == 3)
        #expect(try await outbox.tidy(.init(days: 0), now: 10_000) == 1, "the sinks have only the first")
    }

    @Test("A row that is not an event goes to the dead letters, and holds up nothing")
    func malformedRow() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/o"
        let outbox = try Outbox(path, isWatcher: true)
        try await outbox.store((1...3).map { Self.event($0) }, for: ["s"])
        try DatabaseQueue(path: path).write { database in
            try database.execute(sql: "UPDATE events SET line = '{}' WHERE sequence < 3")
        }
        #expect(try await outbox.waiting(for: "s", of: "a", limit: 2).events.map(\.sequence) == [3])
        let dead = try await outbox.deadLetters()
        #expect(dead.map(\.id) == ["a-1", "a-2"])
        #expect(dead.allSatisfy { $0.event == nil && $0.error == "malformed" })
    }

    @Test("An event without a number is not stored")
    func unnumbered() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.store([Self.event(0), Self.event(1)], for: ["s"])
        #expect(try await outbox.waiting(for: "s", of: "a", limit: 2).events.map(\.sequence) == [1])
    }

    @Test("Events that no consumer has acknowledged can be discarded, where they are kept", arguments: [true, false])
    func discardUnconfirmed(confirms: Bool) async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.remember(sinks: ["mqtt:a", "exec:/b"], confirms: confirms)
        try await outbox.store([Self.event(1)], for: ["mqtt:a"])
        try await outbox.store([Self.event(2), Self.event(3)], for: [])
        #expect(try await outbox.status().needsConfirmation == confirms)
        #expect(try await outbox.drop(.init(sink: "exec:/b", includesPending: true)) == 0)
        #expect(try await outbox.status().unconfirmed == 3)
        #expect(try await outbox.drop(.init(sink: "mqtt:a", ids: ["a-3"], includesPending: true)) == (confirms ? 1 : 0))
        #expect(try await outbox.drop(.init(includesPending: true)) == (confirms ? 2 : 1))
        #expect(try await outbox.status().unconfirmed == (confirms ? 0 : 3))
        #expect(try await outbox.tidy(.init(days: 0, needsConfirmation: true), now: 10_000) == (confirms ? 3 : 0))
    }

    @Test("The sinks are those of the last watcher and those with events")
    func sinks() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        #expect(try await outbox.sinks().isEmpty)
        try await outbox.remember(sinks: ["b", "a"], confirms: false)
        try await outbox.store([Self.event(1)], for: ["old"])
        #expect(try await outbox.sinks() == ["a", "b", "old"])
    }

    @Test("Keeps unacknowledged events, which can be sent again")
    func confirm() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.store((1...4).map { Self.event($0) }, for: [])
        try await outbox.confirm(upTo: 1) { $0 == "a" }
        // That is about an outbox that was lost.
        try await outbox.confirm(upTo: 5) { $0 == "a" }
        #expect(try await outbox.resendUnconfirmed(to: "t", before: 3) { $0 == "a" } == 1)
        #expect(try await outbox.waiting(for: "t", of: "a", limit: 9).events.map(\.sequence) == [2])
        #expect(try await outbox.drop(.init(sink: "t", includesPending: true)) == 1)
        try await outbox.confirm(upTo: 3) { $0 == "a" }
        #expect(try await outbox.tidy(.init(days: 0, needsConfirmation: true), now: 10_000) == 3)
        #expect(try await outbox.resendUnconfirmed(to: "s") { $0 == "b" } == 0)
        #expect(try await outbox.resendUnconfirmed(to: "s") { $0 == "a" } == 1)
        #expect(try await outbox.waiting(for: "s", of: "a", limit: 9).events.map(\.sequence) == [4])
        #expect(try await outbox.memory().readers["a"]?.sequence == 4)
    }

    @Test(
        "Days of any number are a limit, or none",
        arguments: [(Double.infinity, 0), (.nan, 0), (1e300, 0), (1e-300, 1), (-1, 1), (-.infinity, 1)])
    func anyDays(days: Double, deleted: Int) async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.store([Self.event(1)], for: [])
        #expect(try await outbox.tidy(.init(days: days), now: 1_800_000_000_000) == deleted)
    }

    @Test("Above its size, the oldest delivered events go")
    func size() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        let long = String(repeating: "x", count: 1500)
        let events = (1...600).map { number in
            Self.event(number, site: long)
        }
        try await outbox.store(events, for: [])
        try await outbox.tidy(.init(days: 9, size: 300_000), now: 0)
        let status = try await outbox.status()
        #expect(status.size <= 300_000)
        #expect((1..<600).contains(status.events))
        #expect(status.readers["a"] == 600)
    }

    // MARK: Delivering

    /// A sink that fails as it is told.
    private final class TestSink: Sink {
        let name = "test"
        let window: Int
        let retries: Int?
        let seen = Mutex<[String]>([])
        let answer: @Sendable (StoredEvent, Int) -> DeliveryResult

        init(window: Int = 1, retries: Int? = nil, _ answer: @escaping @Sendable (StoredEvent, Int) -> DeliveryResult) {
            (self.window, self.retries, self.answer) = (window, retries, answer)
        }

        func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
            var results: [DeliveryResult] = []
            for event in events {
                if case .retry? = results.last {
                    results.append(.retry("earlier"))
                    continue
                }
                let tries = seen.withLock { seen in
                    seen.append(event.id)
                    return seen.count { $0 == event.id }
                }
                results.append(answer(event, tries))
            }
            return results
        }

        func close() async {}
    }

    private static func deliver(_ sink: TestSink, _ events: [StoredEvent]) async throws -> [SinkNotice] {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.store(events, for: [sink.name])
        let notices = Mutex<[SinkNotice]>([])
        let queue = SinkQueue(sink, outbox, sleep: { _ in await Task.yield() }) { notice in
            notices.withLock { $0.append(notice) }
        }
        let watcher = Task { await queue.run() }
        while try await !outbox.readersWaiting(for: sink.name).isEmpty { await Task.yield() }
        queue.end()
        await watcher.value
        return notices.withLock { $0 }
    }

    @Test("Each reader's events come in order, each once", arguments: [1, 3, 100])
    func order(window: Int) async throws {
        let sink = TestSink(window: window) { _, _ in .delivered }
        let events = (1...20).flatMap { [Self.event($0), Self.event($0, reader: "b")] }
        let notices = try await Self.deliver(sink, events)
        #expect(notices.isEmpty)
        let seen = sink.seen.withLock { $0 }
        for reader in ["a", "b"] {
            #expect(seen.filter { $0.hasPrefix(reader) } == (1...20).map { "\(reader)-\($0)" })
        }
    }

    @Test("An event that fails is tried again before the next", arguments: [1, 5])
    func retries(window: Int) async throws {
        let sink = TestSink(window: window) { event, tries in
            event.sequence == 2 && tries < 3 ? .retry("busy", after: .nanoseconds(1)) : .delivered
        }
        let notices = try await Self.deliver(sink, (1...3).map { Self.event($0) })
        #expect(sink.seen.withLock { $0 } == ["a-1", "a-2", "a-2", "a-2", "a-3"])
        #expect(notices == [.failing(sink: "test", reason: "busy"), .recovered(sink: "test")])
    }

    @Test("An event without a result is tried again, after a pause")
    func missingResults() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        let events = (1...3).map { Self.event($0) }
        try await outbox.store(events, for: ["test"])
        let sink = SilentSink()
        let notices = Mutex<[SinkNotice]>([])
        let queue = SinkQueue(sink, outbox, sleep: { _ in await Task.yield() }) { notice in
            notices.withLock { $0.append(notice) }
        }
        let running = Task { await queue.run() }
        while try await !outbox.readersWaiting(for: sink.name).isEmpty { await Task.yield() }
        queue.end()
        await running.value
        #expect(sink.calls.withLock { $0 } == [3, 3, 2])
        let failing = SinkNotice.failing(sink: "test", reason: "noResult")
        #expect(notices.withLock { $0 } == [failing, .recovered(sink: "test"), failing, .recovered(sink: "test")])
    }

    /// A sink of a stranger that has no result at first, then one too few.
    private final class SilentSink: Sink {
        let name = "test"
        let window = 3
        /// How many events it got each time.
        let calls = Mutex<[Int]>([])

        func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
            let call = calls.withLock { calls in
                calls.append(events.count)
                return calls.count
            }
            return Array(repeating: .delivered, count: [0, 1, 2][min(call, 3) - 1])
        }

        func close() async {}
    }

    @Test("It can be closed twice, and dropped")
    func lifetime() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/o"
        do {
            let outbox = try Outbox(path, isWatcher: true)
            try await outbox.store([Self.event(1)], for: [])
        }
        let outbox = try Outbox(path, isWatcher: true)
        await outbox.close()
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        await outbox.close()
        #expect(fcntl(file, F_GETFD) >= 0)
        await #expect(throws: OutboxError.self) { try await outbox.store([Self.event(2)], for: []) }
        await (try Outbox(path, isWatcher: true)).close()
    }

    @Test(
        "It is free when it is closed, though a program that is being started has its lock file open",
        arguments: [true, false])
    func heldByAChild(isClosed: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/o"
        var outbox: Outbox? = try Outbox(path, isWatcher: true)
        // The child's copy, as a descriptor of this process: both are one lock.
        let held = try #require(
            (Int32(3)..<1024).first { descriptor in
                var target = [UInt8](repeating: 0, count: 4096)
                let count = unsafe readlink("/proc/self/fd/\(descriptor)", &target, target.count)
                return count > 0 && String(decoding: target[..<count], as: UTF8.self) == path + ".lock"
            })
        let copy = dup(held)
        defer { close(copy) }
        if isClosed { await outbox?.close() }
        outbox = nil
        await (try Outbox(path, isWatcher: true)).close()
    }

    @Test("An attempt that the end of the watcher interrupts does not count")
    func interrupted() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.store([Self.event(1)], for: ["test"])
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let queue = SinkQueue(PatientSink(start), outbox) { Issue.record("\($0)") }
        let task = Task { await queue.run() }
        for await _ in starts { break }
        queue.end()
        task.cancel()
        await task.value
        let sink = try #require(try await outbox.status().sinks.first)
        #expect((sink.pending, sink.attempts, sink.error) == (1, 0, nil))
    }

    /// A sink that takes nothing until it is cancelled, and then wants to try await again.
    private struct PatientSink: Sink {
        let name = "test"
        let window = 1
        let retries: Int? = 0
        let start: AsyncStream<Void>.Continuation

        init(_ start: AsyncStream<Void>.Continuation) { self.start = start }

        func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
            start.yield()
            let (never, end) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            end.finish()
            return events.map { _ in .retry("cancelled") }
        }

        func close() async {}
    }

    @Test("An event that a sink never takes does not hold up the next")
    func dead() async throws {
        let sink = TestSink(retries: 5) { event, _ in event.sequence == 1 ? .retry("exit1") : .delivered }
        let notices = try await Self.deliver(sink, (1...2).map { Self.event($0) })
        #expect(sink.seen.withLock { $0 } == Array(repeating: "a-1", count: 6) + ["a-2"])
        #expect(notices.contains(.dead(sink: "test", id: "a-1", reason: "exit1")))
    }

    @Test("A fault of the outbox is reported once, however often it is tried")
    func faults() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        try await outbox.store((1...3).map { Self.event($0) } + [Self.event(1, reader: "b")], for: ["test"])
        let other = try DatabaseQueue(path: outbox.path)
        try other.write { database in
            try database.execute(
                sql: "CREATE TRIGGER no BEFORE DELETE ON deliveries BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        let notices = Mutex<[SinkNotice]>([])
        let pauses = Mutex(0)
        let sink = TestSink { _, _ in .delivered }
        let queue = SinkQueue(
            sink, outbox,
            sleep: { _ in
                let count = pauses.withLock { count in
                    count += 1
                    return count
                }
                // The file may be busy at that moment.
                if count >= 9 { try? other.write { try $0.execute(sql: "DROP TRIGGER IF EXISTS no") } }
                await Task.yield()
            }
        ) { notice in notices.withLock { $0.append(notice) } }
        let watcher = Task { await queue.run() }
        while try await !outbox.readersWaiting(for: sink.name).isEmpty { await Task.yield() }
        queue.end()
        await watcher.value
        #expect(notices.withLock { $0 } == [.outbox(.failed(code: SQLITE_CONSTRAINT))])
        #expect(sink.seen.withLock { $0.count } == 4)
    }

    static let pauses: [(Int, Double, Double)] = [
        (1, 0, 0.5), (2, 0, 1), (3, 0, 2), (10, 0, 256), (11, 0, 300), (1000, 1, 300), (1, 1, 0.625), (0, 0, 0.5),
    ]

    @Test("Pauses double from half a second to five minutes", arguments: pauses)
    func pauseAfter(attempts: Int, jitter: Double, seconds: Double) {
        #expect(SinkQueue.pause(after: attempts, jitter: jitter) == .seconds(seconds))
    }
}
