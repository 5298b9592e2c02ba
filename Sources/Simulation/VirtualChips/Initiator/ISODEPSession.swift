// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import VirtualCards

/// The reader's side of ISO 14443-4: carries command APDUs to one card in blocks, and their responses back.
///
/// Lost and damaged blocks are requested again twice, as the standard allows.
package struct ISODEPSession: Sendable {
    private static let retries = 2
    /// The limit for a card that never ends its response.
    private static let longestResponse = 70_000
    private static let mostExtensions = 1_000

    let technology: RadioTechnology
    package let parameters: ISODEPParameters
    /// The CID of the blocks; `nil` when they carry none.
    package let cid: UInt8?
    /// The speeds agreed with the card.
    private(set) var rates = ISOBitRates.initial
    private var number: UInt8 = 0

    package init(_ technology: RadioTechnology, _ parameters: ISODEPParameters, cid: UInt8?) {
        self.technology = technology
        self.parameters = parameters
        self.cid = cid
    }

    /// Sends a command and fetches the whole response.
    package mutating func exchange(_ command: [UInt8], _ send: FrameExchange) -> RadioReply<[UInt8]> {
        let room = max(1, parameters.cardFrame - 3 - (cid == nil ? 0 : 1))
        var rest = command[...]
        while true {
            let part = Array(rest.prefix(room))
            rest = rest.dropFirst(part.count)
            let block = ISODEPBlock(.information(isChained: !rest.isEmpty), number: number, cid: cid, data: part)
            switch carry(block, send) {
            case .aborted: return .aborted
            case .failed(let status): return .failed(status: status)
            case .answer(let answer):
                number ^= 1
                switch answer.kind {
                case .acknowledge where !rest.isEmpty: continue
                case .information where rest.isEmpty: return collect(answer, send)
                default: return .failed(status: ChipStatus.protocolError)
                }
            }
        }
    }

    private mutating func collect(_ first: ISODEPBlock, _ send: FrameExchange) -> RadioReply<[UInt8]> {
        var block = first
        var response = block.data
        while case .information(isChained: true) = block.kind {
            guard response.count <= Self.longestResponse else { return .failed(status: ChipStatus.bufferTooSmall) }
            switch carry(ISODEPBlock(.acknowledge, number: number, cid: cid), send) {
            case .aborted: return .aborted
            case .failed(let status): return .failed(status: status)
            case .answer(let next):
                guard case .information = next.kind else { return .failed(status: ChipStatus.protocolError) }
                number ^= 1
                block = next
                response += next.data
            }
        }
        return .answer(response)
    }

    /// Sends a block until the card answers it with a block of the same number.
    private func carry(_ block: ISODEPBlock, _ send: FrameExchange) -> RadioReply<ISODEPBlock> {
        var frame = block
        var multiplier = 0
        var failures = 0
        var extensions = 0
        while true {
            var status = ChipStatus.protocolError
            switch send(RadioFrame(technology, frame.bytes), multiplier) {
            case .aborted: return .aborted
            case .failed(let failure): status = failure
            case .answer(let answer):
                multiplier = 0
                if let reply = ISODEPBlock(answer.frame), reply.cid ?? 0 == cid ?? 0 {
                    switch reply.kind {
                    case .waitingTimeExtension:
                        extensions += 1
                        guard extensions <= Self.mostExtensions else { return .failed(status: ChipStatus.timeout) }
                        let factor = reply.data.first.map { $0 & 0x3F } ?? 1
                        multiplier = Int(max(1, min(factor, 59)))
                        frame = ISODEPBlock(.waitingTimeExtension, cid: cid, data: [factor])
                        continue
                    case .information where reply.number == number: return .answer(reply)
                    case .acknowledge where reply.number == number: return .answer(reply)
                    case .acknowledge where failures > 0:
                        // The card never received the block.
                        guard failures <= Self.retries else { return .failed(status: status) }
                        failures += 1
                        frame = block
                        continue
                    default: break
                    }
                }
            }
            guard failures < Self.retries else { return .failed(status: status) }
            failures += 1
            frame = block.kind == .acknowledge ? block : ISODEPBlock(.notAcknowledge, number: number, cid: cid)
        }
    }

    /// PPS, which a card of type A takes as the first block after RATS; returns whether it agreed.
    mutating func changeRates(_ wanted: ISOBitRates, _ send: FrameExchange) -> Bool {
        let start = 0xD0 | (cid ?? 0)
        let code = wanted.fromCard.rawValue << 2 | wanted.toCard.rawValue
        guard case .answer(let answer) = send(RadioFrame(technology, [start, 0x11, code]), 0), answer.frame == [start]
        else { return false }
        rates = wanted
        return true
    }

    /// S(DESELECT): the card is halted; returns whether it confirmed.
    func deselect(_ send: FrameExchange) -> Bool {
        let frame = RadioFrame(technology, ISODEPBlock(.deselect, cid: cid).bytes)
        guard case .answer(let answer) = send(frame, 0) else { return false }
        return ISODEPBlock(answer.frame)?.kind == .deselect
    }

    /// Whether the card answers R(NAK), the query whether it is still there.
    package func isPresent(_ send: FrameExchange) -> Bool {
        let frame = RadioFrame(technology, ISODEPBlock(.notAcknowledge, number: number, cid: cid).bytes)
        guard case .answer(let answer) = send(frame, 0) else { return false }
        return ISODEPBlock(answer.frame) != nil
    }
}

/// The outcome of a search for a card.
package enum Activation<Found: Hashable & Sendable>: Hashable, Sendable {
    case found(Found)
    case nothing
    case aborted
}

/// Sends a frame for the reader's side of ISO 14443 and returns the reply.
///
/// The second parameter is the WTXM of a waiting time extension that this frame grants: a factor on the usual waiting
/// time; 0 for all other frames.
package typealias FrameExchange = (RadioFrame, Int) -> RadioReply<CardAnswer>

/// The reply of a card, or what became of a whole exchange with it.
package enum RadioReply<Value: Hashable & Sendable>: Hashable, Sendable {
    case answer(Value)
    /// No answer in time, a damaged one, or a card that violates the rules: the chip's status for it.
    case failed(status: UInt8)
    /// There is no more time for this, or the host aborted.
    case aborted

    package func map<Other>(_ change: (Value) -> Other) -> RadioReply<Other> {
        switch self {
        case .answer(let value): .answer(change(value))
        case .failed(let status): .failed(status: status)
        case .aborted: .aborted
        }
    }
}
