// SPDX-License-Identifier: Apache-2.0

import ByteCodec
internal import ReaderCore
internal import VirtualCards

extension PN532Chip {
    /// The maximum number of bytes of a card's answer that fit into one host frame after D5, the code and the status.
    private static let longestPart = PN532Frame.longestData - 3

    /// InDataExchange: a frame or an APDU to a target, in parts when bit 6 of the target number is set.
    ///
    /// An answer that is longer than a host frame is returned in parts; the host fetches the next with a command that
    /// contains only the target number.
    func exchangeData(_ parameters: [UInt8]) -> CommandResult {
        guard let number = parameters.first else { return .syntaxError }
        let index = Int(number & 0x3F) - 1
        guard targets.indices.contains(index) else { return .answer([ChipStatus.wrongContext]) }
        guard !targets[index].isReleased else { return .answer([ChipStatus.released]) }
        let data = parameters.dropFirst()
        if number & ChipStatus.moreInformation != 0 {
            collected += data.prefix(max(0, 4 * PN532Frame.longestData - collected.count))
            return .answer([ChipStatus.success])
        }
        if data.isEmpty, collected.isEmpty, !unfetched.isEmpty { return nextPart() }
        let frame = collected + data
        collected = []
        unfetched = []
        guard registers.isFieldOn else { return silence() }
        guard wakeOnly(index) else { return .answer([ChipStatus.timeout]) }
        switch targets[index].kind {
        case .felica(let bitRate):
            registers.prepareFeliCa(bitRate)
            return retried { self.send(frame, at: bitRate, within: .timeout(self.radio.exchangeTimeout), isRetry: $0) }
        case .typeA:
            registers.prepareTypeA()
            let result = exchangeTypeA(frame)
            // After a refused authentication the card is halted; the chip has lost it until it is listed again.
            if case .answer([ChipStatus.authentication]) = result { targets[index].isReleased = true }
            return result
        case .isoDEP(var session, let identity):
            registers.prepare(for: session)
            let outcome = session.exchange(frame, sendForExchange)
            targets[index].kind = .isoDEP(session, identity)
            return deliver(outcome)
        }
    }

    /// Halts the other card of type A and wakes the intended one.
    private func wakeOnly(_ index: Int) -> Bool {
        guard targets[index].isAsleep else { return true }
        for other in targets.indices where other != index && !targets[other].isAsleep {
            guard case .typeA = targets[other].kind else { continue }
            halt(targets[other])
            targets[other].isAsleep = true
        }
        return resume(&targets[index])
    }

    /// Tries as many times as RFConfiguration says.
    private func retried(_ attempt: (_ isRetry: Bool) -> RadioReply<[UInt8]>) -> CommandResult {
        var tries = 0
        while true {
            switch attempt(tries > 0) {
            case .answer(let answer):
                unfetched = answer[...]
                return nextPart()
            case .aborted: return .aborted
            case .failed(let status):
                let isEndless = radio.exchangeRetries == 0xFF
                if !isEndless, tries >= Int(radio.exchangeRetries) { return .answer([status]) }
                if isEndless, !pause(for: Self.endlessPause) { return .aborted }
                tries &+= 1
            }
        }
    }

    private func deliver(_ outcome: RadioReply<[UInt8]>) -> CommandResult {
        switch outcome {
        case .aborted: return .aborted
        case .failed(let status): return .answer([status])
        case .answer(let answer):
            unfetched = answer[...]
            return nextPart()
        }
    }

    private func nextPart() -> CommandResult {
        let part = unfetched.prefix(Self.longestPart)
        unfetched = unfetched.dropFirst(part.count)
        return .answer([unfetched.isEmpty ? ChipStatus.success : ChipStatus.moreInformation] + part)
    }

    // MARK: MIFARE commands

