// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore

/// The reader's side of the block protocol of ISO 14443-4, clause 7. It handles chaining both ways, extensions of the
/// waiting time and the recovery from lost and damaged blocks.
struct BlockProtocol {
    /// How many blocks in a row may be lost or damaged before the exchange fails.
    static let attempts = 3
    /// How many times a block is sent again in full because the card reports that it did not receive it.
    private static let repeats = 5
    /// More than the data of any APDU: 65536 bytes and the status word.
    static let longestAnswer = 65_538

    private let channel: any RawFrameChannel
    private var parameters: Parameters
    private let now: () -> ContinuousClock.Instant
    private var number: UInt8 = 0

    /// The parameters that reader and card agreed on.
    struct Parameters: Hashable, Sendable {
        var modulation: RawFrame.Modulation
        /// The longest frame that can be sent, CRC included.
        var longestFrame: Int
        var waitingTime: Duration
        /// The speed of both directions: 106 kbit/s, doubled so many times.
        var bitRate: UInt8 = 0

        /// The number of data bytes that fit in one block beside PCB and CRC.
        var payload: Int { max(1, longestFrame - 3) }
    }

    /// - Parameter now: the clock by which the card's time is counted.
    init(
        _ channel: any RawFrameChannel, _ parameters: Parameters,
        now: @escaping () -> ContinuousClock.Instant = { .now }
    ) {
        self.channel = channel
        self.parameters = parameters
        self.now = now
    }

    /// Exchanges blocks at another speed from now on.
    mutating func raise(to bitRate: UInt8) { parameters.bitRate = bitRate }

    /// Sends an APDU and returns the card's answer.
    ///
    /// - Parameter timeout: the longest time that the card may take in all. What it asks for beside that is not part of it.
    /// - Throws: ``ReaderCore/TransportError/cardTooSlow`` if it asks for more than a minute.
    mutating func transceive(_ command: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        var budget = TimeBudget(timeout)
        var rest = command[...]
        while rest.count > parameters.payload {
            _ = try step(.information(number: number, take(&rest), more: true), &budget)
            number ^= 1
        }
        var block = try step(.information(number: number, take(&rest), more: false), &budget)
        var answer: [UInt8] = []
        while case .information(_, let data, let more) = block {
            number ^= 1
            answer += data
            guard more else { return answer }
            guard answer.count <= Self.longestAnswer else { throw .answerTooLong }
            // A card could continue with empty blocks forever.
            guard !data.isEmpty else { throw .corrupted(status: 0) }
            block = try step(.acknowledge(number: number), &budget)
        }
        return answer
    }

    /// Asks the card by R(NAK) whether it is still there (clause 7.5.5). It answers with R(ACK) or with its last block, and
    /// neither changes the block numbers.
    ///
    /// - Throws: ``ReaderCore/TransportError`` when the reader failed; a missing or damaged answer is `false`.
    func isPresent() throws(TransportError) -> Bool {
        do throws(TransportError) {
            let time = min(parameters.waitingTime + WaitingTime.margin, WaitingTime.activation)
            return try exchange(.refuse(number: number), within: time) != nil
        } catch {
            guard error.isRadioError else { throw error }
            return false
        }
    }

    /// Ends the protocol: the card waits to be woken up again.
    ///
    /// - Returns: whether the card confirmed it.
    func deselect() throws(TransportError) -> Bool {
        for _ in 0..<2 {
            do throws(TransportError) {
                if try exchange(.deselect, within: WaitingTime.activation) == .deselect { return true }
            } catch {
                guard error.isRadioError else { throw error }
            }
        }
        return false
    }

    private func take(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        let piece = rest.prefix(parameters.payload)
        rest = rest.dropFirst(piece.count)
        return Array(piece)
    }

    /// Sends a block until the card gives the matching answer: an R(ACK) to a chained block, else an I-block.
    private func step(_ block: Block, _ budget: inout TimeBudget) throws(TransportError) -> Block {
        var next = block
        var waiting = parameters.waitingTime
        var (faults, repeats) = (0, 0)
        var reason = TransportError.noAnswer
        while true {
            let isExtended = if case .waitingTimeExtension = next { true } else { false }
            let limit = try budget.limit(isExtended: isExtended)
            let answer: Block?
            let start = now()
            // Even a failure takes time.
            defer { budget.charge(now() - start, isExtended: isExtended) }
            do throws(TransportError) {
                answer = try exchange(next, within: min(waiting + WaitingTime.margin, limit))
                reason = .corrupted(status: 0)
            } catch {
                guard error.isRadioError else { throw error }
                answer = nil
                reason = error
            }
            if case .waitingTimeExtension(let multiplier)? = answer {
                faults = 0
                waiting = WaitingTime.extended(parameters.waitingTime, by: multiplier)
                next = .waitingTimeExtension(multiplier)
                continue
            }
            if let answer, answers(answer, block) { return answer }
            waiting = parameters.waitingTime
            if case .acknowledge(let other)? = answer, other != number, case .information = block,
                repeats < Self.repeats
            {
                // The other number (rule 6): the card still waits for this block.
                repeats += 1
                faults = 0
                next = block
                continue
            }
            faults += 1
            guard faults < Self.attempts else { throw reason }
            // Rules 4 and 5.
            if case .information = block { next = .refuse(number: number) } else { next = block }
        }
    }

