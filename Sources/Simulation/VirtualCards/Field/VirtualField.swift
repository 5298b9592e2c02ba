// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
public import ReaderCore
internal import Synchronization

/// The field before a simulated reader: its cards, and injected faults.
///
/// Exchanges are counted from 1, Polling included; faults are planned by that count.
public final class VirtualField: Sendable {
    /// The reader's view when several cards answer the same time slot of a Polling.
    package enum Collision: Hashable, Sendable {
        /// The card that was placed first, as when one card is much nearer.
        case firstIsHeard
        /// Damaged data, which a PN53x chip reports as a CRC error (status 02) and with type A as a collision (06).
        case damaged
    }

    private struct State {
        var placed: [PlacedCard]
        var faults: InjectedFaults
        var visits: CardVisits?
        var statistics = FieldStatistics()
        var now = Duration.zero
        var isOn = false
        /// The fault for all answers that belong to the current command APDU.
        var lostAnswers: InjectedFault?

        /// Powers the cards in the field; those with power keep it.
        mutating func switchOn() {
            isOn = true
            for index in placed.indices { placed[index].gainPower(at: now) }
        }

        mutating func losePower() {
            for index in placed.indices { placed[index].losePower(at: now) }
        }
    }

    private let state: Mutex<State>
    private let collision: Collision
    /// The oddities of the reader that is simulated over this field.
    package let readerQuirks: ReaderQuirks

    /// How many times shorter than before a real card a host should make its pauses.
    package var pace: Int { state.withLock { $0.visits?.pace ?? 1 } }

    /// Creates a field without a card.
    public convenience init() {
        self.init(cards: [])
    }

    /// Creates a field with the cards of a dump or a virtual card file, and with the file's `virtual.faults`;
    /// `Docs/virtual-cards.md` describes both.
    ///
    /// - Throws: `DocumentError` with the position of a mistake.
    public convenience init(cardFile bytes: [UInt8]) throws(DocumentError) {
        let content = try VirtualCardFile.parse(bytes)
        self.init(
            cards: content.cards, faults: content.faults, collision: content.collision, visits: content.visits,
            readerQuirks: content.reader)
    }

    /// Creates a field with cards in it.
    ///
    /// - Parameters:
    ///   - visits: when the cards arrive and leave; `nil` when they stay.
    ///   - readerQuirks: the oddities of the reader that is simulated over it.
    package init(
        cards: [any VirtualCard] = [], faults: InjectedFaults = InjectedFaults(), collision: Collision = .firstIsHeard,
        visits: CardVisits? = nil, readerQuirks: ReaderQuirks = .none
    ) {
        self.readerQuirks = readerQuirks
        let placed = cards.map { PlacedCard($0, startupTime: $0.startupTime) }
        state = Mutex(State(placed: placed, faults: faults, visits: visits))
        self.collision = collision
    }

    /// The counts so far.
    public var statistics: FieldStatistics { state.withLock(\.statistics) }

    /// The cards in the field, whether or not the plan currently removes them.
    package var cards: [any VirtualCard] { state.withLock { $0.placed.map(\.card) } }

    /// The field's own clock: time in the air, the cards' thinking time, and what ``pass(_:)`` adds.
    package var now: Duration { state.withLock(\.now) }

    /// When the cards came last, for a field with ``CardVisits``.
    package var arrivedAt: Duration? { state.withLock { $0.visits?.arrivedAt } }

    /// Adds a card to the field.
    package func place(_ card: any VirtualCard) {
        state.withLock { state in
            var placed = PlacedCard(card, startupTime: card.startupTime)
            if state.isOn { placed.gainPower(at: state.now) }
            state.placed.append(placed)
        }
    }

    /// Adds the cards of a dump or a virtual card file to the field; the file's `virtual.faults` are not used.
    ///
    /// - Throws: `DocumentError` with the position of a mistake.
    public func place(cardFile bytes: [UInt8]) throws(DocumentError) {
        for card in try VirtualCardFile.loadCards(bytes) { place(card) }
    }

    /// Removes all cards.
    public func removeCards() {
        state.withLock { state in
            state.losePower()
            state.placed = []
        }
    }

