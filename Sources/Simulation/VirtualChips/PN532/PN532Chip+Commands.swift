// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
internal import VirtualCards

extension PN532Chip {
    /// Executes one host command; the chip answers any other with its syntax error frame.
    package func carryOut(_ code: UInt8, _ parameters: [UInt8]) -> CommandResult {
        guard family.knows(code), !quirks.refuses([code] + parameters) else { return .syntaxError }
        return switch code {
        case 0x00: diagnose(parameters)
        case 0x02: .answer(quirks.firmwareVersion ?? family.firmwareVersion)
        case 0x04: generalStatus()
        case 0x06: readRegisters(parameters)
        case 0x08: writeRegisters(parameters)
        case 0x0C: .answer([pins.p3, pins.p7, 0x00])
        case 0x0E: writePins(parameters)
        case 0x10: setSerialBaudRate(parameters)
        case 0x12: setParameters(parameters)
        case 0x14: configureSAM(parameters)
        case 0x16: powerDown(parameters)
        // The requested mode is the current one.
        case 0x18: .answer([])
        case 0x32: configureRadio(parameters)
        case 0x40: exchangeData(parameters)
        case 0x42: communicateThru(parameters)
        case 0x44: release(parameters)
        case 0x46, 0x56: jumpForDEP()
        case 0x4A: listPassiveTargets(parameters)
        case 0x4E: changeBitRates(parameters)
        case 0x50: .answer([ChipStatus.wrongContext])
        case 0x52: release(parameters)
        case 0x54: select(parameters)
        case 0x60: autoPoll(parameters)
        default: .syntaxError
        }
    }

    /// Tests 00 (line: the parameters are returned), 01 (ROM), 02 (RAM) and 06 (whether the card in ISO-DEP is there).
    private func diagnose(_ parameters: [UInt8]) -> CommandResult {
        switch parameters.first {
        case 0x00: return .answer(parameters)
        case 0x01, 0x02: return .answer([ChipStatus.success])
        case 0x06:
            guard let target = targets.first, !target.isReleased, case .isoDEP(let session, _) = target.kind else {
                return .answer([ChipStatus.wrongContext])
            }
            registers.prepare(for: session)
            return .answer([session.isPresent(sendForExchange) ? ChipStatus.success : ChipStatus.timeout])
        default: return .syntaxError
        }
    }

    /// Last error, external field, targets with their speeds and modulation (10 FeliCa, 00 type A and B), SAM status.
    private func generalStatus() -> CommandResult {
        var list: [UInt8] = []
        for (index, target) in targets.enumerated() where !target.isReleased {
            let number = UInt8(truncatingIfNeeded: index + 1)
            switch target.kind {
            case .felica(let bitRate):
                let speed: UInt8 = bitRate == .kbps212 ? 1 : 2
                list += [number, speed, speed, 0x10]
            case .isoDEP(let session, _):
                list += [number, session.rates.fromCard.rawValue, session.rates.toCard.rawValue, 0x00]
            case .typeA: list += [number, 0x00, 0x00, 0x00]
            }
        }
        return .answer([0x00, 0x00, UInt8(truncatingIfNeeded: list.count / 4)] + list + [0x00])
    }

    private func readRegisters(_ parameters: [UInt8]) -> CommandResult {
        var reader = ByteReader(parameters)
        var values: [UInt8] = []
        while let address = try? reader.readUInt16(.big) { values.append(registers[address]) }
        guard reader.remaining == 0, !values.isEmpty else { return .syntaxError }
        return .answer(family.givesRegisterStatus ? [ChipStatus.success] + values : values)
    }

    private func writeRegisters(_ parameters: [UInt8]) -> CommandResult {
        guard !parameters.isEmpty, parameters.count.isMultiple(of: 3) else { return .syntaxError }
        let wasOn = registers.isFieldOn
        var reader = ByteReader(parameters)
        while let address = try? reader.readUInt16(.big), let value = try? reader.readUInt8() {
            registers[address] = value
        }
        tellField(wasOn: wasOn)
        return .answer(family.givesRegisterStatus ? [ChipStatus.success] : [])
    }

    private func writePins(_ parameters: [UInt8]) -> CommandResult {
        guard parameters.count == 2 else { return .syntaxError }
        pins.write(p3: parameters[0], p7: parameters[1])
        return .answer([])
    }

