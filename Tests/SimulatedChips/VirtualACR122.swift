// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import VirtualReader

/// An ACR122U: a PN532 whose commands travel as APDUs in CCID messages.
///
/// Behavior as libnfc 1.8.0 (`libnfc/drivers/acr122_usb.c`) and nfcpy (`nfc/clf/acr122.py`) require it, and as traces
/// in libnfc's issues 532, 666 and 476 show it.
///
/// Commands are counted by the code of the PN532, others as 00.
package typealias VirtualACR122 = VirtualUSBReader<ACR122Firmware>

extension VirtualACR122 {
    /// Creates a reader over a field.
    ///
    /// - Parameters:
    ///   - field: the field over its antenna.
    ///   - faults: the faults on the USB; of ``InjectedUSBFault`` those that lose, delay, double, cut or replace an
    ///     answer, while the others have no effect on it.
    ///   - isCopy: whether it answers with data and the error byte of a card that does not answer, as observed on a
    ///     copy.
    ///   - hasLights: whether it has lights and a buzzer that a program can set.
    ///   - takesPICC: whether it answers FF 00 51, the PICC operating parameter; copies may not (libnfc issue 576).
    package convenience init(
        field: any RadioField, faults: InjectedUSBFaults = InjectedUSBFaults(), isCopy: Bool = false,
        hasLights: Bool = true, takesPICC: Bool = true
    ) {
        self.init(
            ACR122Firmware(field, errorByte: isCopy ? 0xFE : 0x81, hasLights: hasLights, takesPICC: takesPICC), field,
            faults)
    }

    /// What its lights and its buzzer show and have shown.
    package var panel: ACR122Panel {
        var panel = ACR122Panel()
        withFirmware { panel = $0.panel }
        return panel
    }
}

/// The lights and the buzzer of an ACR122U.
package struct ACR122Panel: Hashable, Sendable {
    package var (isRed, isGreen) = (false, false)
    /// Whether it beeps when it finds a card by itself.
    package var beepsAtCards = true
    /// Whether it polls by itself.
    package var polls = true
    /// The durations of the beeps so far, in milliseconds, with the colors that were on: `R`, `G`, `RG` or none.
    package var beeps: [String] = []
    /// How long the patterns lasted together, in milliseconds, in which the reader answered nothing.
    package var busyTime = 0

    /// `FF 00 40 P2 04 T1 T2 N L`: sets the lights and sounds the buzzer, as ACS's manual of the ACR122T has it.
    ///
    /// - Returns: the second byte of the answer, the state of the lights; `nil` for a command of another form.
    mutating func control(_ command: [UInt8]) -> UInt8? {
        guard command.count == 9, command[4] == 4 else { return nil }
        let (state, first, second, count, buzzer) = (
            command[3], Int(command[5]), Int(command[6]), Int(command[7]), command[8]
        )
        let colors = (isRed ? "R" : "") + (isGreen ? "G" : "")
        for _ in 0..<count {
            if buzzer & 1 != 0, first > 0 { beeps.append("\(colors)\(first * 100)") }
            if buzzer & 2 != 0, second > 0 { beeps.append("\(colors)\(second * 100)") }
        }
        busyTime += (first + second) * count * 100
        if state & 0x04 != 0 { isRed = state & 0x01 != 0 }
        if state & 0x08 != 0 { isGreen = state & 0x02 != 0 }
        // The other bits are reserved; firmware 216 has them set.
        return 0x7C | (isRed ? 1 : 0) | (isGreen ? 2 : 0)
    }
}