    /// Replaces the plan of faults; the count of exchanges continues.
    public func plan(_ faults: InjectedFaults) {
        state.withLock { $0.faults = faults }
    }

    /// Lets time pass in which nothing is sent.
    package func pass(_ time: Duration) {
        state.withLock { $0.now += max(time, .zero) }
    }

    /// Switches the field off: every card loses its power. The next exchange switches it on again.
    package func switchOff() {
        state.withLock { state in
            state.isOn = false
            state.losePower()
        }
    }

    /// Sends one FeliCa packet into the field, as a simulated device does for its host.
    ///
    /// - Parameters:
    ///   - packet: the packet with its LEN byte, Polling included.
    ///   - timeout: the longest time that the card may take; nothing really waits.
    /// - Throws: `TransportError.noAnswer`, also for a card that takes longer, and
    ///   `TransportError.corrupted(status:)`.
    public func transceive(
        _ packet: [UInt8], at bitRate: FeliCaBitRate, timeout: Duration
    ) throws(TransportError) -> [UInt8] {
        try transceive(RadioFrame(.felica(bitRate), packet), timeout: timeout)
    }

    package func transceive(_ frame: RadioFrame, timeout: Duration) throws(TransportError) -> [UInt8] {
        switch exchange(frame) {
        case .silence: throw .noAnswer
        case .damaged(let status): throw .corrupted(status: status)
        case .answer(let answer):
            guard answer.thinkingTime <= timeout else { throw .noAnswer }
            return answer.frame
        }
    }

    /// Sends one frame into the field.
    ///
    /// Faults are planned and counted by the command code: the second byte of a FeliCa packet, the first of other
    /// frames; or by command APDUs and their instruction byte.
    ///
    /// - Parameter frame: any bytes: cards never trap.
    package func exchange(_ frame: RadioFrame) -> FieldResult {
        state.withLock { state in
            let code = frame.commandCode
            state.statistics.begin(code)
            state.switchOn()
            let fault = state.faults.fault(
                exchange: state.statistics.exchanges, command: code,
                exchangesOfCommand: state.statistics.count(of: code))
            state.visits?.come(&state.placed, before: state.statistics.exchanges, at: state.now)
            if fault != .absent { VirtualField.planAPDU(frame, &state) }
            let outcome = outcome(of: frame, fault ?? state.lostAnswers, &state)
            let time = TimeModel.time(of: frame, outcome)
            state.statistics.end(outcome, after: time)
            state.now += time
            state.visits?.go(&state.placed, after: frame, outcome, state.statistics.exchanges, at: state.now)
            return outcome
        }
    }

    /// Counts a command APDU that this frame completes, and prepares its fault.
    private static func planAPDU(_ frame: RadioFrame, _ state: inout State) {
        if frame.looksForCards { state.lostAnswers = nil }
        for card in state.placed.map(\.card) {
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
        of frame: RadioFrame, _ fault: InjectedFault?, _ state: inout State
    ) -> FieldResult {
        if fault == .absent {
            state.losePower()
            return .silence
        }
        // Every card receives every frame; a lost answer is lost only after the card has executed the command.
        let answers = state.placed.compactMap { $0.answer(frame, at: state.now) }
        guard var first = answers.min(by: { $0.thinkingTime < $1.thinkingTime }) else { return .silence }
        let others = answers.filter { $0.thinkingTime == first.thinkingTime && $0.frame != first.frame }
        if !others.isEmpty, collision == .damaged {
            // The answers of several cards to a REQA are combined, bit by bit; readers continue from there.
            guard frame.isTypeARequest else { return .damaged(status: frame.technology == .typeA ? 0x06 : 0x02) }
            first.frame = zip(first.frame, others[0].frame).map { $0 | $1 }
        }
        if let fault { return fault.applied(to: first) }
        return first.isDamaged ? .damaged(status: ChipStatus.wrongChecksum) : .answer(first)
    }
}

/// A field can be used by a simulated chip.
extension VirtualField: RadioField {}

/// The result of sending one frame through the air.
package enum FieldResult: Hashable, Sendable {
    /// No answer.
    case silence
    case answer(CardAnswer)
    /// Damaged data that the chip reports with this PN53x status (02 CRC, 03 parity, 05 framing, 06 collision).
    case damaged(status: UInt8)
}

/// The counts of a virtual field.
public struct FieldStatistics: Hashable, Sendable {
    /// The number of frames sent.
    public private(set) var exchanges = 0
    /// The number of frames by command code; frames of fewer than two bytes are not included.
    package private(set) var byCommand: [UInt8: Int] = [:]
    /// The number of command APDUs that a card received completely; those to an absent card are not included.
    package private(set) var apdus = 0
    /// The number of command APDUs by instruction byte.
    package private(set) var byInstruction: [UInt8: Int] = [:]
    /// The number of frames with an answer.
    package private(set) var answered = 0
    /// The number of frames without an answer.
    package private(set) var unanswered = 0
    /// The number of frames with a damaged answer.
    package private(set) var damaged = 0
    /// How long the frames, their answers and the cards took, with the time slots of unanswered Pollings.
    package private(set) var time = Duration.zero

