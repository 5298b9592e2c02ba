// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuTaps
import ReaderCore
import TestSupport
import Testing

/// A watcher with sinks of a program's own, which have only the public API.
@Suite("Sinks of a program's own", .timeLimit(.minutes(10)))
struct OwnSinkTests {
    /// A sink that answers as a test wants.
    private final class OwnSink: Sink {
        private struct State {
            var delivered: [String] = []
            var calls = 0
            /// What happened to it, in order.
            var history: [String] = []
            var retry: (@Sendable () -> Void)?
        }

        let name: String
        let window = 4
        private let answer: @Sendable (Int) async -> DeliveryResult
        private let state = Gate(State())

        /// - Parameter answer: the result of each event of a call, by its number.
        init(_ name: String, _ answer: @escaping @Sendable (Int) async -> DeliveryResult = { _ in .delivered }) {
            (self.name, self.answer) = (name, answer)
        }

        func start() async { state.withLock { $0.history.append("start") } }

        func whenReady(_ retry: @escaping @Sendable () -> Void) { state.withLock { $0.retry = retry } }

        func deliver(_ events: [StoredEvent]) async -> [DeliveryResult] {
            let number = state.withLock { state in
                state.calls += 1
                return state.calls
            }
            let result = await answer(number)
            let retry = state.withLock { state in
                if result == .delivered { state.delivered += events.map(\.id) }
                return state.retry
            }
            // It accepts events again at once, so that no test waits for the next attempt.
            if case .retry = result { retry?() }
            return events.map { _ in result }
        }

        func close() async { state.withLock { $0.history.append("close") } }

        /// The events that it has.
        var delivered: [String] { state.withLock(\.delivered) }
        var history: [String] { state.withLock(\.history) }

        /// Waits until it has so many events.
        func wait(forEvents count: Int) async { await state.wait { $0.delivered.count >= count ? () : nil } }

        /// Waits until it was called so often.
        func wait(forCalls count: Int) async { await state.wait { $0.calls >= count ? () : nil } }
    }

    private struct Noted {
        var events: [String] = []
        var notices: [SinkNotice] = []
    }

    private static func plan(_ sinks: [any Sink]) -> Watcher.Plan {
        let card = "virtual:\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
        let factories = sinks.map { sink -> SinkFactory in { sink } }
        return Watcher.Plan(site: "here", readers: [card], names: [card: "door"], sinks: factories)
    }

    /// Runs a watcher whose reader has a card on it, until a closure has stopped it.
    ///
    /// - Returns: the ids of the events, which are `reader`, `on` and `off`, and what was reported of sinks.
    private static func run(
        _ sinks: [any Sink], outbox folder: TemporaryFolder, _ body: @escaping @Sendable (Watcher) async -> Void
    ) async throws -> Noted {
        let noted = Gate(Noted())
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        let watcher = Watcher(plan(sinks), outbox: outbox) { event, _ in
            noted.withLock { $0.events.append(event.id) }
        } tell: { notice in
            if case .sink(let notice) = notice { noted.withLock { $0.notices.append(notice) } }
        }
        let control = Task { await body(watcher) }
        try await watcher.run()
        await control.value
        await outbox.close()
        let result = noted.withLock { $0 }
        #expect(result.events.count == 3)
        return result
    }

    @Test("Events come as a sequence, and the watcher stops with the loop")
    func sequence() async throws {
        let folder = try TemporaryFolder()
        let outbox = try Outbox("\(folder.path)/o", isWatcher: true)
        var words: [String] = []
        for try await event in Watcher.events(Self.plan([]), outbox: outbox) {
            words.append(event.kind.word)
            if words.count == 2 { break }
        }
        #expect(words == ["reader", "on"])
        // It ends the visit of the card, which is stored, and then nobody uses the file.
        while try await outbox.events(after: nil, limit: 10)?.count != 3 { await Task.yield() }
        await outbox.close()
    }

    @Test("A reader that cannot be used ends the sequence with its error")
    func failedSequence() async throws {
        var plan = Self.plan([])
        plan.readers = ["virtual:/nowhere"]
        await #expect(throws: KazasuError.self) { for try await _ in Watcher.events(plan, outbox: nil) {} }
    }

    @Test("A sink that fails gets the same events again, and holds up no other")
    func failing() async throws {
        let failing = OwnSink("failing") { $0 < 4 ? .retry("busy") : .delivered }
        let other = OwnSink("other")
        let noted = try await Self.run([failing, other], outbox: TemporaryFolder()) { watcher in
            await failing.wait(forEvents: 2)
            await other.wait(forEvents: 2)
            watcher.stop()
        }
        #expect(failing.delivered == noted.events && other.delivered == noted.events)
        #expect(failing.history == ["start", "close"] && other.history == ["start", "close"])
        #expect(noted.notices == [.failing(sink: "failing", reason: "busy"), .recovered(sink: "failing")])
    }

    @Test("A sink that hangs holds up no other; what it does not have waits for the next start")
    func hanging() async throws {
        let folder = try TemporaryFolder()
        let hanging = OwnSink("hanging") { _ in
            await Gate(()).waitUnlessCancelled { _ -> DeliveryResult? in nil } ?? .retry("cancelled")
        }
        let other = OwnSink("other")
        let first = try await Self.run([hanging, other], outbox: folder) { watcher in
            await hanging.wait(forCalls: 1)
            await other.wait(forEvents: 2)
            watcher.stop()
            await other.wait(forEvents: 3)
            watcher.leave()
        }
        #expect(other.delivered == first.events)
        #expect(hanging.delivered.isEmpty && hanging.history == ["start", "close"])
        let later = OwnSink("hanging")
        let second = try await Self.run([later], outbox: folder) { watcher in
            await later.wait(forEvents: 5)
            watcher.stop()
        }
        #expect(later.delivered == first.events + second.events)
    }

    @Test("A sink that does not notice its end keeps no watcher")
    func stubborn() async throws {
        let never = OneShot<DeliveryResult>()
        let stubborn = OwnSink("stubborn") { _ in await never.value }
        let other = OwnSink("other")
        _ = try await Self.run([stubborn, other], outbox: TemporaryFolder()) { watcher in
            await stubborn.wait(forCalls: 1)
            await other.wait(forEvents: 2)
            watcher.stop()
            watcher.leave()
        }
        #expect(stubborn.delivered.isEmpty)
        never.give(.delivered)
    }

    /// The old one fails at the moment, so its queue ends at once.
    @Test("A sink that replaces another of the same name begins when that is closed, with what it does not have")
    func replaced() async throws {
        let old = OwnSink("sink") { _ in .retry("busy") }
        let new = OwnSink("sink")
        let atStart = OneShot<[String]>()
        let noted = try await Self.run([old], outbox: TemporaryFolder()) { watcher in
            await old.wait(forCalls: 2)
            watcher.change(to: Self.plan([new]))
            await new.wait(forEvents: 2)
            atStart.give(old.history)
            watcher.stop()
        }
        #expect(atStart.given == ["start", "close"])
        #expect(old.delivered.isEmpty && new.delivered == noted.events)
    }
}
