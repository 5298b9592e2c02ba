// SPDX-License-Identifier: Apache-2.0

internal import Kazasu
internal import ReaderCore
internal import Synchronization

/// How a watcher has cards answered: whom it asks, and where the answer is shown.
package struct Answering: Sendable {
    /// What an asker decided.
    package struct Decision: Hashable, Sendable {
        package var verdict: TapEvent.Verdict
        /// Why it is a fault: a word such as `timeout` or `exit3`. Why nobody was asked, if it is no.
        package var reason: String?

        package static let (yes, no) = (Decision(verdict: .yes), Decision(verdict: .no))
        package static func fault(_ reason: String) -> Decision { Decision(verdict: .fault, reason: reason) }
    }

    /// What came of asking.
    struct Asked: Sendable {
        let decision: Decision
        /// An asker that is ending, if it has not within its time.
        var rest: Task<Void, Never>?
    }

    /// Shows an answer at a reader, by its name in events. It is shown only while `isCurrent` says so: an output that is busy
    /// asks again when it is free.
    package typealias Show =
        @Sendable (_ reader: String, TapEvent.Verdict, _ isCurrent: @escaping @Sendable () -> Bool) async -> Void

    /// Asks about an event; called at once for each card, beside everything else.
    var ask: @Sendable (StoredEvent) async -> Asked
    /// What takes longer is a fault, whatever was answered.
    let limit: Duration
    package var show: Show

    /// An older event is not asked about, and its answer is not shown: nobody stands there any more. In milliseconds.
    static let longestAge = 2000

    package init(
        within limit: Duration = .seconds(60), ask: @escaping @Sendable (StoredEvent) async -> Decision,
        show: @escaping Show
    ) {
        self.ask = { Asked(decision: await ask($0)) }
        (self.limit, self.show) = (limit, show)
    }

    /// - Parameter limit: how long the asker may take.
    package init(_ asker: Asker, within limit: Duration, show: @escaping Show) {
        ask = { await asker.ask(about: $0, within: limit) }
        (self.limit, self.show) = (limit, show)
    }
}

extension Answering {
    /// The same for a card that need not be asked about: one that the user's settings shut out gets no for an answer.
    func refusing(_ reason: String) -> Answering {
        var copy = self
        copy.ask = { _ in Asked(decision: Decision(verdict: .no, reason: reason)) }
        return copy
    }
}

/// Asks about the cards that come, and shows the answers. An answer belongs to its question: it is shown only while its card lies
/// there, the plan that asked is in force, and the tap is news. Otherwise it is an event and nothing more.
final class AnswerDesk: Sendable {
    private struct State {
        /// When the card came that lies on a reader; absent without one.
        var cards: [String: ContinuousClock.Instant] = [:]
        /// How many plans there were.
        var plan = 0
        /// What is asked and shown now, by its number.
        var running: [Int: Task<Void, Never>] = [:]
        var count = 0
        var isEnding = false
    }

    /// A card that is asked about.
    private struct Question: Sendable {
        let event: StoredEvent
        let card: ContinuousClock.Instant
        let plan: Int
        /// When it was asked, in milliseconds of a clock that does not stop.
        let time: Int
    }

    private let clock: EventClock
    private let state = Mutex(State())

    init(clock: EventClock = .system) { self.clock = clock }

    /// Notes a card as soon as its reader reports it, whatever else waits to be handled.
    func note(_ tap: Tap, on reader: String) { note(tap.kind == .on ? tap.time : nil, on: reader) }

    /// - Parameter card: when the card came; `nil` if it left.
    func note(_ card: ContinuousClock.Instant?, on reader: String) {
        state.withLock { $0.cards[reader] = card }
    }

    /// Shows no answer of the plan that was in force.
    func changePlan() { state.withLock { $0.plan += 1 } }

    /// Asks about an event of a card that came. Returns at once.
    ///
    /// - Parameters:
    ///   - card: when it came.
    ///   - note: gets the answer, and how many milliseconds it took; called from any thread.
    func ask(
        _ answering: Answering, about event: StoredEvent, card: ContinuousClock.Instant,
        note: @escaping @Sendable (Answering.Decision, Int) -> Void
    ) {
        let time = clock.now().boot
        guard case .on = event.kind, isNews(event) else { return }
        state.withLock { state in
            guard !state.isEnding else { return }
            let question = Question(event: event, card: card, plan: state.plan, time: time)
            state.count += 1
            let number = state.count
            state.running[number] = Task {
                await answer(answering, question, note)
                self.state.withLock { $0.running[number] = nil }
            }
        }
    }

    private func isNews(_ event: StoredEvent) -> Bool {
        clock.now().boot - event.moment.uptime <= Answering.longestAge
    }

    /// Whether an answer may be shown now.
    private func isCurrent(_ question: Question) -> Bool {
        let isTheirs = state.withLock { state in
            !state.isEnding && state.plan == question.plan && state.cards[question.event.reader] == question.card
        }
        return isTheirs && isNews(question.event)
    }

    private func answer(
        _ answering: Answering, _ question: Question, _ note: @Sendable (Answering.Decision, Int) -> Void
    ) async {
        let asked = await answering.ask(question.event)
        let time = clock.now().boot - question.time
        // At the end nobody has decided, and nobody is told any more.
        if !Task.isCancelled {
            // Of a computer that slept or starved, a timer and an answer wake up together, in any order.
            let isLate = time > answering.limit.count(of: .milliseconds(1), roundedUp: true)
            let decision = isLate ? .fault("timeout") : asked.decision
            note(decision, time)
            if isCurrent(question) {
                await answering.show(question.event.reader, decision.verdict) { self.isCurrent(question) }
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