    private func setSerialBaudRate(_ parameters: [UInt8]) -> CommandResult {
        guard parameters.count == 1, let speed = SerialSpeed(rawValue: parameters[0]) else { return .syntaxError }
        if !quirks.keepsSpeed { changeSpeedAfterAcknowledge(speed) }
        return .answer([])
    }

    /// Flags, one of which the simulated radio supports: bit 5, whether RATS is sent automatically.
    private func setParameters(_ parameters: [UInt8]) -> CommandResult {
        guard parameters.count == 1, let flags = parameters.first else { return .syntaxError }
        activatesISODEP = flags & 0x10 != 0
        return .answer([])
    }

    /// Modes 1 (no SAM) to 4, with or without time-out and IRQ.
    private func configureSAM(_ parameters: [UInt8]) -> CommandResult {
        guard let mode = parameters.first, (1...4).contains(mode), parameters.count <= 3 else { return .syntaxError }
        return .answer([])
    }

    /// Sleeps until the next byte, with the field off.
    private func powerDown(_ parameters: [UInt8]) -> CommandResult {
        guard (1...2).contains(parameters.count) else { return .syntaxError }
        switchField(on: false)
        forgetTargets()
        return .answer([ChipStatus.success])
    }

    /// RFConfiguration: 01 field, 02 timings, 04 and 05 retries, 0A to 0D analogue settings; 82, which Linux's pn533
    /// driver sends to an RC-S956 (`drivers/nfc/pn533/pn533.c`), has no documented meaning.
    private func configureRadio(_ parameters: [UInt8]) -> CommandResult {
        let values = Array(parameters.dropFirst())
        switch (parameters.first, values.count) {
        case (0x01, 1): switchField(on: values[0] & 0x01 != 0)
        case (0x02, 3): (radio.atrTimeout, radio.exchangeTimeout) = (values[1], values[2])
        case (0x04, 1): radio.exchangeRetries = values[0]
        case (0x05, 3): (radio.atrRetries, radio.activationRetries) = (values[0], values[2])
        case (0x0A, 11), (0x0B, 8), (0x0C, 3), (0x0D, 9): break
        case (0x82, 3) where family == .rcs956: break
        default: return .syntaxError
        }
        return .answer([])
    }

    private func switchField(on: Bool) {
        let wasOn = registers.isFieldOn
        registers.isFieldOn = on
        tellField(wasOn: wasOn)
    }

    private func tellField(wasOn: Bool) {
        if wasOn, !registers.isFieldOn {
            field.switchOff()
            coldRequestsB = 0
        }
        if !wasOn, registers.isFieldOn { field.switchOn() }
    }
}

/// The model of a simulated chip in the family.
package enum PN53xModel: Sendable {
    /// NXP's PN532, as on boards and in an ACR122U.
    case pn532
    /// NXP's PN533, as in an SCL3711.
    case pn533
    /// Sony's RC-S956, the chip of the RC-S330, RC-S360 and RC-S370.
    case rcs956

    /// The answer to GetFirmwareVersion: IC, version, revision, and supported features.
    ///
    /// For the PN533 as in libnfc issue 617. For the RC-S956 as in nfcpy's tests (`test_clf_rcs956.py`); libnfc
    /// recognizes it by the 33 01.
    var firmwareVersion: [UInt8] {
        switch self {
        case .pn532: [0x32, 0x01, 0x06, 0x07]
        case .pn533: [0x33, 0x02, 0x07, 0x07]
        case .rcs956: [0x33, 0x01, 0x30, 0x07]
        }
    }

    /// Whether ReadRegister and WriteRegister answer with a status first (libnfc issue 617).
    var givesRegisterStatus: Bool { self == .pn533 }

    /// Whether the chip supports a command that only part of the family supports.
    ///
    /// From libnfc's table of commands (`libnfc/chips/pn53x.c`): only the PN532 has SAMConfiguration, PowerDown and
    /// InAutoPoll, and 18 puts an RC-S956 into another mode.
    func knows(_ code: UInt8) -> Bool {
        switch code {
        case 0x14, 0x16, 0x60: self == .pn532
        case 0x18: self == .rcs956
        default: true
        }
    }
}
