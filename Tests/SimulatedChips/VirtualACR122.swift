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
    package convenience init(
        field: any RadioField, faults: InjectedUSBFaults = InjectedUSBFaults(), isCopy: Bool = false
    ) {
        self.init(ACR122Firmware(field, errorByte: isCopy ? 0xFE : 0x81), field, faults)
    }
}

/// Handles the messages of an ACR122U's host.
package struct ACR122Firmware: USBFirmware {
    private static let firmware = Array("ACR122U203".utf8)
    private static let done: [UInt8] = [0x90, 0x00]

    private let core: PN53xCore
    /// The error byte of answers with data: 81 in traces of ACS's own readers, FE in one of a copy (libnfc issue 476).
    private let errorByte: UInt8

    init(_ field: any RadioField, errorByte: UInt8) {
        self.errorByte = errorByte
        core = PN53xCore(.pn532, field)
    }

    package func complete(_ statistics: inout USBChipStatistics) {
        core.complete(&statistics)
    }

    package func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        guard !transfer.isEmpty else { return }
        guard let message = CCIDMessage(transfer) else {
            port.complain("a CCID message of \(transfer.count) bytes has another length")
            return
        }
        let command = Self.chipCommand(message.data)
        let fault = port.begin()
        port.count(command?.first ?? 0)
        port.answer(answer(message, command), with: fault)
    }

    private func answer(_ message: CCIDMessage, _ command: [UInt8]?) -> [UInt8] {
        switch message.kind {
        case CCIDMessage.powerOn: return CCIDMessage.answer(message.sequence, [0x3B, 0x00])
        case CCIDMessage.transfer: break
        default: return CCIDMessage.answer(message.sequence, [], error: 0x00)
        }
        guard let command, let code = command.first else {
            return CCIDMessage.answer(message.sequence, Self.own(message.data))
        }
        core.line.begin()
        switch core.chip.carryOut(code, Array(command.dropFirst())) {
        case .answer(let data):
            return CCIDMessage.answer(message.sequence, [0xD5, code &+ 1] + data + Self.done, error: errorByte)
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
    private static func own(_ command: [UInt8]) -> [UInt8] {
        switch (command.element(at: 0), command.element(at: 1), command.element(at: 2)) {
        case (0xFF, 0x00, 0x48): firmware
        case (0xFF, 0x00, 0x51): [0x90, command.element(at: 3) ?? 0x00]
        case (0xFF, 0x00, 0x40), (0xFF, 0x00, 0x52): done
        default: [0x63, 0x00]
        }
    }
}

/// The CCID messages that an ACR122U and its hosts exchange: ten bytes of header, then data.
///
/// Source: USB's "Specification for Integrated Circuit(s) Cards Interface Devices", revision 1.1, chapter 6.
struct CCIDMessage: Hashable, Sendable {
    /// PC_to_RDR_IccPowerOn, PC_to_RDR_XfrBlock and RDR_to_PC_DataBlock.
    static let (powerOn, transfer, dataBlock): (UInt8, UInt8, UInt8) = (0x62, 0x6F, 0x80)
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
}
