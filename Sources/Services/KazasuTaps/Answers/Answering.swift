// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import Synchronization

/// How a watcher has cards answered: whom it asks, and where the answer is shown.
package struct Answering: Sendable {
    /// What came of asking.
    struct Asked: Sendable {
        let verdict: TapEvent.Verdict
        /// An asker that is ending, if it has not within its time.
        var rest: Task<Void, Never>?
    }

    /// Asks about an event; called at once for each card, beside everything else.
    let ask: @Sendable (StoredEvent) async -> Asked
    /// Shows an answer at a reader, by its name in events.
    package var show: @Sendable (_ reader: String, TapEvent.Verdict) async -> Void

    /// An older event is not asked about: nobody stands there any more.
    static let longestAge = 2000

    package init(
        ask: @escaping @Sendable (StoredEvent) async -> TapEvent.Verdict,
        show: @escaping @Sendable (_ reader: String, TapEvent.Verdict) async -> Void
    ) {
        self.ask = { Asked(verdict: await ask($0)) }
        self.show = show
    }

    /// - Parameter limit: how long the asker may take.
    package init(
        _ asker: Asker, within limit: Duration,
        show: @escaping @Sendable (_ reader: String, TapEvent.Verdict) async -> Void
    ) {
        ask = { await asker.ask(about: $0, within: limit) }
        self.show = show
    }
}

/// Asks about the cards that come, and shows the answers, each at once and none after that to a later card.
final class AnswerDesk: Sendable {
    private struct State {
        /// The last event of each reader that was asked about.
        var latest: [String: String] = [:]
        /// What is asked and shown now, by its number.
        var running: [Int: Task<Void, Never>] = [:]
        var count = 0
        var isEnding = false
    }

    private let state = Mutex(State())

    /// Asks about an event of a card that came. Returns at once.
    ///
    /// - Parameters:
    ///   - age: in milliseconds.
    ///   - note: gets the answer, and how many milliseconds it took; called from any thread.
    func ask(
        _ answering: Answering, about event: StoredEvent, age: Int,
        note: @escaping @Sendable (TapEvent.Verdict, Int) -> Void
    ) {
        guard case .on = event.kind, age <= Answering.longestAge else { return }
        state.withLock { state in
            guard !state.isEnding else { return }
            state.latest[event.reader] = event.id
            state.count += 1
            let number = state.count
            state.running[number] = Task {
                await answer(answering, event, note)
                self.state.withLock { $0.running[number] = nil }
            }
        }
    }

    private func answer(
        _ answering: Answering, _ event: StoredEvent, _ note: @Sendable (TapEvent.Verdict, Int) -> Void
    ) async {
        let start = ContinuousClock.now
        let asked = await answering.ask(event)
        // At the end nobody has decided, and nobody is told any more.
        if !Task.isCancelled {
            note(asked.verdict, start.duration(to: .now).count(of: .milliseconds(1)))
            // The answer to a card that was there before must not be taken for that to the next one.
            if state.withLock({ $0.latest[event.reader] == event.id }) {
                await answering.show(event.reader, asked.verdict)
            }
        }
        await asked.rest?.value
    }

    /// Asks nobody any more: programs that run are ended, and lights that are on go off.
    ///
    /// - Returns: what is given once that is done.
    func end() -> OneShot<Void> {
        let tasks = state.withLock { state in
            state.isEnding = true
            return Array(state.running.values)
        }
        let ended = OneShot<Void>()
        guard !tasks.isEmpty else {
            ended.give(())
            return ended
        }
        for task in tasks { task.cancel() }
        Task {
            for task in tasks { await task.value }
            ended.give(())
        }
        return ended
    }
}
