// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore

/// Finds a card of type A, selects it and requests its ATS: ISO 14443-3, clause 6, and -4, clause 5.
struct TypeAActivation {
    /// WUPA, which halted cards answer, too.
    private static let wakeUp: UInt8 = 0x52
    private static let selectCodes: [UInt8] = [0x93, 0x95, 0x97]
    private static let wholeUID: UInt8 = 0x70
    private static let cascadeTag: UInt8 = 0x88
    private static let uidIncomplete: UInt8 = 0x04
    private static var request: RawFrame {
        RawFrame(.typeA, [wakeUp], lastByteBits: 7, addsCRC: false, checksCRC: false)
    }

    let channel: any RawFrameChannel

    /// Whether a card with this SAK supports ISO-DEP.
    static func speaksISODEP(_ sak: UInt8) -> Bool { sak & 0x20 != 0 }

    /// Wakes cards up.
    ///
    /// - Returns: the ATQA, or `nil` when no card answered.
    func request() throws(TransportError) -> UInt16? {
        do throws(TransportError) {
            let answer = try channel.exchange(Self.request, timeout: WaitingTime.request).bytes
            guard answer.count == 2, let low = answer.first, let high = answer.last else {
                throw .corrupted(status: 0)
            }
            return UInt16(high) << 8 | UInt16(low)
        } catch .noAnswer {
            return nil
        }
    }

    /// Selects a card that was woken up, level by level.
    ///
    /// - Parameters:
    ///   - atqa: the answer to the request.
    ///   - amongOthers: whether answers may collide, so that one card has to be singled out.
    /// - Returns: the card, without an ATQA when that may be another one's.
    func select(atqa: UInt16?, amongOthers: Bool) throws(TransportError) -> TypeATarget {
        var uid: [UInt8] = []
        var isAlone = true
        var path = [Self.request]
        for code in Self.selectCodes {
            let part: [UInt8]
            if amongOthers {
                let found = try TypeAAnticollision(channel: channel, code: code, path: path).find()
                part = found.part
                isAlone = isAlone && found.isAlone
            } else {
                let frame = RawFrame(.typeA, [code, 0x20], addsCRC: false, checksCRC: false)
                part = try channel.exchange(frame, timeout: WaitingTime.activation).bytes
                guard part.count == 5, part.reduce(0, ^) == 0 else { throw .corrupted(status: 0) }
            }
            let select = RawFrame(.typeA, [code, Self.wholeUID] + part)
            path.append(select)
            let sak = try channel.exchange(select, timeout: WaitingTime.activation).bytes
            guard sak.count == 1, let sak = sak.first else { throw .corrupted(status: 0) }
            guard sak & Self.uidIncomplete != 0, part.first == Self.cascadeTag else {
                return TypeATarget(
                    uid: uid + part.prefix(4), atqa: isAlone ? atqa : nil, sak: sak,
                    isISODEP: Self.speaksISODEP(sak))
            }
            uid += part[1...3]
        }
        throw .corrupted(status: 0)
    }

    /// Activates ISO-DEP on a selected card.
    func answerToSelect(frameSize: FrameSize) throws(TransportError) -> AnswerToSelect {
        let frame = RawFrame(.typeA, [0xE0, frameSize.code << 4])
        guard let ats = AnswerToSelect(try channel.exchange(frame, timeout: WaitingTime.activation).bytes) else {
            throw .corrupted(status: 0)
        }
        return ats
    }

    /// Changes the speed of both directions by PPS, which a card takes as its first block (ISO 14443-4, 5.3). The card answers at
    /// 106 kbit/s.
    ///
    /// - Parameter bitRate: 1 for 212 kbit/s, 2 for 424.
    func changeBitRate(to bitRate: UInt8) throws(TransportError) {
        let frame = RawFrame(.typeA, [0xD0, 0x11, bitRate << 2 | bitRate])
        let answer = try channel.exchange(frame, timeout: WaitingTime.activation).bytes
        guard answer == [0xD0] else { throw .corrupted(status: 0) }
    }
}