    /// A command to a card of type A without ISO-DEP. The firmware treats 60 and 61 as the authentication of MIFARE
    /// Classic, sends the two halves of a write with A0, and converts ACK into success and NAK into an error.
    private func exchangeTypeA(_ frame: [UInt8]) -> CommandResult {
        switch frame.first {
        case 0x60, 0x61:
            isCrypto1On = false
            switch mifare(frame, isAuthentication: true) {
            case .answer:
                isCrypto1On = true
                return .answer([ChipStatus.success])
            case .failed: return .answer([ChipStatus.authentication])
            case .aborted: return .aborted
            }
        case 0xA0 where frame.count == 18 && !isCrypto1On:
            switch mifare(Array(frame.prefix(2))) {
            case .answer: return retried { self.mifare(Array(frame.dropFirst(2)), isRetry: $0) }
            case .failed(let status): return .answer([status])
            case .aborted: return .aborted
            }
        // The chip repeats no command that changes a value.
        case _ where isCrypto1On && frame.first != 0x30: return deliver(mifare(frame))
        default: return retried { self.mifare(frame, isRetry: $0) }
        }
    }

    private func mifare(_ frame: [UInt8], isRetry: Bool = false, isAuthentication: Bool = false) -> RadioReply<[UInt8]>
    {
        let limit = AnswerLimit.timeout(radio.exchangeTimeout)
        var radioFrame = RadioFrame(.typeA, frame)
        radioFrame.isEnciphered = isCrypto1On || isAuthentication
        switch transmit(radioFrame, within: limit, isRetry: isRetry) {
        case .aborted: return .aborted
        case .failed(let status): return .failed(status: isAuthentication ? ChipStatus.authentication : status)
        case .answer(let answer) where isAuthentication && answer.lastByteBits != 4:
            return .failed(status: ChipStatus.authentication)
        case .answer(let answer):
            guard answer.lastByteBits == 4 else { return .answer(answer.frame) }
            return answer.frame == [0x0A] ? .answer([]) : .failed(status: ChipStatus.wrongFormat)
        }
    }

    // MARK: Unchanged frames

    /// InCommunicateThru: an unchanged frame, with the speed, framing, CRC and bits set in the registers.
    func communicateThru(_ parameters: [UInt8]) -> CommandResult {
        guard let technology = registers.technology else { return silence() }
        let lastByteBits = registers.transmittedBits
        var frame = RadioFrame(technology, parameters, lastByteBits: lastByteBits, hasCRC: registers.appendsChecksum)
        if !frame.hasCRC, lastByteBits == 8 {
            let body = Array(parameters.dropLast(2))
            let isRight = parameters.count > 2 && Checksum.bytes(of: body, technology) == Array(parameters.suffix(2))
            if isRight {
                frame.bytes = body
                frame.hasCRC = true
            } else if case .felica = technology {
                // The host computes the CRC itself, and cards ignore a packet with a wrong one.
                return silence()
            }
        }
        guard registers.isFieldOn else { return silence() }
        switch transmit(frame, within: .timeout(radio.exchangeTimeout)) {
        case .failed(let status): return .answer([status])
        case .aborted: return .aborted
        case .answer(let answer): return .answer(received(answer, technology))
        }
    }

    /// Returns the answer as processed by the chip: it checks and removes the CRC when configured to.
    private func received(_ answer: CardAnswer, _ technology: RadioTechnology) -> [UInt8] {
        registers.receivedBits = answer.lastByteBits
        guard registers.removesChecksum else {
            let checksum = answer.hasCRC ? Checksum.bytes(of: answer.frame, technology) : []
            return [ChipStatus.success] + (answer.frame + checksum).prefix(Self.longestPart)
        }
        guard answer.hasCRC else { return [ChipStatus.wrongChecksum] }
        return [ChipStatus.success] + answer.frame.prefix(Self.longestPart)
    }

    private func silence() -> CommandResult {
        pauseInVain(radio.exchangeTimeout) ? .answer([ChipStatus.timeout]) : .aborted
    }
}

