// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What an operator should know about a sink.
@nonexhaustive
public enum SinkNotice: Hashable, Sendable {
    /// A delivery failed after others succeeded.
    case failing(sink: String, reason: String)
    /// The sink accepts events again.
    case recovered(sink: String)
    /// An event went to the dead letters.
    case dead(sink: String, id: String, reason: String)
    /// The outbox cannot be used at the moment.
    case outbox(OutboxError)
}

/// Delivers the events of the outbox to one sink: in order per reader, readers in parallel.
package final class SinkQueue: Sendable {
    private struct State {
        /// Readers whose events are being delivered.
        var busy: Set<String> = []
        /// When a reader's next event may be tried.
        var retries: [String: ContinuousClock.Instant] = [:]
        /// How often the sink has reported that it accepts events again.
        var calls = 0
        var isFailing = false
        /// Why the outbox cannot be used, by reader; `nil` for the list of readers.
        var faults: [String?: OutboxError] = [:]
        var isEnding = false
    }

    /// How many readers are served at the same time.
    private static let parallel = 8
    /// How long to wait before the outbox is used again after a failure.
    private static let rest = Duration.seconds(2)

    private let sink: any Sink
    private let outbox: Outbox
    private let tell: @Sendable (SinkNotice) -> Void
    private let state = Mutex(State())
    private let wake: AsyncStream<Void>.Continuation
    private let wakes: AsyncStream<Void>
    private let sleep: @Sendable (Duration) async -> Void

    /// - Parameter sleep: waits between attempts; tests replace it.
    package init(
        _ sink: any Sink, _ outbox: Outbox,
        sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
        tell: @escaping @Sendable (SinkNotice) -> Void
    ) {
        (self.sink, self.outbox, self.sleep, self.tell) = (sink, outbox, sleep, tell)
        (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        sink.whenReady { [weak self] in self?.retryNow() }
    }

    /// Ends the pauses after failures.
    private func retryNow() {
        state.withLock { state in
            state.retries = [:]
            state.calls += 1
        }
        wake.yield()
    }

    /// The pause before the next attempt: 0.5 s, doubling up to 300 s, and up to a quarter of it more.
    ///
    /// - Parameters:
    ///   - attempts: how often it was tried.
    ///   - jitter: 0 to 1.
    static func pause(after attempts: Int, jitter: Double = .random(in: 0...1)) -> Duration {
        let base = attempts > 10 ? 300 : min(300, 0.5 * Double(1 << max(0, attempts - 1)))
        return .seconds(min(300, base * (1 + jitter / 4)))
    }

    /// Delivers until ``end()`` is called and nothing can be delivered immediately, or the task is cancelled.
    package func run() async {
        await outbox.listen(wake)
        await sink.start()
        wake.yield()
        await withDiscardingTaskGroup { group in
            for await _ in wakes {
                let next: [String]
                do throws(OutboxError) {
                    next = choose(from: try await outbox.readersWaiting(for: sink.name))
                    note(nil, of: nil)
                } catch {
                    note(error, of: nil)
                    if isEnding { break }
                    group.addTask { await self.wakeUp(in: Self.rest) }
                    continue
                }
                for reader in next {
                    group.addTask {
                        await self.serve(reader)
                        self.wake.yield()
                    }
                }
                if isEnding, state.withLock({ $0.busy.isEmpty }) { break }
            }
            group.cancelAll()
        }
        await sink.close()
    }

    /// Lets ``run()`` return when what can be delivered immediately has been.
    package func end() {
        state.withLock { $0.isEnding = true }
        wake.yield()
    }

    /// Whether the last delivery failed.
    var isFailing: Bool { state.withLock(\.isFailing) }

    private var isEnding: Bool { state.withLock(\.isEnding) }

    private func wakeUp(in time: Duration) async {
        await sleep(time)
        wake.yield()
    }

    /// The readers to serve now, which are busy from now on.
    private func choose(from readers: [String]) -> [String] {
        state.withLock { state in
            let now = ContinuousClock.now
            let ready = readers.filter { !state.busy.contains($0) && state.retries[$0] ?? now <= now }
            let chosen = Array(ready.prefix(max(0, Self.parallel - state.busy.count)))
            state.busy.formUnion(chosen)
            return chosen
        }
    }

    /// Delivers the waiting events of a reader up to the first failure, then pauses that reader.
    private func serve(_ reader: String) async {
        var pause: Duration?
        let calls = state.withLock(\.calls)
        do throws(OutboxError) {
            while !Task.isCancelled, pause == nil {
                let (events, attempts) = try await outbox.waiting(
                    for: sink.name, of: reader, limit: max(1, sink.window))
                note(nil, of: reader)
                if events.isEmpty { break }
                let results = limited(complete(await sink.deliver(events), for: events), attempts: attempts)
                var outcomes = zip(events, results).map { Outbox.Outcome(event: $0, result: $1) }
                // An attempt that was interrupted does not count.
                if Task.isCancelled { outcomes = outcomes.filter { $0.result == .delivered } }
                pause = report(outcomes, attempts: attempts)
                await record(outcomes, of: reader)
                if isEnding, pause != nil { break }
            }
        } catch {
            note(error, of: reader)
            pause = Self.rest
        }
        let end = ContinuousClock.now + (pause ?? .zero)
        let isWaiting = state.withLock { state in
            state.busy.remove(reader)
            // The sink may have called while the failure was noted.
            guard pause != nil, !state.isEnding, state.calls == calls else { return false }
            state.retries[reader] = end
            return true
        }
        guard isWaiting, let pause else { return }
        wake.yield()
        await sleep(pause)
        // Unless the pause was ended and another one has begun.
        state.withLock { if $0.retries[reader] == end { $0.retries[reader] = nil } }
    }

    /// Retries until recorded: an unrecorded delivery would be repeated.
    private func record(_ outcomes: [Outbox.Outcome], of reader: String) async {
        // An event after the one that failed was not tried.
        let failure = outcomes.firstIndex { if case .retry = $0.result { true } else { false } }
        let tried = outcomes.prefix((failure ?? outcomes.count - 1) + 1)
        while true {
            do throws(OutboxError) {
                try await outbox.record(Array(tried), at: sink.name)
                return note(nil, of: reader)
            } catch {
                note(error, of: reader)
                if Task.isCancelled || isEnding { return }
                await sleep(Self.rest)
            }
        }
    }

    /// One result for each event: those that a sink leaves out were not delivered.
    private func complete(_ results: [DeliveryResult], for events: [StoredEvent]) -> [DeliveryResult] {
        results + repeatElement(.retry("noResult"), count: max(0, events.count - results.count))
    }

    /// An event that was tried as often as its sink allows is dead.
    private func limited(_ results: [DeliveryResult], attempts: Int) -> [DeliveryResult] {
        guard let retries = sink.retries, attempts >= retries, case .retry(let reason, _)? = results.first else {
            return results
        }
        return [.dead(reason)] + results.dropFirst()
    }

    /// Reports a failure of the outbox, which is tried again every few seconds, once; `nil` notes that it works.
    private func note(_ error: OutboxError?, of reader: String?) {
        let isKnown = state.withLock { state in
            defer { state.faults[reader] = error }
            return state.faults.values.contains { $0 == error }
        }
        if let error, !isKnown { tell(.outbox(error)) }
    }

    /// Reports failures and recoveries.
    ///
    /// - Returns: how long to wait after a failure; `nil` if there was none.
    private func report(_ outcomes: [Outbox.Outcome], attempts: Int) -> Duration? {
        for (index, outcome) in outcomes.enumerated() {
            switch outcome.result {
            case .delivered:
                if state.withLock({ exchange(&$0.isFailing, false) }) { tell(.recovered(sink: sink.name)) }
            case .dead(let reason): tell(.dead(sink: sink.name, id: outcome.event.id, reason: reason))
            case .retry(let reason, let after):
                if !state.withLock({ exchange(&$0.isFailing, true) }) {
                    tell(.failing(sink: sink.name, reason: reason))
                }
                return max(after ?? .zero, Self.pause(after: index == 0 ? attempts + 1 : 1))
            }
        }
        return nil
    }

    private func exchange(_ value: inout Bool, _ new: Bool) -> Bool {
        defer { value = new }
        return value
    }
}
