// SPDX-License-Identifier: Apache-2.0

package import CardDecoders
package import Kazasu
internal import Synchronization

/// Watches readers, stores the events, prints them and hands them to the sinks, until it is stopped.
package final class Watcher: Sendable {
    /// What the user should know.
    package enum Notice: Sendable {
        /// A reader, by its name in events.
        case reader(String, ReaderWatch.ReaderState)
        case sink(SinkQueue.Notice)
        /// Events cannot be stored at the moment; they wait in memory, and nobody sees them.
        case notStored(OutboxError, waiting: Int)
        /// The events that waited are stored.
        case storedAgain
        /// It was stopped, and waits for sinks that have not taken everything.
        case ending(pending: Int, sinks: [String])
        /// It ends; the next start delivers what is left.
        case ended(pending: Int)
    }

    /// What it watches and how.
    package struct Plan: Sendable {
        package var readers: [String]?
        package var query: CardQuery
        package var reading: TapReading
        /// Names the places of a history.
        package var stations: any StationNames = ShippedStations()
        package var journal: TapJournal.Settings
        package var sinks: [any Sink]
        package var retention: Outbox.Retention

        package init(
            readers: [String]?, query: CardQuery, reading: TapReading, journal: TapJournal.Settings, sinks: [any Sink],
            retention: Outbox.Retention = Outbox.Retention()
        ) {
            (self.readers, self.query, self.reading) = (readers, query, reading)
            (self.journal, self.sinks, self.retention) = (journal, sinks, retention)
        }

        fileprivate var subjects: [Subject] {
            guard let readers else { return [Subject(id: nil, name: nil, query: query, reading: reading)] }
            return readers.map { Subject(id: $0, name: name(of: $0), query: query, reading: reading) }
        }

        /// The name of a reader in events.
        fileprivate func name(of reader: String) -> String { journal.names[reader] ?? reader }
    }

    /// What is watched on its own, as long as nothing of it changes: a reader, or every reader.
    fileprivate struct Subject: Hashable {
        /// `nil` for every reader.
        var id: String?
        var name: String?
        var query: CardQuery
        var reading: TapReading
    }

    /// The task that watches a subject. Its number tells its events from those of a task that was ended.
    private struct Watching {
        var number: Int
        var task: Task<Void, Never>
    }

    /// What arrives, in order.
    private enum Input: Sendable {
        case event(ReaderWatch.Event, watching: Int)
        case ended(watching: Int)
        case plan(Plan)
        case storeAgain
        case tidy
        case stop
    }

    private static let rest = Duration.seconds(2)
    private static let tidyInterval = Duration.seconds(3600)
    /// How long sinks may take to deliver the remaining events when the watcher stops, and when the user is notified.
    private static let (grace, notice) = (Duration.seconds(15), Duration.seconds(2))

    private let outbox: Outbox?
    private let metrics: Metrics
    private let clock: EventClock
    private let emit: @Sendable (OutboxEvent) -> Void
    private let tell: @Sendable (Notice) -> Void
    private let inputs: AsyncStream<Input>
    private let input: AsyncStream<Input>.Continuation
    private let leaving = Mutex<(isWanted: Bool, handler: (@Sendable () -> Void)?)>((false, nil))

    /// - Parameters:
    ///   - outbox: where events are stored; `nil` without sinks.
    ///   - emit: gets each event once it is stored. Called from one task.
    ///   - tell: called from any thread.
    package init(
        outbox: Outbox?, metrics: Metrics, clock: EventClock = .system,
        emit: @escaping @Sendable (OutboxEvent) -> Void, tell: @escaping @Sendable (Notice) -> Void
    ) {
        (self.outbox, self.metrics, self.clock, self.emit, self.tell) = (outbox, metrics, clock, emit, tell)
        (inputs, input) = AsyncStream.makeStream(of: Input.self)
    }

    /// Makes ``run(_:)`` return after it has ended the visits.
    package func stop() { input.yield(.stop) }

    /// Makes ``run(_:)`` return soon although sinks have not taken everything.
    package func leave() {
        let handler = leaving.withLock { state in
            state.isWanted = true
            return state.handler
        }
        handler?()
    }

    /// Replaces the plan while it runs. Only readers that are to be watched differently are opened again.
    package func change(to plan: Plan) { input.yield(.plan(plan)) }

    /// Watches.
    ///
    /// - Throws: ``KazasuError`` if a reader named by the user can never be used; ``OutboxError`` if the outbox cannot
    ///   be read at the start.
    package func run(_ first: Plan) async throws {
        var plan = first
        var journal = TapJournal(plan.journal, after: try outbox?.memory() ?? OutboxMemory(), clock: clock)
        var backlog = journal.close(.restart)
        var (isStored, isRetrying) = (true, false)
        var failure: KazasuError?
        /// What the readers are that were opened, by their names.
        var products: [String: String] = [:]
        func inform() {
            let readers = journal.readers(watching: plan.readers, products: products)
            for sink in plan.sinks { sink.know(readers) }
        }
        inform()
        var running: [Subject: Watching] = [:]
        var count = 0
        var queues = start(plan)

        func watch() {
            for subject in plan.subjects where running[subject] == nil {
                count += 1
                running[subject] = Watching(number: count, task: self.watch(subject, count, plan))
            }
        }
        watch()
        let tidier = Task { [input] in
            while !Task.isCancelled {
                input.yield(.tidy)
                try? await Task.sleep(for: Self.tidyInterval)
            }
        }

        func flush() {
            guard !backlog.isEmpty else { return }
            do throws(OutboxError) {
                try store(backlog, plan)
                if !isStored { tell(.storedAgain) }
                isStored = true
                for event in backlog { emit(event) }
                backlog = []
            } catch {
                if isStored { tell(.notStored(error, waiting: backlog.count)) }
                isStored = false
                guard !isRetrying else { return }
                isRetrying = true
                Task { [input] in
                    try? await Task.sleep(for: Self.rest)
                    input.yield(.storeAgain)
                }
            }
        }

        loop: for await next in inputs {
            switch next {
            case .event(let event, let number):
                // A reader that was closed meanwhile may still have said something.
                guard running.values.contains(where: { $0.number == number }) else { continue }
                note(event, plan)
                if case .failed(let error) = event {
                    failure = error
                    break loop
                }
                if case .opened(let id, let product) = event {
                    products[plan.name(of: id)] = product
                    inform()
                }
                backlog += journal.events(for: event)
            case .ended(let number):
                running = running.filter { $0.value.number != number }
                if running.isEmpty { break loop }
            case .plan(let new):
                let kept = Set(new.subjects)
                for (subject, watching) in running where !kept.contains(subject) {
                    watching.task.cancel()
                    await watching.task.value
                    running[subject] = nil
                    backlog += journal.close(.shutdown, on: subject.name)
                }
                let names = new.readers.map { Set($0.map(new.name)) }
                backlog += journal.forget(except: names)
                flush()
                await end(queues)
                plan = new
                journal.settings = new.journal
                inform()
                queues = start(new)
                watch()
            case .storeAgain: isRetrying = false
            case .tidy: _ = try? outbox?.tidy(plan.retention, now: clock.now().wall)
            case .stop: break loop
            }
            flush()
        }
        tidier.cancel()
        for watching in running.values { watching.task.cancel() }
        for watching in running.values { await watching.task.value }
        backlog += journal.close(.shutdown)
        flush()
        await end(queues, isLast: failure == nil)
        if let failure { throw failure }
    }

    private func watch(_ subject: Subject, _ number: Int, _ plan: Plan) -> Task<Void, Never> {
        let watch = ReaderWatch(
            readers: subject.id.map { [$0] }, query: subject.query, reading: subject.reading, stations: plan.stations
        ) { [metrics] in
            metrics.note($0, on: plan.name(of: $1))
        }
        return Task { [input] in
            await watch.run { input.yield(.event($0, watching: number)) }
            if !Task.isCancelled { input.yield(.ended(watching: number)) }
        }
    }

    /// A full disk may have room again without the events that every sink has.
    private func store(_ events: [OutboxEvent], _ plan: Plan) throws(OutboxError) {
        guard let outbox else { return }
        let sinks = plan.sinks.map(\.name)
        do throws(OutboxError) {
            try outbox.store(events, for: sinks)
        } catch .full {
            try outbox.tidy(plan.retention, now: clock.now().wall, all: true)
            try outbox.store(events, for: sinks)
        }
    }

    private func note(_ event: ReaderWatch.Event, _ plan: Plan) {
        switch event {
        case .tap(let tap, let id):
            if tap.kind == .on { metrics.tap(tap, on: plan.name(of: id)) }
        case .reader(let id, let state):
            metrics.reader(plan.name(of: id), isReady: state == .ready)
            tell(.reader(plan.name(of: id), state))
        case .opened, .failed: break
        }
    }

    // MARK: Sinks

    private typealias RunningQueue = (queue: SinkQueue, task: Task<Void, Never>)

    private func start(_ plan: Plan) -> [RunningQueue] {
        let names = plan.sinks.map(\.name)
        metrics.expect(readers: plan.readers?.map(plan.name), sinks: names)
        guard let outbox else { return [] }
        // Only questions about the outbox need it: a full disk keeps nobody from watching.
        try? outbox.remember(sinks: names, confirms: plan.retention.confirmed)
        return plan.sinks.map { sink in
            let queue = SinkQueue(sink, outbox) { [metrics, tell] notice in
                metrics.note(notice)
                tell(.sink(notice))
            }
            return (queue, Task { await queue.run() })
        }
    }

    /// Lets the sinks deliver what they can within a few seconds, or until ``leave()``.
    ///
    /// - Parameter isLast: whether the watcher ends, so that the user should know what it waits for.
    private func end(_ queues: [RunningQueue], isLast: Bool = false) async {
        for (queue, _) in queues { queue.end() }
        let limit = Task { [notice = Self.notice, grace = Self.grace] in
            guard (try? await Task.sleep(for: notice)) != nil else { return }
            if isLast, let left = pending { tell(.ending(pending: left.count, sinks: left.sinks)) }
            guard (try? await Task.sleep(for: grace - notice)) != nil else { return }
            for (_, task) in queues { task.cancel() }
        }
        let leave: @Sendable () -> Void = { for (_, task) in queues { task.cancel() } }
        let isLeaving = leaving.withLock { state in
            state.handler = leave
            return state.isWanted
        }
        if isLeaving { leave() }
        for (_, task) in queues { await task.value }
        leaving.withLock { $0.handler = nil }
        limit.cancel()
        if isLast, let left = pending { tell(.ended(pending: left.count)) }
    }

    /// The deliveries that sinks have not taken; `nil` if there are none.
    private var pending: (count: Int, sinks: [String])? {
        guard let sinks = try? outbox?.status().sinks.filter({ $0.pending > 0 }), !sinks.isEmpty else { return nil }
        return (sinks.reduce(0) { $0 + $1.pending }, sinks.map(\.sink))
    }
}
