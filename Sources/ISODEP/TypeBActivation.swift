// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Finds a card of type B and selects it: ISO 14443-3, clause 7, with one slot.
struct TypeBActivation {
    let channel: any RawFrameChannel

    /// Wakes a card up (WUPB, which cards answer that were halted, too).
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

    /// Brings the card into ISO-DEP (ATTRIB).
    func select(_ card: AnswerToRequestB, frameSize: FrameSize, cid: UInt8) throws(TransportError) {
        let frame = RawFrame(.typeB, [0x1D] + card.pupi + [0x00, frameSize.code, card.protocolType, cid & 0x0F])
        let answer = try channel.exchange(frame, timeout: card.waitingTime + WaitingTime.activation).bytes
        // The high half says how much the card takes in a chain, which reaches further than any APDU.
        guard let first = answer.first, first & 0x0F == cid & 0x0F else { throw .corrupted(status: 0) }
    }
}
