// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
internal import VirtualCards

extension PN532Chip {
    /// How long the chip pauses between two tries of an endless search, since a simulated try takes no time.
    static let endlessPause = Duration.milliseconds(10)

    /// InListPassiveTarget: number of targets (1 or 2), modulation, initiator data.
    ///
    /// A FeliCa Polling finds one target, the first that answers, and so does type B. There are no Jewel cards.
    func listPassiveTargets(_ parameters: [UInt8]) -> CommandResult {
        guard let count = parameters.first, (1...2).contains(count), let modulation = parameters.element(at: 1)
        else { return .syntaxError }
        let data = Array(parameters.dropFirst(2))
        let look: (_ isRetry: Bool) -> TargetSearchResult
        switch modulation {
        case 0x00:
            guard [0, 4, 8, 12].contains(data.count) else { return .syntaxError }
            look = { _ in self.lookForTypeA(Int(data.isEmpty ? count : 1), uid: data) }
        case 0x03:
            guard (1...2).contains(data.count), let family = data.first else { return .syntaxError }
            look = { _ in self.lookForTypeB(family) }
        case 0x04: look = { _ in self.lookForJewel() }
        case 0x01, 0x02:
            guard data.count == 5, data[0] == 0x00 else { return .syntaxError }
            look = { self.poll(data, at: modulation == 0x01 ? .kbps212 : .kbps424, isRetry: $0) }
        default: return .syntaxError
        }
        forgetTargets()
        var tries = 0
        while true {
            let found = look(tries > 0)
            if found.isAborted { return .aborted }
            if !found.targets.isEmpty {
                take(found)
                let all = zip(1..., found.data).flatMap { [UInt8(truncatingIfNeeded: $0)] + $1 }
                return .answer([UInt8(truncatingIfNeeded: found.targets.count)] + all)
            }
            let isEndless = radio.activationRetries == 0xFF
            if !isEndless, tries >= Int(radio.activationRetries) { return .answer([0x00]) }
            if isEndless, !pause(for: Self.endlessPause) { return .aborted }
            tries &+= 1
        }
    }

    /// InAutoPoll: rounds (FF forever), period in units of 150 ms, types to look for.
    ///
    /// Every type is given its whole period, and a card that answers ends the command immediately. FeliCa cards are
    /// polled with system code FFFF and request code 00 (which one a PN532 sends is not known).
    func autoPoll(_ parameters: [UInt8]) -> CommandResult {
        guard let rounds = parameters.first, rounds > 0, let period = parameters.element(at: 1),
            (0x01...0x0F).contains(period), (3...17).contains(parameters.count)
        else { return .syntaxError }
        let types = parameters.dropFirst(2)
        forgetTargets()
        var round = 0
        while rounds == 0xFF || round < Int(rounds) {
            for type in types {
                let found = look(for: type)
                if found.isAborted { return .aborted }
                if let target = found.targets.first, let data = found.data.first {
                    take(found)
                    let kind = Self.autoPollType(of: target, asked: type)
                    return .answer([0x01, kind, UInt8(truncatingIfNeeded: data.count + 1), 0x01] + data)
                }
                guard pause(for: .milliseconds(150) * Int(period)) else { return .aborted }
            }
            round &+= 1
        }
        return .answer([0x00])
    }

    /// The types of InAutoPoll: 01 and 11 are FeliCa at 212 kbit/s, 02 and 12 at 424; 03 and 23 are Type B; 00 is any
    /// Type A, 10 one without ISO-DEP, 20 one with it.
    private func look(for type: UInt8) -> TargetSearchResult {
        switch type {
        case 0x01, 0x11: poll([0x00, 0xFF, 0xFF, 0x00, 0x00], at: .kbps212)
        case 0x02, 0x12: poll([0x00, 0xFF, 0xFF, 0x00, 0x00], at: .kbps424)
        case 0x03, 0x23: lookForTypeB(0x00)
        case 0x00: lookForTypeA(1)
        case 0x10: lookForTypeA(1) { $0.sak & TypeACommand.speaksISODEP == 0 }
        case 0x20: lookForTypeA(1) { $0.sak & TypeACommand.speaksISODEP != 0 }
        default: lookForJewel()
        }
    }

    /// A search for any card of type A reports the type of the card found.
    private static func autoPollType(of target: SelectedTarget, asked: UInt8) -> UInt8 {
        guard asked == 0x00 else { return asked }
        if case .isoDEP = target.kind { return 0x20 }
        return 0x10
    }

