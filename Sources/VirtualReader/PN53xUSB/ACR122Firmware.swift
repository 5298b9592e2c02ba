// SPDX-License-Identifier: Apache-2.0

import ByteCodec

/// What an ACR122U does with its host's messages.
struct ACR122Firmware: USBFirmware {
    private static let firmware = Array("ACR122U203".utf8)
    private static let done: [UInt8] = [0x90, 0x00]

    private let core: PN53xCore
    /// The error byte of answers with data: 81 in traces of readers of ACS's own, FE in one of a copy (libnfc issue 476).
    private let errorByte: UInt8

    init(_ field: any RadioField, errorByte: UInt8) {
        self.errorByte = errorByte
        core = PN53xCore(.pn532, field)
    }

    func complete(_ statistics: inout USBChipStatistics) {
        core.complete(&statistics)
    }

    func serve(_ transfer: [UInt8], _ port: inout USBPort) {
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

    /// What the reader answers itself: its name, its PICC operating parameter, and LEDs and buzzer.
    private static func own(_ command: [UInt8]) -> [UInt8] {
        switch (command.element(at: 0), command.element(at: 1), command.element(at: 2)) {
        case (0xFF, 0x00, 0x48): firmware
        case (0xFF, 0x00, 0x51): [0x90, command.element(at: 3) ?? 0x00]
        case (0xFF, 0x00, 0x40), (0xFF, 0x00, 0x52): done
        default: [0x63, 0x00]
        }
    }
}