    /// Creates zero counts.
    package init() {}

    /// Returns the number of frames with this command code.
    package func count(of command: UInt8?) -> Int {
        command.flatMap { byCommand[$0] } ?? 0
    }

    /// Returns the number of command APDUs with this instruction byte.
    package func apdus(of instruction: UInt8?) -> Int {
        instruction.flatMap { byInstruction[$0] } ?? 0
    }

    mutating func begin(_ command: UInt8?) {
        exchanges += 1
        if let command { byCommand[command, default: 0] += 1 }
    }

    mutating func beginAPDU(_ instruction: UInt8?) {
        apdus += 1
        if let instruction { byInstruction[instruction, default: 0] += 1 }
    }

    package mutating func end(_ outcome: FieldResult, after time: Duration) {
        self.time += time
        switch outcome {
        case .answer: answered += 1
        case .silence: unanswered += 1
        case .damaged: damaged += 1
        }
    }
}

/// A card in a simulated field; it receives frames as a real card does, without preamble, sync code and CRC.
///
/// A field is used from the reader's thread and inspected from others, so cards guard their state.
package protocol VirtualCard: AnyObject, Sendable {
    /// Returns the card's answer to a frame; `nil` when it does not answer, as for every frame of another technology.
    ///
    /// - Parameter frame: any bytes: cards never trap.
    func answer(_ frame: RadioFrame) -> CardAnswer?

    /// The same for cards whose behavior depends on how long they have had power.
    func answer(_ frame: RadioFrame, _ power: CardPower) -> CardAnswer?

    /// How long it is deaf after it got power.
    var startupTime: Duration { get }

    /// The field was switched off, or the card was removed: volatile state is lost.
    func losePower()

    /// Returns the command APDU that this frame, as the last I-block, would complete now for this card; else `nil`.
    func apdu(completedBy frame: RadioFrame) -> [UInt8]?

    /// Applies this fault to the response APDU of the next completed command, before it is split into blocks.
    func changeNextResponse(_ fault: InjectedFault)
}

extension VirtualCard {
    /// Ignores when it got power.
    package func answer(_ frame: RadioFrame, _ power: CardPower) -> CardAnswer? { answer(frame) }

    /// No delay.
    package var startupTime: Duration { .zero }

    /// Cards without ISO-DEP receive no APDUs.
    package func apdu(completedBy frame: RadioFrame) -> [UInt8]? { nil }

    /// Cards without ISO-DEP send no response APDUs.
    package func changeNextResponse(_ fault: InjectedFault) {}
}

/// A virtual card that only supports FeliCa.
package protocol VirtualPacketCard: VirtualCard {
    /// Returns the card's answer to a packet that arrives at this speed; `nil` when it does not answer.
    ///
    /// - Parameter frame: a whole FeliCa packet with its LEN byte, of any content: cards never trap.
    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer?
}

extension VirtualPacketCard {
    /// No answer to anything but FeliCa with its checksum.
    package func answer(_ frame: RadioFrame) -> CardAnswer? {
        guard case .felica(let bitRate) = frame.technology, frame.hasCRC else { return nil }
        return answer(frame.bytes, at: bitRate)
    }
}