/// Handles the messages of an ACR122U's host.
package struct ACR122Firmware: USBFirmware {
    private static let firmware = Array("ACR122U203".utf8)
    private static let done: [UInt8] = [0x90, 0x00]

    private let core: PN53xCore
    private let hasLights: Bool
    private let takesPICC: Bool
    private(set) var panel = ACR122Panel()
    /// The error byte of answers with data: 81 in traces of ACS's own readers, FE in one of a copy (libnfc issue 476).
    private let errorByte: UInt8
    private let quirks: ACR122Quirks
    /// The answer to the command before, of a reader that lags.
    private var kept: [UInt8]?
    private var hasAnswered = false

    /// dwMaxCCIDMessageLength without the header.
    private static let longestData = 261

    init(_ field: any RadioField, errorByte: UInt8, hasLights: Bool = true, takesPICC: Bool = true) {
        self.hasLights = hasLights
        self.takesPICC = takesPICC
        quirks = field.readerQuirks.acr122
        self.errorByte = quirks.errorByte ?? errorByte
        core = PN53xCore(.pn532, field)
    }

    package func complete(_ statistics: inout USBChipStatistics) {
        core.complete(&statistics)
    }

    package mutating func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        guard !transfer.isEmpty else { return }
        guard let message = CCIDMessage(transfer) else {
            port.complain("a CCID message of \(transfer.count) bytes has another length")
            return
        }
        let command = Self.chipCommand(message.data)
        let fault = port.begin()
        port.count(command?.first ?? 0)
        if !takesPICC || quirks.ignoresPICC, message.data.starts(with: [0xFF, 0x00, 0x51]) { return }
        if quirks.ignoresLights, message.data.starts(with: [0xFF, 0x00, 0x40]) { return }
        var answer = answer(message, command)
        if quirks.lag != .none {
            (kept, answer) = (answer, kept ?? answer)
            if quirks.lag == .renumbered { answer[6] = message.sequence }
        }
        for _ in 0..<quirks.timeExtensions {
            port.add([CCIDMessage.dataBlock, 0, 0, 0, 0, 0x00, message.sequence, 0x80, 0x01, 0x00])
        }
        if quirks.answersFirstTwice, !hasAnswered { port.add(answer) }
        hasAnswered = true
        // Linux's pn533_usb sends the chip's commands as Escape, and expects them back as such.
        if message.kind == CCIDMessage.escape { answer[0] = CCIDMessage.escapeAnswer }
        if message.data.count > Self.longestData || answer.count > Self.longestData + 10 {
            port.complain("a message of more than 271 bytes")
        }
        switch fault {
        case .wrongCode: if answer.count > 11 { answer[11] &+= 2 }
        case .wrongSequence: answer[6] &+= 1
        case .moreTime:
            var request = Array(answer.prefix(10))
            for index in 1...4 { request[index] = 0 }
            request[7] = 0x80
            port.add(request)
            port.add(request)
        default: break
        }
        port.answer(answer, with: fault)
    }

    private mutating func answer(_ message: CCIDMessage, _ command: [UInt8]?) -> [UInt8] {
        switch message.kind {
        case CCIDMessage.powerOn: return CCIDMessage.answer(message.sequence, [0x3B, 0x00])
        case CCIDMessage.escape where quirks.refusesEscape:
            return [CCIDMessage.escapeAnswer, 0, 0, 0, 0, 0x00, message.sequence, 0x41, 0x05, 0x00]
        case CCIDMessage.transfer, CCIDMessage.escape: break
        case CCIDMessage.powerOff, CCIDMessage.slotStatus: return CCIDMessage.emptySlot(message.sequence)
        case CCIDMessage.parameters, CCIDMessage.setParameters, CCIDMessage.resetParameters:
            return CCIDMessage.parameters(message.sequence)
        default: return CCIDMessage.answer(message.sequence, [], error: 0x00)
        }
        guard let command, let code = command.first else {
            return CCIDMessage.answer(message.sequence, own(message.data))
        }
        core.line.begin()
        switch core.chip.carryOut(code, Array(command.dropFirst())) {
        case .answer([0x00]) where code == 0x4A && quirks.answersEmptySearches:
            return CCIDMessage.answer(message.sequence, [], error: CCIDMessage.mute)
        case .answer(let data):
            var answer = CCIDMessage.answer(message.sequence, [0xD5, code &+ 1] + data + Self.done, error: errorByte)
            answer[7] = quirks.statusByte
            return answer
        case .syntaxError: return CCIDMessage.answer(message.sequence, [0x63, 0x7F])
        case .aborted: return CCIDMessage.answer(message.sequence, [], error: CCIDMessage.mute)
        }
    }

    /// The chip's command in `FF 00 00 00 Lc D4 …`, without the D4.
    private static func chipCommand(_ command: [UInt8]) -> [UInt8]? {
        guard command.starts(with: [0xFF, 0x00, 0x00, 0x00]), let length = command.element(at: 4),
            Int(length) == command.count - 5, command.element(at: 5) == 0xD4
        else { return nil }
        return Array(command.dropFirst(6))
    }

    /// The reader's own answers: its name, its PICC operating parameter, and LEDs and buzzer.
    private mutating func own(_ command: [UInt8]) -> [UInt8] {
        switch (command.element(at: 0), command.element(at: 1), command.element(at: 2)) {
        case (0xFF, 0x00, 0x48): return quirks.name.map { Array($0.utf8) } ?? Self.firmware
        case (0xFF, 0x00, 0x51):
            panel.polls = (command.element(at: 3) ?? 0) & 0x80 != 0
            return [0x90, command.element(at: 3) ?? 0x00]
        case (0xFF, 0x00, 0x40):
            guard hasLights, let state = panel.control(command) else { return [0x63, 0x00] }
            return [0x90, state]
        case (0xFF, 0x00, 0x52):
            panel.beepsAtCards = command.element(at: 3) != 0
            return Self.done
        default: return [0x63, 0x00]
        }
    }
}

