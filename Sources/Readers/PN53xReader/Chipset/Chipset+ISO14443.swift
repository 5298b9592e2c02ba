// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import ISODEP
internal import ReaderCore
internal import SystemDevices

extension Chipset {
    /// How long the field stays off so that a card loses its power: ISO 14443-3 requires 5 ms.
    private static let fieldReset = Duration.milliseconds(6)
    /// The time without a field after which any card has lost its power.
    private static let powerLoss = Duration.milliseconds(50)
    /// The extra time for which the parts of a long answer may restart the chip's own time-out while the host waits.
    private static let chainAllowance = Duration.milliseconds(500)

    /// Looks for a card of type A and prepares it for the caller's frames.
    mutating func selectTypeA(isoDEP: Bool) throws(TransportError) -> TypeATarget? {
        iso14443.selection = .none
        iso14443.bitRate.didSelect(nil)
        if !isoDEP, iso14443.sendsRATS != false {
            // RATS may have left a card selected that does not answer it: it would take the next request for an error.
            iso14443.hasSelected = iso14443.hasSelected || iso14443.mayHoldCard
        }
        try sendRATS(isoDEP)
        let answer = try pollFromRest(ChipCommand.listTypeA)
        guard let target = try TypeATargetAnswer.parse(answer, isPN531: transport.name.contains("PN531")) else {
            iso14443.mayHoldCard = iso14443.sendsRATS != false
            return nil
        }
        iso14443.mayHoldCard = false
        guard isoDEP || transport.takesParameters || !target.isISODEP else {
            throw .unsupported(detail: .init(.alwaysISODEP))
        }
        if !target.isISODEP {
            try check(send(ChipCommand.keepChecksum, waiting: Self.commandTime))
        }
        iso14443.selection = target.isISODEP ? .apdus : .commands
        iso14443.usesCrypto1 = false
        iso14443.carriesCID = false
        if transport.takesParameters, !transport.name.contains("PN531") { iso14443.bitRate.didSelect(target) }
        return target
    }

    /// SetParameters, which also specifies that frames carry no NAD.
    private mutating func sendRATS(_ isOn: Bool) throws(TransportError) {
        guard iso14443.sendsRATS != isOn, transport.takesParameters else { return }
        try check(send(ChipCommand.automaticRATS(isOn), waiting: Self.commandTime))
        iso14443.sendsRATS = isOn
    }

    /// Looks for a card of type B.
    mutating func selectTypeB(applicationFamily: UInt8) throws(TransportError) -> TypeBTarget? {
        iso14443.selection = .none
        iso14443.bitRate.didSelect(nil)
        if iso14443.sendsRATS == nil { try sendRATS(true) }
        let answer = try pollFromRest(ChipCommand.listTypeB(applicationFamily: applicationFamily), repeats: 2)
        guard let target = try TypeBTargetAnswer.parse(answer) else { return nil }
        iso14443.selection = target.isISODEP ? .apdus : .none
        // Bit 1 of the protocol info's third byte (ISO 14443-3, 7.9.4).
        iso14443.carriesCID = target.protocolInfo?.dropFirst(2).first.map { $0 & 0x01 != 0 } ?? false
        return target
    }

    /// Looks for a card of type A or B.
    ///
    /// A card that was selected before treats the request as a faulty command, or in ISO-DEP as a foreign one, and does
    /// not answer; so it is powered down first.
    private mutating func pollFromRest(_ command: [UInt8], repeats: UInt8 = 0) throws(TransportError) -> [UInt8] {
        if iso14443.hasSelected {
            try check(send(ChipCommand.fieldOff, waiting: Self.commandTime))
            ThreadPause.sleep(Self.fieldReset)
            iso14443.hasSelected = false
            iso14443.fieldIsFresh = true
        }
        // RATS and ATTRIB may go out with the time-out of an APDU before, and a card that has just left would keep the chip
        // busy for seconds.
        try prepareTimeout(.zero, asksForPresence: true)
        let answer = try poll(command, repeats: repeats)
        iso14443.hasSelected = answer.first != 0
        return answer
    }