/// Singles one card of type A out of several, at one cascade level: ISO 14443-3, 6.5.3.
///
/// Chips that carry single frames do not report at which bit answers collided, nor how they align the bits that follow
/// those sent by the reader. So each query only asks whether any card has these first bits: any answer means yes, no
/// answer means no. Whole bytes are requested as soon as they are known, since cards seldom differ in many.
struct TypeAAnticollision {
    let channel: any RawFrameChannel
    /// The first byte of the level's commands: 93, 95 or 97.
    let code: UInt8
    /// The frames that bring cards to this level: the request, and the SELECTs of the levels before.
    let path: [RawFrame]

    private static let partLength = 4

    /// Finds the four bytes and the check byte of one card; cards have been brought to this level.
    ///
    /// - Returns: the five bytes, and whether no other card was heard.
    /// - Throws: ``ReaderCore/TransportError/noAnswer`` when every card left.
    func find() throws(TransportError) -> (part: [UInt8], isAlone: Bool) {
        var known: [UInt8] = []
        while known.count < Self.partLength {
            if let whole = try complete(known) { return (whole, known.isEmpty) }
            known.append(try nextByte(after: known))
        }
        // Cards that differ in none of these bits give the same answer.
        return (known + [known.reduce(0, ^)], false)
    }

    /// Returns the part of the one card that matches this prefix; `nil` for several cards or a damaged answer.
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

    /// - Parameter bits: the number of bits of the last byte that are sent.
    private func ask(_ known: [UInt8], bits: Int) throws(TransportError) -> [UInt8] {
        let whole = known.count - (bits < 8 ? 1 : 0)
        let count = UInt8(truncatingIfNeeded: (whole + 2) << 4 | (bits < 8 ? bits : 0))
        let frame = RawFrame(.typeA, [code, count] + known, lastByteBits: bits, addsCRC: false, checksCRC: false)
        return try channel.exchange(frame, timeout: WaitingTime.request).bytes
    }

    /// Cards that were asked for bits other than theirs have returned to their initial state.
    private func bringBack() throws(TransportError) {
        for frame in path {
            // One that had not returned does so now, and answers the next time.
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

/// Finds a card of type B and selects it: ISO 14443-3, clause 7, with one slot.
struct TypeBActivation {
    let channel: any RawFrameChannel

    /// Wakes a card up (WUPB, which halted cards answer, too).
    ///
    /// - Returns: the ATQB, or `nil` when no card answered.
    func request(applicationFamily: UInt8) throws(TransportError) -> AnswerToRequestB? {
        let frame = RawFrame(.typeB, [0x05, applicationFamily, 0x08])
        do throws(TransportError) {
            guard let atqb = AnswerToRequestB(try channel.exchange(frame, timeout: WaitingTime.request).bytes) else {
                throw .corrupted(status: 0)
            }
            return atqb
        } catch .noAnswer {
            return nil
        }
    }

    /// Activates ISO-DEP on the card (ATTRIB). The card answers at 106 kbit/s.
    ///
    /// - Parameter bitRate: the speed of both directions from then on: 0 for 106 kbit/s, 1 for 212, 2 for 424.
    func select(_ card: AnswerToRequestB, frameSize: FrameSize, bitRate: UInt8 = 0) throws(TransportError) {
        // The high half of the second parameter has the speeds from and to the card (ISO 14443-3, 7.10.4).
        let second = bitRate << 6 | bitRate << 4 | frameSize.code
        let frame = RawFrame(.typeB, [0x1D] + card.pupi + [0x00, second, card.protocolType, 0x00])
        let answer = try channel.exchange(frame, timeout: card.waitingTime + WaitingTime.activation).bytes
        // The high half says how much the card accepts in a chain, which is more than any APDU.
        guard let first = answer.first, first & 0x0F == 0 else { throw .corrupted(status: 0) }
    }
}
