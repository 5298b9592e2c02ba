// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// The reader's side of the block protocol of ISO 14443-4, clause 7: chaining both ways, extensions of the waiting time
/// and the recovery from lost and damaged blocks.
struct BlockProtocol {
    /// How many blocks in a row may be lost or damaged before the exchange fails.
    static let attempts = 3
    /// How often a block is sent again in full because the card says that it did not get it.
    private static let repeats = 5
    /// More than any APDU can bring: 65536 bytes and the status word.
    static let longestAnswer = 65_538

    private let channel: any RawFrameChannel
    private let parameters: Parameters
    private var number: UInt8 = 0

    /// What reader and card agreed on.
    struct Parameters: Hashable, Sendable {
        var modulation: RawFrame.Modulation
        /// The longest frame that may be sent, CRC included.
        var longestFrame: Int
        var waitingTime: Duration
        /// The card's identifier; `nil` when blocks carry none.
        var cid: UInt8?

        /// How many bytes of data fit in one block beside PCB, CID and CRC.
        var payload: Int { max(1, longestFrame - (cid == nil ? 3 : 4)) }
    }

    init(_ channel: any RawFrameChannel, _ parameters: Parameters) {
        self.channel = channel
        self.parameters = parameters
    }

    /// Sends an APDU and returns the card's answer.
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
            // A card could go on with empty blocks for ever.
            guard !data.isEmpty else { throw .corrupted(status: 0) }
            block = try step(.acknowledge(number: number), &budget)
        }
        return answer
    }

    /// Ends the protocol: the card waits to be woken up again.
    ///
    /// - Returns: whether the card said that it did.
    func deselect() throws(TransportError) -> Bool {
        for _ in 0..<2 {
            do throws(TransportError) {
                if try exchange(.deselect, within: WaitingTime.activation) == .deselect { return true }
            } catch {
                guard error.isRadioFault else { throw error }
            }
        }
        return false
    }

    private func take(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        let piece = rest.prefix(parameters.payload)
        rest = rest.dropFirst(piece.count)
        return Array(piece)
    }

    /// Sends a block until the card answers what belongs to it: an R(ACK) to a chained block, else an I-block.
    private func step(_ block: Block, _ budget: inout TimeBudget) throws(TransportError) -> Block {
        var next = block
        var waiting = parameters.waitingTime
        var (faults, repeats) = (0, 0)
        var reason = TransportError.noAnswer
        while true {
            guard budget.remaining > .zero else { throw .noAnswer }
            let answer: Block?
            do throws(TransportError) {
                answer = try exchange(next, within: min(waiting + WaitingTime.margin, budget.remaining))
                reason = .corrupted(status: 0)
            } catch {
                guard error.isRadioFault else { throw error }
                answer = nil
                reason = error
            }
            if case .waitingTimeExtension(let multiplier)? = answer {
                budget.chargeExtension()
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
        let frame = RawFrame(parameters.modulation, block.encoded(cid: parameters.cid))
        return Block(try channel.exchange(frame, timeout: time).bytes, cid: parameters.cid)
    }
}
