// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import Kazasu
internal import ReaderCore
internal import Synchronization

/// Watches readers, stores the events and delivers them to the sinks, until it is stopped.
///
/// ``run()`` is the only task that changes anything. All else reaches it as an input, and inputs are handled one after another:
/// what readers report, a new plan, the timers, the stop. After each, what has happened is stored, and only then shown.
///
/// | State | Until |
/// | --- | --- |
/// | not numbering: the outbox could not be read since the disk is full; what happens waits, without numbers | there is room |
/// | running: events get their numbers at once and wait only for the next write to the outbox | ``stop()``, or no reader is left |
/// | finishing: readers are closed and visits end, then queues deliver what they have | they have, 4 s, or ``leave()``  |
///
/// | Who | Calls | From |
/// | --- | --- | --- |
/// | the program | ``run()`` once; ``change(to:)``, ``stop()`` and ``leave()`` at any time, also before it | any thread |
/// | a task for each subject | `ReaderWatch`, whose events become inputs; the failure of an ended one does not | the readers' threads |
/// | a task for each sink | `SinkQueue`, which waits for the queue of an earlier plan for the same sink | Swift's threads |
/// | `emit` | with each stored event, in order | the actor |
/// | `tell` | with notices, those of sinks too | any thread |
///
/// An actor runs other calls while it awaits. Only ``leave()`` comes in that way: inputs wait until the one before is handled.
public actor Watcher {
    /// Something that an operator should know.
    @nonexhaustive
    public enum Notice: Sendable {
        /// A reader is ready, is not connected, or cannot be used for this reason; by its name in events.
        case reader(String, TapEvent.ReaderState, KazasuError?)
        /// A reader may beep by itself although it was to be quiet; by its name in events.
        case beeps(String)
        /// The asker fails for this reason, a word such as `timeout` or `exit3`, or decides again: `nil`.
        case asker(fault: String?)
        /// A sink works again, or does not.
        case sink(SinkNotice)
        /// Events cannot be stored at the moment; they wait in memory, and neither sinks nor the caller get them.
        case notStored(OutboxError, waiting: Int)
        /// The events that waited are stored.
        case storedAgain
        /// It was stopped, and waits for sinks that do not have every event yet.
        case ending(pending: Int, sinks: [String])
        /// It ends; the next watcher delivers the rest.
        case ended(pending: Int)
    }

    /// The readers to watch, how, and where the events go.
    public struct Plan: Sendable {
        /// The IDs of the readers; `nil` for every reader that is connected now or later.
        public var readers: [String]?
        /// The cards to look for.
        public var query: CardQuery
        /// The readers among ``readers`` that the program opens itself.
        public var sources: [ReaderSource] = []
        /// What to read from each card.
        public var reading: TapReading
        /// What a card must prove before its events have a tag; `nil` for nothing.
        package var proof: TapProof? {
            didSet { journal.requiresProof = proof != nil }
        }
        /// The table of names of stations and stops.
        public var stations: any StationNames = ShippedStations()
        /// How events are made.
        package var journal: TapJournal.Settings
        /// Where events are delivered to: each makes a sink when the plan takes effect.
        public var sinks: [SinkFactory]
        /// How long delivered events are kept.
        public var retention: Outbox.Retention
        /// Lets programs use the readers between two presence checks.
        package var shared: (any ReaderSharing)?
        /// Whom to ask about the cards that come; `nil` for nobody.
        package var answering: Answering?
        /// Whether readers are not to beep by themselves.
        package var isQuiet = false

        /// Watches readers at a site.
        ///
        /// - Parameters:
        ///   - site: the name of the place in events.
        ///   - readers: the IDs of the readers; `nil` for every reader that is connected now or later.
        ///   - names: the names of readers in events, by their IDs.
        ///   - query: the cards to look for.
        ///   - reading: what to read from each card.
        ///   - sinks: where events are delivered to; each makes a sink.
        ///   - retention: how long delivered events are kept.
        public init(
            site: String, readers: [String]? = nil, names: [String: String] = [:], query: CardQuery = .any,
            reading: TapReading = .id, sinks: [SinkFactory], retention: Outbox.Retention = Outbox.Retention()
        ) {
            var journal = TapJournal.Settings(site: site)
            journal.names = names
            self.init(
                readers: readers, query: query, reading: reading, journal: journal, sinks: sinks, retention: retention)
        }

        /// Watches readers that the program opens itself, at a site.
        ///
        /// ```swift
        /// let plan = Watcher.Plan(site: "shop", sources: [ReaderSource(field)], sinks: [])
        /// ```
        ///
        /// - Parameters:
        ///   - site: the name of the place in events.
        ///   - sources: the readers; a later plan with a source of the same ID does not open it again.
        ///   - names: the names of readers in events, by their IDs.
        ///   - query: the cards to look for.
        ///   - reading: what to read from each card.
        ///   - sinks: where events are delivered to; each makes a sink.
        ///   - retention: how long delivered events are kept.
        public init(
            site: String, sources: [ReaderSource], names: [String: String] = [:], query: CardQuery = .any,
            reading: TapReading = .id, sinks: [SinkFactory], retention: Outbox.Retention = Outbox.Retention()
        ) {
            self.init(
                site: site, readers: sources.map(\.id), names: names, query: query, reading: reading, sinks: sinks,
                retention: retention)
            self.sources = sources
        }

        package init(
            readers: [String]?, query: CardQuery, reading: TapReading, journal: TapJournal.Settings,
            sinks: [SinkFactory], retention: Outbox.Retention = Outbox.Retention()
        ) {
            (self.readers, self.query, self.reading) = (readers, query, reading)
            (self.journal, self.sinks, self.retention) = (journal, sinks, retention)
        }

        fileprivate var subjects: [Subject] {
            func subject(_ id: String?) -> Subject {
                Subject(
                    id: id, name: id.map(name(of:)), query: query, reading: reading, proof: proof,
                    isShared: shared != nil, isQuiet: isQuiet)
            }
            return readers.map { $0.map { subject($0) } } ?? [subject(nil)]
        }

        /// The name of a reader in events.
        fileprivate func name(of reader: String) -> String { journal.names[reader] ?? reader }
    }

    /// One task of watching, which lasts until its settings change: a reader, or all readers.
    fileprivate struct Subject: Hashable {
        /// `nil` for every reader.
        var id: String?
        var name: String?
        var query: CardQuery
        var reading: TapReading
        var proof: TapProof?
        var isShared: Bool
        var isQuiet: Bool
    }

    /// The task that watches a subject; its number distinguishes its events from those of an ended task.
    private struct Watching {
        var number: Int
        var task: Task<Void, Never>
    }

    /// Everything that arrives, in order.
    private enum Input: Sendable {
        case event(ReaderWatch.Event, watching: Int)
        case ended(watching: Int)
        case plan(Plan)
        /// What an asker answered about an event, and after how many milliseconds.
        case answer(Answering.Decision, to: StoredEvent, after: Int)
        case storeAgain
        case tidy
        case stop
        /// What ended tasks have reported is before this.
        case mark
    }

    /// An event, and the tap that it is about.
    private typealias Entry = (event: StoredEvent, tap: Tap?)

    /// Something that gives events.
    private typealias Happening = (inout TapJournal) -> [(event: TapEvent, tap: Tap?)]

    /// A queue that delivers to a sink.
    private struct Delivery {
        var sink: String
        var queue: SinkQueue
        var task: Task<Void, Never>
    }

    private static let rest = Duration.seconds(2)
    private static let tidyInterval = Duration.seconds(3600)
    /// How long sinks may take to deliver the remaining events when the watcher stops, and when the user is notified. With the
    /// three seconds of a reader that hangs and ``patience``, a program ends within ten.
    private static let (grace, notice) = (Duration.seconds(4), Duration.seconds(2))
    /// How long readers stay open at the end for lights to go off, and askers to end.
    private static let darkening = Duration.milliseconds(500)
    /// How long a sink may go on after its task was cancelled.
    private static let patience = Duration.seconds(3)

    private let outbox: Outbox?
    private let metrics: Metrics
    private let clock: EventClock
    private let desk: AnswerDesk
    private let emit: @Sendable (StoredEvent, Tap?) -> Void
    private let tell: @Sendable (Notice) -> Void
    private let inputs: AsyncStream<Input>
    private let input: AsyncStream<Input>.Continuation
    /// Inputs that were taken from the stream before their turn.
    private var postponed: [Input] = []

    private var plan: Plan
    /// The sinks of the current plan.
    private var sinks: [any Sink] = []
    private var journal: TapJournal
    /// Events noted before the outbox could be read (full disk). Their numbers continue the outbox's, so they wait.
    private var unnumbered: [Happening] = []
    private var isNumbering = false
    /// The products of the readers that were opened, by the readers' names.
    private var products: [String: String] = [:]
    private var watched: [Subject: Watching] = [:]
    private var lastWatching = 0
    /// Highest watch number started by the first plan.
    private var lastAtStart = 0
    /// Watches of later plans whose reader is unusable for good.
    private var unusable: Set<Int> = []
    /// Events that are not stored yet.
    private var backlog: [Entry] = []
    private var (isStored, isRetrying) = (true, false)
    /// Whether the last answer was a fault.
    private var isAskerFailing = false
    /// Set once "disk full" was reported; sinks do not repeat it.
    private let isFullKnown = Mutex(false)
    private var deliveries: [Delivery] = []
    /// Queues of an earlier plan that are still delivering.
    private var ending: [Delivery] = []
    private var (isFinishing, isLeaving) = (false, false)
    /// Given once every queue has ended, or nobody waits for those that do not.
    private let delivered = OneShot<Void>()

    /// - Parameters:
    ///   - plan: the readers to watch, how, and where the events go.
    ///   - outbox: where events are stored; `nil` without sinks.
    ///   - emit: gets each event once it is stored, with the tap that it is about. Called for one event after another.
    ///   - tell: called from any thread.
    public init(
        _ plan: Plan, outbox: Outbox?, emit: @escaping @Sendable (StoredEvent, Tap?) -> Void,
        tell: @escaping @Sendable (Notice) -> Void
    ) {
        self.init(plan, outbox: outbox, metrics: Metrics(), emit: emit, tell: tell)
    }

    package init(
        _ plan: Plan, outbox: Outbox?, metrics: Metrics, clock: EventClock = .system,
        emit: @escaping @Sendable (StoredEvent, Tap?) -> Void, tell: @escaping @Sendable (Notice) -> Void
    ) {
        (self.plan, self.outbox, self.metrics, self.clock) = (plan, outbox, metrics, clock)
        (self.emit, self.tell) = (emit, tell)
        desk = AnswerDesk(clock: clock)
        journal = TapJournal(plan.journal, clock: clock)
        (inputs, input) = AsyncStream.makeStream(of: Input.self)
    }

    /// Watches readers while a loop takes the events, each once it is stored; then it stops.
    ///
    /// ```swift
    /// for try await event in Watcher.events(plan, outbox: outbox) { print(event.kind.word, event.reader) }
    /// ```
    ///
    /// - Parameters:
    ///   - plan: the readers to watch, how, and where else the events go.
    ///   - outbox: where events are stored; `nil` without sinks.
    ///   - tell: gets notices, from any thread.
    /// - Returns: a sequence that throws what ``run()`` throws. Events wait until the loop takes them, however slow it is.
    public static func events(
        _ plan: Plan, outbox: Outbox?, tell: @escaping @Sendable (Notice) -> Void = { _ in }
    ) -> AsyncThrowingStream<StoredEvent, any Error> {
        AsyncThrowingStream { events in
            let watcher = Watcher(plan, outbox: outbox, emit: { event, _ in events.yield(event) }, tell: tell)
            events.onTermination = { _ in watcher.stop() }
            Task {
                do {
                    try await watcher.run()
                    events.finish()
                } catch {
                    events.finish(throwing: error)
                }
            }
        }
    }

    /// Makes ``run()`` return after it has ended the visits.
    public nonisolated func stop() { input.yield(.stop) }

    /// Makes ``run()`` return soon although sinks do not have every event. One that does not return within five seconds of the
    /// cancellation of its task is abandoned.
    public nonisolated func leave() {
        Task { await leaveNow() }
    }

    private func leaveNow() {
        isLeaving = true
        for delivery in deliveries + ending { delivery.task.cancel() }
        guard isFinishing else { return }
        Task.after(Self.patience) { [delivered] in delivered.give(()) }
    }

    /// Replaces the plan while it runs. Only readers that are to be watched differently are opened again.
    public nonisolated func change(to plan: Plan) {
        // What the old one asked is not shown from now on, however long the change takes.
        desk.changePlan()
        input.yield(.plan(plan))
    }

    /// Watches until it is stopped.
    ///
    /// - Throws: `KazasuError` if a reader of the first plan can never be used, which is an event for one that
    ///   ``change(to:)`` adds; ``OutboxError`` if the outbox cannot
    ///   be read. On a full disk it waits for room to do so, and keeps what happens in memory.
    public func run() async throws {
        makeSinks()
        do throws(OutboxError) {
            try await beginNumbering()
        } catch {
            guard case .full = error else { throw error }
            tellNotStored(error)
            storeLater()
        }
        inform()
        await startDelivering()
        startWatching()
        lastAtStart = lastWatching
        let tidier = Task { [input] in
            while !Task.isCancelled {
                input.yield(.tidy)
                try? await Task.sleep(for: Self.tidyInterval)
            }
        }
        var failure: (any Error)?
        do {
            while let next = await nextInput() {
                let goesOn = try await handle(next)
                try await flush()
                if !goesOn { break }
            }
        } catch {
            failure = error
        }
        tidier.cancel()
        await finish(tellsPending: failure == nil)
        if let failure { throw failure }
    }

    /// Goes on with the numbers of the outbox; visits that were open in an earlier run end.
    private func beginNumbering() async throws(OutboxError) {
        let memory = try await outbox?.memory() ?? OutboxMemory()
        journal = TapJournal(plan.journal, after: memory, clock: clock)
        isNumbering = true
        note { journal in journal.close(.restart).map { ($0, nil) } }
        for happening in unnumbered { note(happening) }
        guard !unnumbered.isEmpty else { return }
        unnumbered = []
        inform()
        try? await outbox?.remember(sinks: sinks.map(\.name), confirms: plan.retention.needsConfirmation)
    }

    /// Makes events of something that happened.
    private func note(_ happening: @escaping Happening) {
        guard isNumbering else { return unnumbered.append(happening) }
        backlog += happening(&journal).map { (StoredEvent($0.event), $0.tap) }
    }

    private func nextInput() async -> Input? {
        if !postponed.isEmpty { return postponed.removeFirst() }
        var iterator = inputs.makeAsyncIterator()
        return await iterator.next()
    }

    /// - Returns: whether to go on.
    private func handle(_ next: Input) async throws(KazasuError) -> Bool {
        switch next {
        case .event(.failed(let error), let number):
            // The reader may have been closed meanwhile.
            guard let subject = watched.first(where: { $0.value.number == number })?.key else { break }
            // A mistake in a change ends nothing that was watched before it.
            guard number > lastAtStart, let id = subject.id else { throw error }
            unusable.insert(number)
            note(.reader(id, .error(error)))
        case .event(let event, _): note(event)
        case .ended(let number):
            // It is in the plan until the next change.
            guard unusable.remove(number) == nil else { break }
            watched = watched.filter { $0.value.number != number }
            return !watched.isEmpty
        case .plan(let new): await replacePlan(new)
        case .answer(let decision, let on, let time):
            let now = ContinuousClock.now
            let isFault = decision.verdict == .fault
            if isFault != isAskerFailing { tell(.asker(fault: isFault ? decision.reason ?? "failed" : nil)) }
            isAskerFailing = isFault
            note { journal in [(journal.event(for: decision, to: on.event, after: time, at: now), nil)] }
        case .storeAgain: isRetrying = false
        case .tidy: _ = try? await outbox?.tidy(plan.retention, now: clock.now().wall)
        case .stop: return false
        case .mark: break
        }
        return true
    }

    private func note(_ event: ReaderWatch.Event) {
        switch event {
        case .tap(let tap, let id):
            if tap.kind == .on { metrics.tap(tap, on: plan.name(of: id)) }
            note { journal in journal.event(for: event).map { [($0, tap)] } ?? [] }
        case .reader(let id, let state):
            metrics.reader(plan.name(of: id), isReady: state == .ready)
            let failure: KazasuError? = if case .error(let error) = state { error } else { nil }
            tell(.reader(plan.name(of: id), TapEvent.ReaderState(state), failure))
            let time = ContinuousClock.now
            note { journal in journal.event(for: event, at: time).map { [($0, nil)] } ?? [] }
        case .opened(let id, let product):
            products[plan.name(of: id)] = product
            inform()
        case .beeps(let id): tell(.beeps(plan.name(of: id)))
        case .failed: break
        }
    }

    private func replacePlan(_ new: Plan) async {
        desk.changePlan()
        let kept = Set(new.subjects)
        let ended = watched.filter { !kept.contains($0.key) }
        await stopWatching(ended.values)
        for subject in ended.keys {
            watched[subject] = nil
            endVisits(on: subject.name)
        }
        let names = new.readers.map { Set($0.map(new.name)) }
        let time = ContinuousClock.now
        note { journal in journal.forget(except: names, at: time).map { ($0, nil) } }
        // For the sinks of the old plan.
        try? await flush()
        plan = new
        makeSinks()
        journal.settings = new.journal
        inform()
        await startDelivering()
        startWatching()
    }

    /// Ends visits and queues.
    private func finish(tellsPending: Bool) async {
        let answered = desk.end()
        // While the readers are open, whose lights may be on.
        if !isLeaving { _ = await answered.value(within: Self.darkening) }
        await stopWatching(watched.values)
        endVisits()
        try? await flush()
        for delivery in deliveries { delivery.queue.end() }
        let limit = Task { [notice = Self.notice, grace = Self.grace] in
            guard (try? await Task.sleep(for: notice)) != nil else { return }
            if tellsPending, let left = await pending { tell(.ending(pending: left.count, sinks: left.sinks)) }
            guard (try? await Task.sleep(for: grace - notice)) != nil else { return }
            leaveNow()
        }
        isFinishing = true
        if isLeaving { leaveNow() }
        let tasks = (ending + deliveries).map(\.task)
        Task { [delivered] in
            for task in tasks { await task.value }
            await answered.value
            delivered.give(())
        }
        await delivered.value
        limit.cancel()
        if tellsPending, let left = await pending { tell(.ended(pending: left.count)) }
    }

    private func endVisits(on reader: String? = nil) {
        let time = ContinuousClock.now
        note { journal in journal.close(.shutdown, on: reader, at: time).map { ($0, nil) } }
    }

    // MARK: Readers

    private func startWatching() {
        for subject in plan.subjects where watched[subject] == nil {
            lastWatching += 1
            watched[subject] = Watching(number: lastWatching, task: watch(subject, lastWatching))
        }
    }

    private func watch(_ subject: Subject, _ number: Int) -> Task<Void, Never> {
        var watch = ReaderWatch(
            readers: subject.id.map { [$0] }, query: subject.query, reading: subject.reading, stations: plan.stations,
            shared: plan.shared
        ) { [metrics, plan] in
            metrics.note($0, on: plan.name(of: $1))
        }
        watch.use(plan.sources)
        watch.isQuiet = subject.isQuiet
        if let proof = subject.proof { watch.work = { card throws(KazasuError) in try proof.check(card) } }
        return Task { [input, watch, desk, plan] in
            await watch.run { event in
                if case .tap(let tap, let id) = event { desk.note(tap, on: plan.name(of: id)) }
                input.yield(.event(event, watching: number))
            }
            if !Task.isCancelled { input.yield(.ended(watching: number)) }
        }
    }

    /// Ends tasks, and notes what they have reported: no card that was seen is lost, whatever else is in the queue.
    private func stopWatching(_ ended: some Collection<Watching>) async {
        for watching in ended { watching.task.cancel() }
        for watching in ended { await watching.task.value }
        input.yield(.mark)
        var iterator = inputs.makeAsyncIterator()
        while let next = await iterator.next() {
            switch next {
            case .mark: return
            case .event(.failed, _): postponed.append(next)
            case .event(let event, _): note(event)
            default: postponed.append(next)
            }
        }
    }

    /// Passes on what is known of the readers.
    private func inform() {
        let readers = journal.readers(watching: plan.readers, products: products)
        for sink in sinks { sink.know(readers) }
    }

    // MARK: Storing

    /// Stores what waits, and shows it.
    ///
    /// - Throws: ``OutboxError`` if the outbox cannot be read although there is room now.
    private func flush() async throws(OutboxError) {
        if !isNumbering {
            do throws(OutboxError) {
                try await beginNumbering()
            } catch .full {
                return storeLater()
            }
        }
        if backlog.isEmpty, isStored { return }
        let batch = backlog
        backlog = []
        do throws(OutboxError) {
            try await store(batch.map(\.event))
            if !isStored { tell(.storedAgain) }
            isStored = true
            isFullKnown.withLock { $0 = false }
            for entry in batch {
                if let tap = entry.tap { ask(about: entry.event, tap) }
                emit(entry.event, entry.tap)
            }
        } catch {
            backlog = batch + backlog
            tellNotStored(error)
            storeLater()
        }
    }

    /// Asks about a card that came just now. An event that waited for a disk to have room is too old for that.
    private func ask(about event: StoredEvent, _ tap: Tap) {
        guard var answering = plan.answering else { return }
        if let reason = plan.journal.obstacle(of: event) { answering = answering.refusing(reason) }
        desk.ask(answering, about: event, card: tap.time) { [input] decision, time in
            input.yield(.answer(decision, to: event, after: time))
        }
    }

    private func tellNotStored(_ error: OutboxError) {
        if isStored { tell(.notStored(error, waiting: backlog.count + unnumbered.count)) }
        isStored = false
        isFullKnown.withLock { $0 = $0 || error == .full }
    }

    private func storeLater() {
        guard !isRetrying else { return }
        isRetrying = true
        Task { [input] in
            try? await Task.sleep(for: Self.rest)
            input.yield(.storeAgain)
        }
    }

    /// A full disk may have room again without the events that every sink has.
    private func store(_ events: [StoredEvent]) async throws(OutboxError) {
        guard let outbox else { return }
        let names = sinks.map(\.name)
        do throws(OutboxError) {
            try await outbox.store(events, for: names)
        } catch .full {
            try await outbox.tidy(plan.retention, now: clock.now().wall, all: true)
            try await outbox.store(events, for: names)
        }
    }

    // MARK: Sinks

    private func makeSinks() {
        var made: [any Sink] = []
        for make in plan.sinks { made.append(make()) }
        sinks = made
    }

    /// Starts a queue for each sink of the plan. The queue of an earlier plan for the same sink ends first, while readers and
    /// other sinks go on.
    private func startDelivering() async {
        metrics.expect(readers: plan.readers?.map(plan.name), sinks: sinks.map(\.name))
        let old = deliveries
        for delivery in old { end(delivery) }
        deliveries = []
        guard let outbox else { return }
        // Only queries of the outbox need it: a full disk must not stop the watcher.
        try? await outbox.remember(sinks: sinks.map(\.name), confirms: plan.retention.needsConfirmation)
        deliveries = sinks.map { sink in
            let queue = SinkQueue(sink, outbox) { [metrics, tell, self] notice in
                metrics.note(notice)
                if case .outbox(.full) = notice, isFullKnown.withLock({ exchange(&$0, with: true) }) { return }
                tell(.sink(notice))
            }
            let before = ending.filter { $0.sink == sink.name }.map(\.task)
            let task = Task {
                for task in before { await task.value }
                await queue.run()
            }
            return Delivery(sink: sink.name, queue: queue, task: task)
        }
    }

    /// Ends a queue of an earlier plan: at once if its sink fails at the moment, as waiting would not help.
    private func end(_ delivery: Delivery) {
        delivery.queue.end()
        if delivery.queue.isFailing { delivery.task.cancel() }
        ending.append(delivery)
        Task {
            let limit = Task.after(Self.grace) { delivery.task.cancel() }
            await delivery.task.value
            limit.cancel()
            ending.removeAll { $0.task == delivery.task }
        }
    }

    /// The deliveries that are pending; `nil` if there are none.
    private var pending: (count: Int, sinks: [String])? {
        get async {
            guard let sinks = try? await outbox?.status().sinks.filter({ $0.pending > 0 }), !sinks.isEmpty else {
                return nil
            }
            return (sinks.reduce(0) { $0 + $1.pending }, sinks.map(\.sink))
        }
    }
}