    /// Switches the field off long enough for any card to lose its power.
    mutating func switchFieldOff() throws(TransportError) {
        iso14443.selection = .none
        try check(send(ChipCommand.fieldOff, waiting: Self.commandTime))
        ThreadPause.sleep(Self.powerLoss)
        iso14443.hasSelected = false
        iso14443.fieldIsFresh = true
    }

    /// Sends a command of a Type 2 Tag or the like; the host checks the CRC of its answer.
    mutating func exchangeCommand(_ frame: [UInt8], within time: Duration) throws(TransportError) -> [UInt8] {
        if iso14443.usesCrypto1 || ClassicFrame.isAuthentication(frame) {
            return try exchangeClassic(frame, within: time)
        }
        let answer = try exchange(frame, within: time)
        // A four-bit ACK or NAK, which has no CRC.
        guard answer.count != 1 else { return answer }
        // The chip's code for a wrong CRC.
        guard let content = Checksum.a.verified(answer) else { throw .corrupted(status: 0x02) }
        return content
    }

    /// Sends a command of MIFARE Classic, which the chip enciphers: from the first authentication on until the card is selected
    /// again, since any other frame would be enciphered, too.
    private mutating func exchangeClassic(_ frame: [UInt8], within time: Duration) throws(TransportError) -> [UInt8] {
        if !iso14443.usesCrypto1 {
            try check(send(ChipCommand.checkChecksum, waiting: Self.commandTime))
            iso14443.usesCrypto1 = true
        }
        try prepareTimeout(time)
        var command = ChipCommand.exchangeData(frame)
        defer { command.wipe() }
        return Array(try exchangeData(command, within: time).dropFirst())
    }

    /// Sends an APDU by ISO-DEP and returns the card's answer.
    ///
    /// After any failure it is not known which block the card expects next, or whether it has carried out the command:
    /// nothing more is sent to it until it is selected again.
    ///
    /// Before the first one the bit rate is raised. Where that fails, or the first command after it, the card is selected
    /// again at 106 kbit/s, and so is every later card with its ATS.
    mutating func exchangeAPDU(_ frame: [UInt8], within time: Duration) throws(TransportError) -> [UInt8] {
        try raiseBitRate()
        let isFirst = iso14443.bitRate.isUnproven
        do throws(TransportError) {
            let answer = try carryAPDU(frame, within: time)
            iso14443.bitRate.didAnswer()
            return answer
        } catch {
            guard error.isOfRadio, iso14443.bitRate.isRaised else { throw error }
            iso14443.bitRate.didFail()
            guard isFirst, RepeatableCommand.isOne(frame) else { throw error }
            try restart()
            return try carryAPDU(frame, within: time)
        }
    }

    /// Raises the bit rate as far as chip and card support it, which is possible before the first block only.
    private mutating func raiseBitRate() throws(TransportError) {
        guard let rates = iso14443.bitRate.next else { return }
        let chipTime = timeouts.current ?? .longest
        let answer = send(ChipCommand.bitRates(rates), waiting: chipTime.duration + Self.allowance)
        do throws(TransportError) {
            try check(answer)
            iso14443.bitRate.didRaise()
        } catch {
            guard lost == nil, !isInDoubt else { throw error }
            iso14443.bitRate.didFail(isRefusedByChip: !error.isOfRadio)
            try restart()
        }
    }

    /// Selects the same card again, at 106 kbit/s.
    private mutating func restart() throws(TransportError) {
        guard let before = iso14443.bitRate.target else { throw .cardReleased }
        guard let found = try selectTypeA(isoDEP: true), PICC.typeA(found).mayBeSameCard(as: .typeA(before)) else {
            iso14443.selection = .none
            throw .cardReleased
        }
    }

    private mutating func carryAPDU(_ frame: [UInt8], within time: Duration) throws(TransportError) -> [UInt8] {
        do throws(TransportError) {
            try prepareTimeout(time)
            var rest = frame[...]
            let longestPart = family.longestCommand - 2
            while rest.count > longestPart {
                let part = rest.prefix(longestPart)
                rest = rest.dropFirst(part.count)
                var command = ChipCommand.exchangeData(part, moreFollows: true)
                defer { command.wipe() }
                _ = try exchangeData(command, within: time, isExtended: true)
            }
            // It may have a PIN in it.
            var command = ChipCommand.exchangeData(rest)
            defer { command.wipe() }
            let answer = try exchangeData(command, within: time, isExtended: true)
            guard answer.count > 1 else { throw recover(from: ChipResult.damagedOnTheWay) }
            return Array(answer.dropFirst())
        } catch {
            iso14443.selection = .none
            throw error
        }
    }

