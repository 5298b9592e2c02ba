// SPDX-License-Identifier: Apache-2.0

package import Kazasu
internal import Synchronization

/// Watches readers, stores the events, prints them and hands them to the sinks, until it is stopped.
package final class Watcher: Sendable {
    /// What the user should know.
    package enum Notice: Sendable {
        case reader(String, ReaderWatch.ReaderState)
        case sink(SinkQueue.Notice)
        /// Events cannot be stored at the moment; they wait in memory, and nobody sees them.
        case notStored(OutboxError, waiting: Int)
        /// The events that waited are stored.
        case storedAgain
    }

    /// What it watches and how.
    package struct Plan: Sendable {
        package var readers: [String]?
        package var query: CardQuery
        package var reading: TapReading
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

        /// Whether the readers would be watched in the same way.
        fileprivate func watchesLike(_ other: Plan) -> Bool {
            readers == other.readers && query == other.query && reading == other.reading
        }
    }

    /// What arrives, in order.
    private enum Input: Sendable {
        case event(ReaderWatch.Event, generation: Int)
        case readersEnded(generation: Int)
        case plan(Plan)
        case storeAgain
        case tidy
        case stop
    }

    private static let rest = Duration.seconds(2)
    private static let tidyInterval = Duration.seconds(3600)
    /// How long sinks may take to deliver what is left when the watcher stops.
    private static let grace = Duration.seconds(15)

    private let outbox: Outbox?
    private let metrics: Metrics
    private let clock: EventClock
    private let emit: @Sendable (OutboxEvent) -> Void
    private let tell: @Sendable (Notice) -> Void
    private let inputs: AsyncStream<Input>
    private let input: AsyncStream<Input>.Continuation

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

    /// Replaces the plan while it runs. Readers are opened again only if they are to be watched differently.
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
        var generation = 0
        /// What the readers are that were opened, by their names.
        var products: [String: String] = [:]
        func inform() {
            let readers = journal.readers(watching: plan.readers, products: products)
            for sink in plan.sinks { sink.know(readers) }
        }
        inform()
        var queues = start(plan.sinks)
        var readers = watch(plan, generation)
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
            case .event(let event, generation):
                note(event, plan)
                if case .failed(let error) = event {
                    failure = error
                    break loop
                }
                if case .opened(let id, let product) = event {
                    products[plan.journal.names[id] ?? id] = product
                    inform()
                }
                backlog += journal.events(for: event)
            // From readers that were closed meanwhile.
            case .event: continue
            case .readersEnded(generation): break loop
            case .readersEnded: continue
            case .plan(let new):
                if !new.watchesLike(plan) {
                    readers.cancel()
                    await readers.value
                    backlog += journal.close(.shutdown)
                    flush()
                    generation += 1
                    readers = watch(new, generation)
                }
                await end(queues)
                plan = new
                journal.settings = new.journal
                inform()
                queues = start(new.sinks)
            case .storeAgain: isRetrying = false
            case .tidy: _ = try? outbox?.tidy(plan.retention, now: clock.now().wall)
            case .stop: break loop
            }
            flush()
        }
        tidier.cancel()
        readers.cancel()
        await readers.value
        backlog += journal.close(.shutdown)
        flush()
        await end(queues)
        if let failure { throw failure }
    }

    private func watch(_ plan: Plan, _ generation: Int) -> Task<Void, Never> {
        let watch = ReaderWatch(readers: plan.readers, query: plan.query, reading: plan.reading) { [metrics] in
            metrics.note($0, on: plan.journal.names[$1] ?? $1)
        }
        return Task { [input] in
            await watch.run { input.yield(.event($0, generation: generation)) }
            if !Task.isCancelled { input.yield(.readersEnded(generation: generation)) }
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
            if tap.kind == .on { metrics.tap(tap, on: plan.journal.names[id] ?? id) }
        case .reader(let id, let state):
            metrics.reader(plan.journal.names[id] ?? id, isReady: state.word == "ready")
            tell(.reader(id, state))
        case .opened, .failed: break
        }
    }

    // MARK: Sinks

    private typealias RunningQueue = (queue: SinkQueue, task: Task<Void, Never>)

    private func start(_ sinks: [any Sink]) -> [RunningQueue] {
        guard let outbox else { return [] }
        return sinks.map { sink in
            let queue = SinkQueue(sink, outbox) { [metrics, tell] notice in
                metrics.note(notice)
                tell(.sink(notice))
            }
            return (queue, Task { await queue.run() })
        }
    }

    /// Lets the sinks deliver what they can within a few seconds.
    private func end(_ queues: [RunningQueue]) async {
        for (queue, _) in queues { queue.end() }
        let limit = Task {
            guard (try? await Task.sleep(for: Self.grace)) != nil else { return }
            for (_, task) in queues { task.cancel() }
        }
        for (_, task) in queues { await task.value }
        limit.cancel()
    }
}
