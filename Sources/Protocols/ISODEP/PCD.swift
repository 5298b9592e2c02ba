// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import ReaderCore

/// The reader's side of ISO 14443-3 and -4 in software, for chips that only carry single frames. The standard's term is
/// proximity coupling device.
///
/// A driver creates one for each search for a card of type A or B, and drops it when it switches the field off itself.
/// Cards get no identifier (CID), since one at a time is in use.
package struct PCD {
    /// How many times a card is woken up that answers but does not complete its activation.
    private static let attempts = 3

    private enum Selection {
        case none
        /// A card with its own command set, such as a Type 2 Tag.
        case memory
        case isoDEP(BlockProtocol)
        /// A card that no longer answers correctly; only a field reset makes it forget.
        case lost
    }

    private let channel: any RawFrameChannel
    private var selection = Selection.none
    /// What was heard of a card in the current search.
    private var heard: Heard?
    /// The speed of the selected card: 106 kbit/s, doubled so many times.
    private var bitRate: UInt8 = 0
    /// The speed that a card of type A is to be raised to before its first block; 0 for none.
    private var nextBitRate: UInt8 = 0
    /// Whether the speed was raised and no command has been answered since.
    private var isUnproven = false
    /// The selected card and the request that found it.
    private var found: (card: PICC, request: ActivationRequest)?

    /// Creates a reader over a chip.
    package init(_ channel: any RawFrameChannel) {
        self.channel = channel
    }

    /// Looks once for a card, selects it and activates ISO-DEP when it supports that. Of several cards of type A one is
    /// singled out.
    ///
    /// - Returns: the card, or `nil` when none answered. A card of type B without ISO-DEP is returned, and accepts nothing.
    /// - Throws: ``ReaderCore/TransportError/heard(_:)`` when there was an answer, but no card could be selected, as with
    ///   two cards of type B; other cases when the reader failed or `request` is not of type A or B.
    package mutating func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try release()
        heard = nil
        (bitRate, nextBitRate, isUnproven, found) = (0, 0, false, nil)
        var attempt = 1
        while true {
            do throws(TransportError) {
                let card: PICC?
                switch request {
                case .typeA(let isoDEP):
                    // The first failure may have been several cards at once.
                    card = try activateTypeA(isoDEP: isoDEP, amongOthers: attempt > 1)
                case .typeB(let family): card = try activateTypeB(family)
                default: throw .unsupported(detail: .init(.notTypeAOrB))
                }
                // A card that answered before and is silent now was heard all the same.
                if card == nil, let heard { throw .heard(heard) }
                found = card.map { ($0, request) }
                isUnproven = bitRate > 0
                return card
            } catch {
                guard error.isRadioError else { throw error }
                if bitRate > 0 {
                    channel.didFailAtHigherBitRate()
                    bitRate = 0
                }
                if case .corrupted(let status) = error { hear(status, request.technology) }
                // It may be in any state between idle and selected.
                try channel.resetField()
                attempt += 1
                if attempt > Self.attempts {
                    guard let heard else { return nil }
                    throw .heard(heard)
                }
            }
        }
    }

    /// A damaged answer: of several cards, or of a card that has already answered more than that.
    private mutating func hear(_ status: UInt8, _ technology: Technology) {
        if channel.isCollision(status) {
            heard = .several(technology)
        } else if heard == nil {
            heard = .damaged(technology)
        }
    }

    /// A card has answered the request.
    private mutating func hearCard(_ technology: Technology) {
        if heard == nil || heard == .damaged(technology) { heard = .unstarted(technology) }
    }

    /// Sends one frame to the most recently activated card: an APDU by ISO-DEP, or the card's own command.
    ///
    /// - Parameters:
    ///   - frame: the data for the card, without CRC.
    ///   - timeout: the longest time that the card may take, its extensions included.
    /// - Throws: ``ReaderCore/TransportError/cardReleased`` when no card is selected or it was lost in an earlier
    ///   exchange, and the errors of the channel.
    package mutating func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        switch selection {
        case .none, .lost: throw .cardReleased
        case .memory: return try transceiveWithoutProtocol(frame, timeout: timeout)
        case .isoDEP(var blocks):
            // Until the exchange is complete, the number of the card's next block is not known.
            selection = .lost
            let answer: [UInt8]
            var isSent = false
            do throws(TransportError) {
                if nextBitRate > 0 {
                    (bitRate, nextBitRate, isUnproven) = (nextBitRate, 0, true)
                    try TypeAActivation(channel: channel).changeBitRate(to: bitRate)
                    blocks.raise(to: bitRate)
                }
                isSent = true
                answer = try blocks.transceive(frame, timeout: timeout)
            } catch {
                guard bitRate > 0, error.isBitRateError else { throw error }
                channel.didFailAtHigherBitRate()
                bitRate = 0
                guard isUnproven, !isSent || RepeatableCommand.isOne(frame) else { throw error }
                return try transceiveSlowly(frame, timeout: timeout)
            }
            isUnproven = false
            selection = .isoDEP(blocks)
            return answer
        }
    }

    /// Selects the same card again, at 106 kbit/s, and sends it a command that it has not answered.
    private mutating func transceiveSlowly(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard let (card, request) = found else { throw .cardReleased }
        // A lost card loses its power before it is searched for.
        guard let again = try activate(request), again.mayBeSameCard(as: card), case .isoDEP(var blocks) = selection
        else {
            try release()
            throw .cardReleased
        }
        selection = .lost
        let answer = try blocks.transceive(frame, timeout: timeout)
        selection = .isoDEP(blocks)
        return answer
    }

    /// Asks a card that is in ISO-DEP whether it is still there; `nil` when none is.
    ///
    /// - Throws: ``ReaderCore/TransportError`` when the reader failed.
    package mutating func isPresent() throws(TransportError) -> Bool? {
        guard case .isoDEP(let blocks) = selection else { return nil }
        // A block ends the card's readiness for another speed.
        nextBitRate = 0
        return try blocks.isPresent()
    }

    /// Brings the selected card to a state in which it can be found again.
    package mutating func release() throws(TransportError) {
        let before = selection
        selection = .none
        switch before {
        case .none: return
        // It treats the next request as an error, and answers the one after.
        case .memory: _ = try? TypeAActivation(channel: channel).request()
        case .isoDEP(let blocks): if try !blocks.deselect() { try channel.resetField() }
        case .lost: try channel.resetField()
        }
    }

    private mutating func activateTypeA(isoDEP: Bool, amongOthers: Bool) throws(TransportError) -> PICC? {
        guard var target = try selectTypeA(amongOthers: amongOthers) else { return nil }
        guard target.isISODEP, isoDEP else {
            target.isISODEP = false
            selection = .memory
            return .typeA(target)
        }
        let activation = TypeAActivation(channel: channel)
        var ats: AnswerToSelect?
        do throws(TransportError) {
            ats = try activation.answerToSelect(frameSize: receivable)
        } catch {
            // Whether the card supports ISO-DEP was not known. One that does not treats RATS as an error.
            guard target.sak == nil, error.isRadioError, let again = try selectTypeA(amongOthers: amongOthers),
                again.uid == target.uid
            else { throw error }
            target = again
        }
        guard let ats else {
            target.isISODEP = false
            selection = .memory
            return .typeA(target)
        }
        target.ats = ats.bytes
        nextBitRate = ats.bitRates.highestBothWays(upTo: channel.highestBitRate)
        start(.typeA, ats.frameSize, ats.waitingTime)
        if ats.guardTime > .zero { try channel.wait(ats.guardTime) }
        return .typeA(target)
    }

    /// Selects a card, by the chip's own means where it has some. A card with an unknown SAK counts as one that may
    /// support ISO-DEP.
    private mutating func selectTypeA(amongOthers: Bool) throws(TransportError) -> TypeATarget? {
        let found = try channel.selectTypeA()
        switch found {
        case .nothing: return nil
        case .card(let uid, let sak):
            hearCard(.typeA)
            return TypeATarget(uid: uid, sak: sak, isISODEP: sak.map(TypeAActivation.speaksISODEP) ?? true)
        case .unknown, .unsupported: break
        }
        let activation = TypeAActivation(channel: channel)
        var atqa: UInt16?
        do throws(TransportError) {
            atqa = try activation.request()
            if atqa == nil, found == .unknown { atqa = try activation.request() }
            // A card that answered before, but not now, was heard.
            guard atqa != nil else {
                if let heard { throw .heard(heard) }
                return nil
            }
            hearCard(.typeA)
        } catch {
            // The answers of different kinds of cards to the request collide.
            guard amongOthers, error.isRadioError else { throw error }
            atqa = nil
        }
        return try activation.select(atqa: atqa, amongOthers: amongOthers)
    }

    private mutating func activateTypeB(_ applicationFamily: UInt8) throws(TransportError) -> PICC? {
        let activation = TypeBActivation(channel: channel)
        guard let card = try activation.request(applicationFamily: applicationFamily) else {
            if let heard { throw .heard(heard) }
            return nil
        }
        hearCard(.typeB)
        let target = TypeBTarget(
            pupi: card.pupi, applicationData: card.applicationData, protocolInfo: card.protocolInfo)
        guard target.isISODEP else { return .typeB(target) }
        bitRate = card.bitRates.highestBothWays(upTo: channel.highestBitRate)
        try activation.select(card, frameSize: receivable, bitRate: bitRate)
        start(.typeB, card.frameSize, card.waitingTime)
        if card.guardTime > .zero { try channel.wait(card.guardTime) }
        return .typeB(target)
    }

    private var receivable: FrameSize { FrameSize(fitting: channel.longestRawFrame) }

    private mutating func start(
        _ modulation: RawFrame.Modulation, _ cardSize: FrameSize, _ waitingTime: Duration
    ) {
        let parameters = BlockProtocol.Parameters(
            modulation: modulation, longestFrame: min(cardSize.bytes, channel.longestRawFrame),
            waitingTime: waitingTime, bitRate: bitRate)
        selection = .isoDEP(BlockProtocol(channel, parameters))
    }

    /// The chip must not check the CRC: the four-bit ACK and NAK have none.
    private func transceiveWithoutProtocol(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        // These readers have no published command for Crypto1.
        guard !ClassicFrame.isAuthentication(frame) else { throw ClassicFrame.notPassed }
        guard frame.count + 2 <= channel.longestRawFrame else {
            throw .frameTooLong(length: frame.count, limit: channel.longestRawFrame - 2)
        }
        let answer = try channel.exchange(RawFrame(.typeA, frame, checksCRC: false), timeout: timeout)
        if answer.bytes.count == 1 { return answer.bytes }
        guard let content = Checksum.a.verified(answer.bytes) else { throw .corrupted(status: 0) }
        return content
    }
}

/// Command APDUs that can be sent twice to a card without harm.
package enum RepeatableCommand {
    /// SELECT, READ BINARY, READ RECORD and GET DATA.
    private static let instructions: Set<UInt8> = [0xA4, 0xB0, 0xB2, 0xCA]

    /// Whether a command is one of those.
    package static func isOne(_ command: [UInt8]) -> Bool { command.count > 1 && instructions.contains(command[1]) }
}

extension TransportError {
    /// Whether a failure of a card at a higher speed may be due to it: no answer, a damaged one, or the chip's refusal of the
    /// speed.
    fileprivate var isBitRateError: Bool {
        switch self {
        case .readerFailed(let detail): detail.code == .settingRefused
        default: isRadioError
        }
    }
}
