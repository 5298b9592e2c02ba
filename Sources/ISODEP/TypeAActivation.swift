// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Finds a card of type A, selects it and asks for its ATS: ISO 14443-3, clause 6, and -4, clause 5.
struct TypeAActivation {
    /// WUPA, which cards answer that were halted, too.
    private static let wakeUp: UInt8 = 0x52
    private static let selectCodes: [UInt8] = [0x93, 0x95, 0x97]
    private static let wholeUID: UInt8 = 0x70
    private static let cascadeTag: UInt8 = 0x88
    private static let uidIncomplete: UInt8 = 0x04
    private static var request: RawFrame {
        RawFrame(.typeA, [wakeUp], lastByteBits: 7, addsCRC: false, checksCRC: false)
    }

    let channel: any RawFrameChannel

    /// Whether a card with this SAK speaks ISO-DEP.
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
    ///   - atqa: what was answered to the request.
    ///   - amongOthers: whether answers may collide, so that one card has to be singled out.
    /// - Returns: the card, without an ATQA when that may be another one's.
    func select(atqa: UInt16?, amongOthers: Bool = false) throws(TransportError) -> TypeATarget {
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

    /// Asks a selected card into ISO-DEP.
    func answerToSelect(frameSize: FrameSize, cid: UInt8) throws(TransportError) -> AnswerToSelect {
        let frame = RawFrame(.typeA, [0xE0, frameSize.code << 4 | cid & 0x0F])
        guard let ats = AnswerToSelect(try channel.exchange(frame, timeout: WaitingTime.activation).bytes) else {
            throw .corrupted(status: 0)
        }
        return ats
    }
}
