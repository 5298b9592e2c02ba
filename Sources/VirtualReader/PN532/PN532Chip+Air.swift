// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NFCTransport

extension PN532Chip {
    /// Sends a FeliCa packet and returns the result.
    func send(_ packet: [UInt8], at bitRate: FeliCaBitRate, within limit: AnswerLimit, isRetry: Bool = false)
        -> ExchangeResult
    {
        switch transmit(RadioFrame(.felica(bitRate), packet), within: limit, isRetry: isRetry) {
        case .answer(let answer): .answer(answer.frame)
        case .failed(let status): .failed(status: status)
        case .aborted: .aborted
        }
    }

    /// Sends a frame to the field and waits as the time model says.
    func transmit(_ frame: RadioFrame, within limit: AnswerLimit, isRetry: Bool = false) -> FrameReply {
        reach(.exchange)
        let outcome = field.exchange(frame)
        let isFeliCa = if case .felica = frame.technology { true } else { false }
        counters.count {
            $0.exchanges &+= 1
            if isRetry { $0.retriedFrames &+= 1 }
            if isFeliCa, frame.bytes.element(at: 1) == 0x06 { $0.readCommands &+= 1 }
            if case .answer = outcome { $0.answeredExchanges &+= 1 }
        }
        let outward = TimeModel.airTime(frame.bytes.count, frame.technology)
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
            let inward = TimeModel.airTime(answer.frame.count, frame.technology)
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

    /// The air as used by the reader's side of ISO 14443 in an exchange with a card.
    var exchangeAir: FrameExchange {
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

/// The result of one exchange with the field.
enum ExchangeResult: Hashable, Sendable {
    /// A card's answer.
    case answer([UInt8])
    /// The chip's status for a missing or damaged answer.
    case failed(status: UInt8)
    /// The host aborted.
    case aborted
}
