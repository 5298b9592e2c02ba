// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Singles one card of type A out of several, at one cascade level: ISO 14443-3, 6.5.3.
///
/// Chips that carry single frames do not say at which bit answers collided, nor how they line up what follows bits that
/// the reader sent. So each question is only whether any card has these first bits: whatever is heard says yes, silence
/// says no. Whole bytes are asked for as soon as they are known, since cards seldom differ in many.
struct TypeAAnticollision {
    let channel: any RawFrameChannel
    /// The first byte of the level's commands: 93, 95 or 97.
    let code: UInt8
    /// What brings cards to this level: the request, and the SELECTs of the levels before.
    let path: [RawFrame]

    private static let partLength = 4

    /// Finds the four bytes and the check byte of one card; cards have been brought to this level.
    ///
    /// - Returns: the five bytes, and whether no other card was heard.
    /// - Throws: ``NFCTransport/TransportError/noAnswer`` when every card left.
    func find() throws(TransportError) -> (part: [UInt8], isAlone: Bool) {
        var known: [UInt8] = []
        while known.count < Self.partLength {
            if let whole = try complete(known) { return (whole, known.isEmpty) }
            known.append(try nextByte(after: known))
        }
        // Cards that differ in none of these bits answer alike.
        return (known + [known.reduce(0, ^)], false)
    }

    /// The part of the one card that goes on like this; `nil` when there are several, or the answer was damaged.
    private func complete(_ known: [UInt8]) throws(TransportError) -> [UInt8]? {
        do throws(TransportError) {
            let whole = known + (try ask(known, bits: 8))
            return whole.count == Self.partLength + 1 && whole.reduce(0, ^) == 0 ? whole : nil
        } catch {
            guard case .corrupted = error else { throw error }
            return nil
        }
    }

    /// Bit by bit, the lowest first; of two cards that differ the one with a zero is followed.
    private func nextByte(after known: [UInt8]) throws(TransportError) -> UInt8 {
        var byte: UInt8 = 0
        for bit in 0..<8 {
            if try isAnyone(known + [byte], bits: bit + 1) { continue }
            byte |= 1 << UInt8(bit)
            try bringBack()
        }
        return byte
    }

    private func isAnyone(_ known: [UInt8], bits: Int) throws(TransportError) -> Bool {
        do throws(TransportError) {
            _ = try ask(known, bits: bits)
            return true
        } catch {
            switch error {
            case .noAnswer: return false
            case .corrupted: return true
            default: throw error
            }
        }
    }

    /// - Parameter bits: how many of the last byte are sent.
    private func ask(_ known: [UInt8], bits: Int) throws(TransportError) -> [UInt8] {
        let whole = known.count - (bits < 8 ? 1 : 0)
        let count = UInt8(truncatingIfNeeded: (whole + 2) << 4 | (bits < 8 ? bits : 0))
        let frame = RawFrame(.typeA, [code, count] + known, lastByteBits: bits, addsCRC: false, checksCRC: false)
        return try channel.exchange(frame, timeout: WaitingTime.request).bytes
    }

    /// Cards that were asked for other bits than theirs have gone back to their first state.
    private func bringBack() throws(TransportError) {
        for frame in path {
            // One that had not gone back does so now, and answers the next time.
            guard try !isHeard(frame), try !isHeard(frame) else { continue }
            throw .noAnswer
        }
    }

    private func isHeard(_ frame: RawFrame) throws(TransportError) -> Bool {
        do throws(TransportError) {
            _ = try channel.exchange(frame, timeout: WaitingTime.request)
            return true
        } catch {
            switch error {
            case .noAnswer: return false
            case .corrupted: return true
            default: throw error
            }
        }
    }
}
