// SPDX-License-Identifier: Apache-2.0

import ISODEP
import ReaderCore

/// A card in ISO-DEP that answers each command with its reverse, over a line that loses and damages frames; written
/// by clause 7.5 of ISO 14443-4 for the card's side, apart from what it is there to check.
final class SmallCard: RawFrameChannel {
    enum InjectedFault: CaseIterable, Sendable {
        case commandLost, answerLost, answerDamaged, answerOfNoise
    }

    let longestRawFrame: Int
    /// The faults by the count of exchanges, from 1.
    var faults: [Int: InjectedFault] = [:]
    /// How many extensions the card asks for before each answer.
    var extensions = 0
    private(set) var exchanges = 0
    /// The commands that arrived whole.
    private(set) var commands: [[UInt8]] = []

    private let cardFrame: Int
    private var number: UInt8 = 1
    private var incoming: [UInt8] = []
    private var outgoing: ArraySlice<UInt8> = []
    private var extensionsLeft = 0
    private var last: [UInt8] = []

    /// - Parameters:
    ///   - readerFrame: the longest frame that the reader takes; the card chains above it.
    ///   - cardFrame: the longest frame that the card takes.
    init(readerFrame: Int = 256, cardFrame: Int = 256) {
        longestRawFrame = readerFrame
        self.cardFrame = cardFrame
    }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        exchanges += 1
        let fault = faults[exchanges]
        if fault == .commandLost { throw .noAnswer }
        guard frame.bytes.count + 2 <= cardFrame, let answer = answer(frame.bytes) else { throw .noAnswer }
        switch fault {
        case .answerLost: throw .noAnswer
        case .answerDamaged: throw .corrupted(status: 0x02)
        case .answerOfNoise: return RawAnswer([0x55, 0xAA])
        default: return RawAnswer(answer)
        }
    }

    func resetField() throws(TransportError) {}

    private func answer(_ bytes: [UInt8]) -> [UInt8]? {
        var content = bytes[...]
        guard let pcb = content.popFirst() else { return nil }
        switch pcb {
        case 0x02, 0x03, 0x12, 0x13: return information(pcb, content)
        case 0xA2, 0xA3, 0xB2, 0xB3: return ready(pcb)
        case 0xF2: return extensionGranted()
        case 0xC2: return send(0xC2, [])
        default: return nil
        }
    }

    private func information(_ pcb: UInt8, _ content: ArraySlice<UInt8>) -> [UInt8]? {
        // Rule D: the number changes with each I-block that arrives.
        number ^= 1
        incoming += content
        if pcb & 0x10 != 0 { return send(0xA2 | number, []) }
        commands.append(incoming)
        outgoing = incoming.reversed()[...]
        incoming = []
        extensionsLeft = extensions
        return next()
    }

    private func ready(_ pcb: UInt8) -> [UInt8]? {
        // Rule 11: the same number asks for the last block again.
        if pcb & 1 == number { return last.isEmpty ? nil : last }
        if pcb & 0x10 != 0 { return send(0xA2 | number, []) }
        // Rules E and 13: an R(ACK) with the other number goes on with the chain.
        number ^= 1
        return next()
    }

    private func extensionGranted() -> [UInt8]? {
        extensionsLeft = max(0, extensionsLeft - 1)
        return next()
    }

    private func next() -> [UInt8] {
        if extensionsLeft > 0 { return send(0xF2, [0x03]) }
        let piece = outgoing.prefix(longestRawFrame - 3)
        outgoing = outgoing.dropFirst(piece.count)
        return send((outgoing.isEmpty ? 0x02 : 0x12) | number, Array(piece))
    }

    private func send(_ pcb: UInt8, _ content: [UInt8]) -> [UInt8] {
        last = [pcb] + content
        return last
    }
}
