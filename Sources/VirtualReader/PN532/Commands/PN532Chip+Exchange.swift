// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NFCTransport

extension PN532Chip {
    /// The most bytes of a card's answer that fit into one host frame after D5, the code and the status.
    private static let longestPart = PN532Frame.longestData - 3

    /// InDataExchange: a frame to the selected target, in parts when bit 6 of the target number is set.
    ///
    /// An answer that is longer than a host frame is given in parts; the host fetches the next with a command that
    /// holds the target number alone.
    func exchangeData(_ parameters: [UInt8]) -> CommandOutcome {
        guard let number = parameters.first else { return .syntaxError }
        guard number & 0x3F == 1, let target else { return .answer([ChipStatus.wrongContext]) }
        guard !target.isReleased else { return .answer([ChipStatus.released]) }
        let data = parameters.dropFirst()
        if number & ChipStatus.moreInformation != 0 {
            collected += data.prefix(max(0, 4 * PN532Frame.longestData - collected.count))
            return .answer([ChipStatus.success])
        }
        if data.isEmpty, collected.isEmpty, !unfetched.isEmpty { return nextPart() }
        let frame = collected + data
        collected = []
        unfetched = []
        registers.prepareFeliCa(target.bitRate)
        guard registers.isFieldOn else { return silence() }
        var tries = 0
        while true {
            switch send(frame, at: target.bitRate, within: radio.exchangeTimeout, isRetry: tries > 0) {
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

    private func nextPart() -> CommandOutcome {
        let part = unfetched.prefix(Self.longestPart)
        unfetched = unfetched.dropFirst(part.count)
        return .answer([unfetched.isEmpty ? ChipStatus.success : ChipStatus.moreInformation] + part)
    }

    /// InCommunicateThru: a frame as it is, with the speed, framing and CRC that the registers say.
    func communicateThru(_ parameters: [UInt8]) -> CommandOutcome {
        var frame = parameters
        if !registers.appendsChecksum {
            let sent = frame.suffix(2)
            frame = Array(frame.dropLast(2))
            // The host makes the CRC itself, and cards do not hear a frame with a wrong one.
            guard FeliCaChecksum.bytes(of: frame) == Array(sent) else { return silence() }
        }
        guard registers.isFieldOn, let bitRate = registers.feliCaBitRate else { return silence() }
        switch send(frame, at: bitRate, within: radio.exchangeTimeout) {
        case .answer(let answer):
            let whole = registers.removesChecksum ? answer : answer + FeliCaChecksum.bytes(of: answer)
            return .answer([ChipStatus.success] + whole.prefix(Self.longestPart))
        case .failed(let status): return .answer([status])
        case .aborted: return .aborted
        }
    }

    private func silence() -> CommandOutcome {
        pauseInVain(radio.exchangeTimeout) ? .answer([ChipStatus.timeout]) : .aborted
    }

    // MARK: The air

    /// Sends a frame to the field and waits as the time model says.
    ///
    /// - Parameter timeout: the index of the longest wait for an answer; `nil` for the window of a Polling.
    func send(
        _ frame: [UInt8], at bitRate: FeliCaBitRate, within timeout: UInt8?, isRetry: Bool = false
    ) -> AirOutcome {
        let outcome = field.exchange(frame, at: bitRate)
        counters.count {
            $0.exchanges &+= 1
            if isRetry { $0.retriedFrames &+= 1 }
            if frame.element(at: 1) == 0x06 { $0.readCommands &+= 1 }
            if case .answer = outcome { $0.answeredExchanges &+= 1 }
        }
        let outward = timing.radio ? TimeModel.airTime(frame.count, at: bitRate) : .zero
        guard pause(for: outward) else { return .aborted }
        switch outcome {
        case .silence:
            return waitInVain(frame, timeout) ? .failed(status: ChipStatus.timeout) : .aborted
        case .damaged(let status):
            return .failed(status: status)
        case .answer(let answer):
            guard timing.radio else { return .answer(answer.frame) }
            let isPolling = frame.element(at: 1) == 0x00
            let thinking = max(answer.thinkingTime, isPolling ? TimeModel.firstTimeSlot : .zero)
            if let limit = timeout.flatMap(RadioSettings.timeout), thinking > limit {
                return waitInVain(frame, timeout) ? .failed(status: ChipStatus.timeout) : .aborted
            }
            let inward = TimeModel.airTime(answer.frame.count, at: bitRate)
            return pause(for: thinking + inward) ? .answer(answer.frame) : .aborted
        }
    }

    private func waitInVain(_ frame: [UInt8], _ timeout: UInt8?) -> Bool {
        if let timeout { return pauseInVain(timeout) }
        let slots = frame.element(at: 5) ?? 0
        return pause(for: timing.radio ? TimeModel.pollingWindow(timeSlotNumber: slots) : .zero)
    }

    /// The chip's time-out; index 0 is waited for in any case, since only the host ends it.
    private func pauseInVain(_ index: UInt8) -> Bool {
        guard let duration = RadioSettings.timeout(index) else { return pause(for: nil) }
        return pause(for: timing.radio ? duration : .zero)
    }
}