extension PN532Chip {
    /// Sends a FeliCa packet and returns the result.
    func send(_ packet: [UInt8], at bitRate: FeliCaBitRate, within limit: AnswerLimit, isRetry: Bool = false)
        -> RadioReply<[UInt8]>
    {
        transmit(RadioFrame(.felica(bitRate), packet), within: limit, isRetry: isRetry).map(\.frame)
    }

    /// Sends a frame to the field and waits as the time model says.
    func transmit(_ frame: RadioFrame, within limit: AnswerLimit, isRetry: Bool = false) -> RadioReply<CardAnswer> {
        observer()
        var frame = frame
        if frame.technology == registers.technology { frame.bitRate = registers.sentBitRate(frame.technology) }
        var outcome = field.exchange(frame)
        if case .answer(let answer) = outcome, answer.bitRate != registers.receivedBitRate(frame.technology) {
            outcome = .silence
        }
        let isFeliCa = if case .felica = frame.technology { true } else { false }
        counters.count {
            $0.exchanges &+= 1
            if isRetry { $0.retriedFrames &+= 1 }
            if isFeliCa, frame.bytes.element(at: 1) == 0x06 { $0.readCommands &+= 1 }
            if case .answer = outcome { $0.answeredExchanges &+= 1 }
        }
        let outward = TimeModel.airTime(frame.bytes.count, frame.technology, frame.bitRate)
        switch outcome {
        case .silence:
            return waitInVain(limit, after: outward) ? .failed(status: ChipStatus.timeout) : .aborted
        case .damaged(let status):
            return pause(for: timing.radio ? outward : .zero) ? .failed(status: status) : .aborted
        case .answer(let answer):
            guard timing.radio else { return .answer(answer) }
            var thinking = answer.thinkingTime
            if case .polling = limit { thinking = max(thinking, TimeModel.firstTimeSlot) }
            if case .timeout(let index) = limit, let longest = RadioSettings.timeout(index), thinking > longest {
                return waitInVain(limit, after: outward) ? .failed(status: ChipStatus.timeout) : .aborted
            }
            let inward = TimeModel.airTime(answer.frame.count, frame.technology, answer.bitRate)
            return pause(for: outward + thinking + inward) ? .answer(answer) : .aborted
        }
    }

    /// Waits for an answer that does not come. Only the host ends a time-out with index 0, so this wait is always real.
    private func waitInVain(_ limit: AnswerLimit, after outward: Duration) -> Bool {
        switch limit {
        case .look(let duration): return pause(for: timing.radio ? duration : .zero)
        case .polling(let slots):
            let window = TimeModel.pollingWindow(timeSlotNumber: slots)
            return pause(for: timing.radio ? outward + window : .zero)
        case .timeout(let index):
            guard pause(for: timing.radio ? outward : .zero) else { return false }
            return pauseInVain(index)
        case .granted:
            guard pause(for: timing.radio ? outward : .zero) else { return false }
            return pauseInVain(radio.exchangeTimeout)
        }
    }

    /// Waits for the chip's time-out.
    func pauseInVain(_ index: UInt8) -> Bool {
        guard let duration = RadioSettings.timeout(index) else { return pause(for: nil) }
        return pause(for: timing.radio ? duration : .zero)
    }

    /// Sends the frames of the reader's side of ISO 14443 in an exchange with a card.
    var sendForExchange: FrameExchange {
        { frame, multiplier in
            self.transmit(frame, within: multiplier == 0 ? .timeout(self.radio.exchangeTimeout) : .granted)
        }
    }
}

/// How long the chip waits for an answer.
enum AnswerLimit: Hashable, Sendable {
    /// The window of a Polling with this time slot number.
    case polling(timeSlots: UInt8)
    /// The chip's time-out with this index.
    case timeout(UInt8)
    /// The time that the card requested.
    case granted
    /// This long, air time included: for a search for a card.
    case look(Duration)
}
