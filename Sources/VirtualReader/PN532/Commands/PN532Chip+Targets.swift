// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import NFCTransport

extension PN532Chip {
    /// How long the chip rests between two tries when it tries for ever, since a simulated try takes no time.
    static let endlessPause = Duration.milliseconds(10)

    /// InListPassiveTarget: how many targets (1 or 2), modulation, what the initiator sends.
    ///
    /// A FeliCa Polling finds one target, the first that answers. There are no Type A, Type B and Jewel cards yet, so
    /// looks for them end empty.
    func listPassiveTargets(_ parameters: [UInt8]) -> CommandOutcome {
        guard let count = parameters.first, (1...2).contains(count), let modulation = parameters.element(at: 1)
        else { return .syntaxError }
        let initiatorData = Array(parameters.dropFirst(2))
        let look: (_ isRetry: Bool) -> AirOutcome
        switch modulation {
        case 0x00, 0x04: look = { _ in self.lookForTypeA() }
        case 0x03: look = { _ in self.lookForTypeB() }
        case 0x01, 0x02:
            guard initiatorData.count == 5, initiatorData[0] == 0x00 else { return .syntaxError }
            look = { self.poll(initiatorData, at: modulation == 0x01 ? .kbps212 : .kbps424, isRetry: $0) }
        default: return .syntaxError
        }
        target = nil
        var tries = 0
        while true {
            switch look(tries > 0) {
            case .answer(let response): return .answer([0x01, 0x01] + response)
            case .aborted: return .aborted
            case .failed: break
            }
            let isEndless = radio.activationRetries == 0xFF
            if !isEndless, tries >= Int(radio.activationRetries) { return .answer([0x00]) }
            if isEndless, !pause(for: Self.endlessPause) { return .aborted }
            tries &+= 1
        }
    }

    /// InAutoPoll: rounds (FF for ever), period in units of 150 ms, types to look for.
    ///
    /// Every type is given its whole period, and a card that answers ends the command at once. FeliCa cards are polled
    /// with system code FFFF and request code 00 (which one a PN532 sends is not known).
    func autoPoll(_ parameters: [UInt8]) -> CommandOutcome {
        guard let rounds = parameters.first, rounds > 0, let period = parameters.element(at: 1),
            (0x01...0x0F).contains(period), (3...17).contains(parameters.count)
        else { return .syntaxError }
        let types = parameters.dropFirst(2)
        target = nil
        var round = 0
        while rounds == 0xFF || round < Int(rounds) {
            for type in types {
                switch look(for: type) {
                case .answer(let response):
                    return .answer([0x01, type, UInt8(truncatingIfNeeded: response.count + 1), 0x01] + response)
                case .aborted: return .aborted
                case .failed: break
                }
                guard pause(for: .milliseconds(150) * Int(period)) else { return .aborted }
            }
            round &+= 1
        }
        return .answer([0x00])
    }

    /// The types of InAutoPoll: 01 and 11 are FeliCa at 212 kbit/s, 02 and 12 at 424; 03 and 23 are Type B.
    private func look(for type: UInt8) -> AirOutcome {
        switch type {
        case 0x01, 0x11: poll([0x00, 0xFF, 0xFF, 0x00, 0x00], at: .kbps212)
        case 0x02, 0x12: poll([0x00, 0xFF, 0xFF, 0x00, 0x00], at: .kbps424)
        case 0x03, 0x23: lookForTypeB()
        default: lookForTypeA()
        }
    }

    private func lookForTypeA() -> AirOutcome {
        registers.leaveRequestA()
        return emptyLook(TimeModel.emptyTypeA)
    }

    private func lookForTypeB() -> AirOutcome {
        registers.prepareTypeB()
        return emptyLook(TimeModel.emptyTypeB)
    }

    private func emptyLook(_ duration: Duration) -> AirOutcome {
        pause(for: timing.radio ? duration : .zero) ? .failed(status: ChipStatus.timeout) : .aborted
    }

    /// Sends a Polling and takes only a whole Polling response for an answer.
    private func poll(_ data: [UInt8], at bitRate: FeliCaBitRate, isRetry: Bool = false) -> AirOutcome {
        registers.isFieldOn = true
        registers.prepareFeliCa(bitRate)
        let outcome = send([0x06] + data, at: bitRate, within: nil, isRetry: isRetry)
        guard case .answer(let response) = outcome else { return outcome }
        guard response.count >= 18, Int(response[0]) == response.count, response[1] == 0x01 else {
            return .failed(status: ChipStatus.timeout)
        }
        target = SelectedTarget(bitRate: bitRate)
        unfetched = []
        collected = []
        return outcome
    }

    /// InDeselect and InRelease: one target, or all of them when the number is 0.
    func release(_ parameters: [UInt8]) -> CommandOutcome {
        guard parameters.count == 1 else { return .syntaxError }
        guard parameters[0] == 0 || parameters[0] == 1 && target != nil else {
            return .answer([ChipStatus.wrongContext])
        }
        target?.isReleased = true
        return .answer([ChipStatus.success])
    }

    /// InSelect: takes up a target that was let go of.
    func select(_ parameters: [UInt8]) -> CommandOutcome {
        guard parameters.count == 1 else { return .syntaxError }
        guard parameters[0] == 1, target != nil else { return .answer([ChipStatus.wrongContext]) }
        target?.isReleased = false
        return .answer([ChipStatus.success])
    }

    /// InJumpForDEP and InJumpForPSL: there is no NFC-DEP target, and its answer is waited for in vain.
    func jumpForDEP() -> CommandOutcome {
        registers.isFieldOn = true
        guard pause(for: timing.radio ? RadioSettings.timeout(radio.atrTimeout) : .zero) else { return .aborted }
        return .answer([ChipStatus.timeout])
    }
}