/// The CCID messages that an ACR122U and its hosts exchange: ten bytes of header, then data.
///
/// Source: USB's "Specification for Integrated Circuit(s) Cards Interface Devices", revision 1.1, chapter 6.
struct CCIDMessage: Hashable, Sendable {
    /// PC_to_RDR_IccPowerOn, PC_to_RDR_XfrBlock and RDR_to_PC_DataBlock.
    static let (powerOn, transfer, dataBlock): (UInt8, UInt8, UInt8) = (0x62, 0x6F, 0x80)
    /// PC_to_RDR_Escape and RDR_to_PC_Escape.
    static let (escape, escapeAnswer): (UInt8, UInt8) = (0x6B, 0x83)
    /// PC_to_RDR_IccPowerOff, PC_to_RDR_GetSlotStatus and RDR_to_PC_SlotStatus.
    static let (powerOff, slotStatus, slotStatusAnswer): (UInt8, UInt8, UInt8) = (0x63, 0x65, 0x81)
    /// PC_to_RDR_GetParameters, PC_to_RDR_SetParameters, PC_to_RDR_ResetParameters and RDR_to_PC_Parameters.
    static let (parameters, setParameters, resetParameters, parametersAnswer): (UInt8, UInt8, UInt8, UInt8) =
        (0x6C, 0x61, 0x6D, 0x82)
    /// The bError value ICC_MUTE: the card did not answer in time.
    static let mute: UInt8 = 0xFE

    let kind: UInt8
    let sequence: UInt8
    let data: [UInt8]

    /// Parses a host's message; `nil` when its length differs from its length field.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let kind = try? reader.readUInt8(), let length = try? reader.readUInt32(.little), bytes.count >= 10,
            Int(length) == bytes.count - 10
        else { return nil }
        self.kind = kind
        sequence = bytes[6]
        data = Array(bytes.dropFirst(10))
    }

    /// Encodes a reader's answer: length little-endian, slot 0, status 00 as in published traces (libnfc#263, #691).
    static func answer(_ sequence: UInt8, _ data: [UInt8], error: UInt8 = 0x81) -> [UInt8] {
        let count = UInt16(truncatingIfNeeded: data.count)
        let length = [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8), 0, 0]
        return [dataBlock] + length + [0x00, sequence, 0x00, error, 0x00] + data
    }

    /// Encodes the state of the slot: no card (bmICCStatus 2), since the simulated reader does not poll by itself.
    static func emptySlot(_ sequence: UInt8) -> [UInt8] {
        [slotStatusAnswer, 0, 0, 0, 0, 0x00, sequence, 0x02, 0x00, 0x00]
    }

    /// Encodes the parameters of protocol T=1 with their start values.
    static func parameters(_ sequence: UInt8) -> [UInt8] {
        [parametersAnswer, 7, 0, 0, 0, 0x00, sequence, 0x00, 0x00, 0x01, 0x11, 0x10, 0x00, 0x4D, 0x00, 0x20, 0x00]
    }
}