    /// How long a card may take to answer R(NAK), which needs no work.
    private static let presenceTime = Duration.milliseconds(30)

    /// Sends R(NAK) as a raw frame, as libnfc does for type B. The card answers with R(ACK) or with its last block,
    /// whichever block number the R(NAK) has, and neither side counts a block.
    ///
    /// A card of type B that supports it has been given CID 1 by the chip (nfcpy's notes), and ignores blocks without.
    /// Not every chip may do so, so both forms are tried.
    mutating func isISODEPCardPresent() throws(TransportError) -> Bool {
        // A block ends the card's readiness for another speed.
        iso14443.bitRate.didSendBlock()
        // The time-out of an APDU before may be seconds.
        try prepareTimeout(Self.presenceTime, asksForPresence: true)
        for frame in iso14443.carriesCID ? [[0xBA, 0x01], [0xB2]] : [[0xB2]] as [[UInt8]] {
            do throws(TransportError) {
                _ = try exchange(frame, within: Self.presenceTime)
                return true
            } catch {
                guard error.isRadioError else { throw error }
            }
        }
        return false
    }

    /// - Parameter isExtended: whether the card may ask for more time, which the chip grants without telling the host.
    private mutating func exchangeData(
        _ command: [UInt8], within time: Duration, isExtended: Bool = false
    ) throws(TransportError) -> [UInt8] {
        line.didExchange()
        let chipTime = timeouts.current ?? .longest
        let patience = max(chipTime.duration, time) + Self.allowance + Self.chainAllowance
        let answer =
            isExtended
            ? transport.transceiveExtended(command, within: patience) : send(command, waiting: patience)
        // 27: the chip no longer has such a target.
        if answer.outcome != .success, answer.status & 0x3F == 0x27 { throw .cardReleased }
        do throws(TransportError) {
            try check(answer, within: time)
        } catch {
            // The chip is well: it has waited for its card.
            guard error == .readerTimeout, lost == nil, isExtended, transport.longestExtension > .zero else {
                throw error
            }
            throw .cardTooSlow
        }
        return answer.bytes
    }
}

extension TransportError {
    /// Whether the card did not answer, or its answer was damaged on air.
    fileprivate var isOfRadio: Bool {
        switch self {
        case .noAnswer: true
        case .corrupted(let status): status != TransportError.damagedBeyondTheChip
        default: false
        }
    }
}

/// The chip's settings for card searches, mainly of type A and B, and its selected card.
struct ISO14443State: Hashable, Sendable {
    /// The kind of frames that the selected card accepts.
    enum Selection: Hashable, Sendable {
        /// Packets sent unchanged: FeliCa, or no search yet.
        case packets
        /// Type A without ISO-DEP: the card's own commands, whose CRC the host checks.
        case commands
        /// APDUs, which the chip carries by ISO-DEP.
        case apdus
        /// None: a card must be selected again before anything is sent.
        case none
    }

    /// The kind of frames that the selected card accepts.
    var selection = Selection.packets
    /// The bit rate of the selected card.
    var bitRate = ISOBitRateState()
    /// Whether the blocks of the selected card may carry a CID.
    var carriesCID = false
    /// Whether the chip enciphers what it sends to a card of type A.
    var usesCrypto1 = false
    /// Whether the chip sends RATS to a card of type A that supports ISO-DEP, `nil` when that is not known.
    var sendsRATS: Bool?
    /// Whether a card may be in the state that follows its selection, in which it does not answer a new request.
    var hasSelected = false
    /// Whether the last search for type A found nothing, but may have sent RATS to a card that does not answer it.
    var mayHoldCard = false
    /// Whether the next request may switch the field on, so that a card may miss it.
    var fieldIsFresh = true
    /// How many times the chip repeats a request without an answer; `nil` if unknown.
    var repeats: UInt8?

    /// Resets the state, because the chip may have been reset.
    mutating func forget() {
        selection = selection == .packets ? .packets : .none
        sendsRATS = nil
        fieldIsFresh = true
        repeats = nil
    }
}