    private func take(_ look: TargetSearchResult) {
        targets = look.targets
        unfetched = []
        collected = []
        isCrypto1On = false
    }

    /// Forgets the targets of the last search; the cards keep their states.
    func forgetTargets() {
        targets = []
        unfetched = []
        collected = []
        isCrypto1On = false
    }

    private func lookForJewel() -> TargetSearchResult {
        registers.leaveRequestA()
        return TargetSearchResult(isAborted: !pause(for: timing.radio ? TimeModel.emptyTypeA : .zero))
    }

    /// Sends a Polling and accepts only a whole Polling response as an answer.
    private func poll(_ data: [UInt8], at bitRate: FeliCaBitRate, isRetry: Bool = false) -> TargetSearchResult {
        registers.isFieldOn = true
        registers.prepareFeliCa(bitRate)
        let limit = AnswerLimit.polling(timeSlots: data.element(at: 4) ?? 0)
        switch send([0x06] + data, at: bitRate, within: limit, isRetry: isRetry) {
        case .aborted: return TargetSearchResult(isAborted: true)
        case .failed: return TargetSearchResult()
        case .answer(let response):
            guard response.count >= 18, Int(response[0]) == response.count, response[1] == 0x01 else {
                return TargetSearchResult()
            }
            return TargetSearchResult(targets: [SelectedTarget(kind: .felica(bitRate))], data: [response])
        }
    }

    /// InDeselect and InRelease: one target, or all of them when the number is 0. Cards of type A and B are halted.
    ///
    /// An RC-S956 gets and returns one byte more, known only from libnfc: a last parameter of 01, and a byte before the
    /// status, whose value nobody reads.
    func release(_ parameters: [UInt8]) -> CommandResult {
        let extra: [UInt8] = family == .rcs956 && parameters.count == 2 ? [0x00] : []
        guard parameters.count == 1 + extra.count else { return .syntaxError }
        let number = Int(parameters[0])
        guard number == 0 || targets.indices.contains(number - 1) else {
            return .answer(extra + [ChipStatus.wrongContext])
        }
        for index in targets.indices where number == 0 || index == number - 1 {
            if !targets[index].isReleased, !targets[index].isAsleep { halt(targets[index]) }
            targets[index].isReleased = true
            targets[index].isAsleep = true
        }
        return .answer(extra + [ChipStatus.success])
    }

    /// InSelect: selects a released target again.
    func select(_ parameters: [UInt8]) -> CommandResult {
        guard parameters.count == 1 else { return .syntaxError }
        let index = Int(parameters[0]) - 1
        guard targets.indices.contains(index) else { return .answer([ChipStatus.wrongContext]) }
        if targets[index].isReleased, !resume(&targets[index]) { return .answer([ChipStatus.timeout]) }
        targets[index].isReleased = false
        return .answer([ChipStatus.success])
    }

    /// InPSL: target number, speed to the card, speed from the card; for a card of type A in ISO-DEP, which gets a PPS.
    ///
    /// The chip supports up to 424 kbit/s (PN532 product data sheet). Only this order of the parameters is known from libnfc, which
    /// gives both the same value.
    func changeBitRates(_ parameters: [UInt8]) -> CommandResult {
        guard parameters.count == 3, let toCard = ISOBitRate(rawValue: parameters[1]),
            let fromCard = ISOBitRate(rawValue: parameters[2]), max(toCard.rawValue, fromCard.rawValue) <= 2
        else { return .syntaxError }
        let index = Int(parameters[0]) - 1
        guard targets.indices.contains(index), !targets[index].isReleased, !targets[index].isAsleep,
            case .isoDEP(var session, let identity?) = targets[index].kind
        else { return .answer([ChipStatus.wrongContext]) }
        registers.prepare(for: session)
        guard session.changeRates(ISOBitRates(toCard: toCard, fromCard: fromCard), sendForExchange) else {
            return .answer([ChipStatus.timeout])
        }
        registers.prepare(for: session)
        targets[index].kind = .isoDEP(session, identity)
        return .answer([ChipStatus.success])
    }

    /// InJumpForDEP and InJumpForPSL: there is no NFC-DEP target, so the wait for its answer times out.
    func jumpForDEP() -> CommandResult {
        registers.isFieldOn = true
        guard pause(for: timing.radio ? RadioSettings.timeout(radio.atrTimeout) : .zero) else { return .aborted }
        return .answer([ChipStatus.timeout])
    }
}