    /// Whether an answer ends the step of a block (rules 2 and B of clause 7.5).
    private func answers(_ answer: Block, _ block: Block) -> Bool {
        switch (answer, block) {
        case (.acknowledge(number), .information(_, _, more: true)): true
        case (.information(number, _, _), .information(_, _, more: false)),
            (.information(number, _, _), .acknowledge):
            true
        default: false
        }
    }

    private func exchange(_ block: Block, within time: Duration) throws(TransportError) -> Block? {
        var frame = RawFrame(parameters.modulation, block.bytes)
        frame.bitRate = parameters.bitRate
        return Block(try channel.exchange(frame, timeout: time).bytes)
    }
}

/// A block of ISO 14443-4, 7.1, without its CRC.
enum Block: Hashable, Sendable {
    /// An I-block: data; `more` when another one follows.
    case information(number: UInt8, [UInt8], more: Bool)
    /// An R(ACK) block.
    case acknowledge(number: UInt8)
    /// An R(NAK) block.
    case refuse(number: UInt8)
    /// An S(WTX) block with its multiplier, 1 to 59.
    case waitingTimeExtension(UInt8)
    /// An S(DESELECT) block.
    case deselect

    private static let cidFollows: UInt8 = 0x08

    /// The bytes, without a card identifier.
    var bytes: [UInt8] {
        switch self {
        case .information(let number, let data, let more): [0x02 | (more ? 0x10 : 0) | number & 1] + data
        case .acknowledge(let number): [0xA2 | number & 1]
        case .refuse(let number): [0xB2 | number & 1]
        case .waitingTimeExtension(let multiplier): [0xF2, multiplier & 0x3F]
        case .deselect: [0xC2]
        }
    }

    /// Parses a block. The identifier of a card that was not given one is 0.
    ///
    /// - Returns: `nil` when it is not a valid block, or is another card's.
    init?(_ bytes: [UInt8]) {
        guard let pcb = bytes.first else { return nil }
        var content = bytes.dropFirst()
        if pcb & Self.cidFollows != 0 {
            guard let other = content.popFirst(), other & 0x0F == 0 else { return nil }
        }
        let number = pcb & 1
        // Bit 3 of I-blocks would be a node address, which no reader requests.
        switch pcb & ~(Self.cidFollows | 1) {
        case 0x02: self = .information(number: number, Array(content), more: false)
        case 0x12: self = .information(number: number, Array(content), more: true)
        case 0xA2 where content.isEmpty: self = .acknowledge(number: number)
        case 0xB2 where content.isEmpty: self = .refuse(number: number)
        case 0xF2 where number == 0:
            guard content.count == 1, let multiplier = content.first.map({ $0 & 0x3F }), (1...59).contains(multiplier)
            else { return nil }
            self = .waitingTimeExtension(multiplier)
        case 0xC2 where number == 0 && content.isEmpty: self = .deselect
        default: return nil
        }
    }
}

/// The remaining time of an exchange: the limit that its caller sets, and beside it the time that the card asks for.
struct TimeBudget {
    /// The minimum charge of an extension, so that a card cannot ask for them without end.
    private static let leastCharge = Duration.milliseconds(1)

    private var own: Duration
    private var extended = ReaderInformation.longestCardExtension
    private var wasExtended = false

    init(_ limit: Duration) {
        own = limit
    }

    /// The longest time for the next block.
    ///
    /// - Parameter isExtended: whether the block grants the card more time.
    func limit(isExtended: Bool) throws(TransportError) -> Duration {
        guard own > .zero, extended > .zero else { throw wasExtended ? .cardTooSlow : .noAnswer }
        return isExtended ? extended : own
    }

    /// Counts the time of a block.
    ///
    /// - Parameter isExtended: whether the block granted the card more time.
    mutating func charge(_ time: Duration, isExtended: Bool) {
        wasExtended = isExtended
        if isExtended {
            extended -= time
            own -= Self.leastCharge
        } else {
            own -= time
        }
    }
}
