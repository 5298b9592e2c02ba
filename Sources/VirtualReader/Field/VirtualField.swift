// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import Synchronization

/// The air over a reader: the cards that lie in it, and what goes wrong.
///
/// Exchanges are counted from 1, Polling included; faults are planned by that count.
public final class VirtualField: Sendable {
    /// What a reader hears when several cards answer the same time slot of a Polling.
    public enum Collision: Hashable, Sendable {
        /// The card that was put down first, as when one card lies much nearer.
        case firstIsHeard
        /// Something damaged, which a PN53x chip reports as a CRC error (status 02) and with type A as a
        /// collision (06).
        case damaged
    }

    private struct State {
        var cards: [any VirtualCard]
        var faults: FaultPlan
        var statistics = FieldStatistics()
        /// What becomes of all answers that belong to the present command APDU.
        var lostAnswers: Fault?
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
    /// frames; or by command APDUs and their instruction byte.
    ///
    /// - Parameter frame: it may hold anything: cards never trap.
    public func exchange(_ frame: RadioFrame) -> FieldOutcome {
        state.withLock { state in
            let code = frame.commandCode
            state.statistics.begin(code)
            let fault = state.faults.fault(
                exchange: state.statistics.exchanges, command: code,
                exchangesOfCommand: state.statistics.count(of: code))
            if fault != .absent { VirtualField.planAPDU(frame, &state) }
            let outcome = outcome(of: frame, fault ?? state.lostAnswers, state.cards)
            state.statistics.end(outcome)
            return outcome
        }
    }

    /// Counts a command APDU that this frame completes, and prepares what goes wrong with it.
    private static func planAPDU(_ frame: RadioFrame, _ state: inout State) {
        if frame.looksForCards { state.lostAnswers = nil }
        for card in state.cards {
            guard let command = card.apdu(completedBy: frame) else { continue }
            let instruction = command.element(at: 1)
            state.statistics.beginAPDU(instruction)
            let fault = state.faults.fault(
                exchange: state.statistics.apdus, command: instruction,
                exchangesOfCommand: state.statistics.apdus(of: instruction), isAPDU: true)
            state.lostAnswers = nil
            guard let fault else { continue }
            if fault.changesAnswer { card.changeNextResponse(fault) } else { state.lostAnswers = fault }
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
        guard var first = answers.min(by: { $0.thinkingTime < $1.thinkingTime }) else { return .silence }
        let others = answers.filter { $0.thinkingTime == first.thinkingTime && $0.frame != first.frame }
        if !others.isEmpty, collision == .damaged {
            // What several cards answer to a REQA adds up, bit by bit; readers go on from there.
            guard frame.isTypeARequest else { return .damaged(status: frame.technology == .typeA ? 0x06 : 0x02) }
            first.frame = zip(first.frame, others[0].frame).map { $0 | $1 }
        }
        return fault?.applied(to: first) ?? .answer(first)
    }
}
