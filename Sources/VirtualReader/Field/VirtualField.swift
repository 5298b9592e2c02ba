// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The air over a reader: the cards that lie in it, and what goes wrong.
///
/// Exchanges are counted from 1, Polling included; faults are planned by that count.
public final class VirtualField: Sendable {
    /// What a reader hears when several cards answer the same time slot of a Polling.
    public enum Collision: Hashable, Sendable {
        /// The card that was put down first, as when one card lies much nearer.
        case firstIsHeard
        /// Something damaged, which a PN53x chip reports as a CRC error (status 02).
        case damaged
    }

    private struct State {
        var cards: [any VirtualCard]
        var faults: FaultPlan
        var statistics = FieldStatistics()
    }

    private let state: Mutex<State>
    private let collision: Collision

    /// A field with cards in it.
    public init(
        cards: [any VirtualCard] = [], faults: FaultPlan = FaultPlan(), collision: Collision = .firstIsHeard
    ) {
        state = Mutex(State(cards: cards, faults: faults))
        self.collision = collision
    }

    /// What was exchanged so far.
    public var statistics: FieldStatistics { state.withLock(\.statistics) }

    /// The cards that lie in the field, whether or not the plan says that they are away now.
    public var cards: [any VirtualCard] { state.withLock(\.cards) }

    /// Puts one more card into the field.
    public func place(_ card: any VirtualCard) {
        state.withLock { $0.cards.append(card) }
    }

    /// Takes all cards away.
    public func removeCards() {
        state.withLock { state in
            for card in state.cards { card.losePower() }
            state.cards = []
        }
    }

    /// Replaces the plan of faults; the count of exchanges goes on.
    public func plan(_ faults: FaultPlan) {
        state.withLock { $0.faults = faults }
    }

    /// Switches the field off: every card loses its power. The next exchange switches it on again.
    public func switchOff() {
        state.withLock { state in
            for card in state.cards { card.losePower() }
        }
    }

    /// Sends one frame into the field.
    ///
    /// Faults are planned and counted by the command code: the second byte of a FeliCa packet, the first of other
    /// frames.
    ///
    /// - Parameter frame: it may hold anything: cards never trap.
    public func exchange(_ frame: RadioFrame) -> FieldOutcome {
        state.withLock { state in
            let code = frame.commandCode
            state.statistics.begin(code)
            let fault = state.faults.fault(
                exchange: state.statistics.exchanges, command: code,
                exchangesOfCommand: state.statistics.count(of: code))
            let outcome = outcome(of: frame, fault, state.cards)
            state.statistics.end(outcome)
            return outcome
        }
    }

    private func outcome(
        of frame: RadioFrame, _ fault: Fault?, _ cards: [any VirtualCard]
    ) -> FieldOutcome {
        if fault == .absent {
            for card in cards { card.losePower() }
            return .silence
        }
        // Every card hears every frame; a lost answer is lost only after the card has done what was asked.
        let answers = cards.compactMap { $0.answer(frame) }
        guard let first = answers.min(by: { $0.thinkingTime < $1.thinkingTime }) else { return .silence }
        let atOnce = answers.filter { $0.thinkingTime == first.thinkingTime }
        if atOnce.count > 1, collision == .damaged { return .damaged(status: 0x02) }
        return fault?.applied(to: first) ?? .answer(first)
    }
}
