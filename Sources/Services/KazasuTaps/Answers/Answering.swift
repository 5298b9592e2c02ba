// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How a watcher has cards answered: whom it asks, and where the answer is shown.
package struct Answering: Sendable {
    /// Asks about an event; called at once for each card, beside everything else.
    package var ask: @Sendable (StoredEvent) async -> TapEvent.Verdict
    /// Shows an answer at a reader, by its name in events.
    package var show: @Sendable (_ reader: String, TapEvent.Verdict) async -> Void

    /// An older event is not asked about: nobody stands there any more.
    static let longestAge = 2000

    package init(
        ask: @escaping @Sendable (StoredEvent) async -> TapEvent.Verdict,
        show: @escaping @Sendable (_ reader: String, TapEvent.Verdict) async -> Void
    ) {
        (self.ask, self.show) = (ask, show)
    }
}

/// Asks about the cards that come, and shows the answers, each at once and none after that to a later card.
final class AnswerDesk: Sendable {
    /// The last event of each reader that was asked about.
    private let latest = Mutex<[String: String]>([:])

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
        latest.withLock { $0[event.reader] = event.id }
        let start = ContinuousClock.now
        Task {
            let verdict = await answering.ask(event)
            note(verdict, Int(start.duration(to: .now) / .milliseconds(1)))
            // The answer to a card that was there before must not be taken for that to the next one.
            guard latest.withLock({ $0[event.reader] == event.id }) else { return }
            await answering.show(event.reader, verdict)
        }
    }
}
