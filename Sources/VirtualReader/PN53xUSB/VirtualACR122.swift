// SPDX-License-Identifier: Apache-2.0

import ByteCodec
internal import Synchronization

/// An ACR122U: a PN532 whose commands travel as APDUs in CCID messages.
///
/// Behaviour as libnfc 1.8.0 (`libnfc/drivers/acr122_usb.c`) and nfcpy (`nfc/clf/acr122.py`) need it, and as traces in
/// libnfc's issues 532, 666 and 476 show it.
public final class VirtualACR122: VirtualUSBChip {
    private static let firmware = Array("ACR122U203".utf8)
    private static let done: [UInt8] = [0x90, 0x00]

    private let port: Mutex<PN53xPort>

    /// A reader before a field.
    ///
    /// - Parameters:
    ///   - field: what lies before its antenna.
    ///   - faults: what goes wrong on the USB; of ``USBFault`` those that lose, delay, double, cut or replace an answer,
    ///     while the others leave it as it is.
    public init(field: any RadioField, faults: USBFaultPlan = USBFaultPlan()) {
        port = Mutex(PN53xPort(.pn532, field: field, faults: faults))
    }

    /// What was counted so far; commands are counted by the code of the PN532, others as 00.
    public var statistics: USBChipStatistics { port.withLock { $0.statistics } }

    /// Whether the plug was pulled.
    public var isUnplugged: Bool { port.withLock { $0.isUnplugged } }

    /// Gives the next transfer to the host.
    public func nextTransfer() -> [UInt8]? {
        port.withLock { $0.nextTransfer() }
    }

    /// Takes a message from the host and does what it says.
    public func receive(_ transfer: [UInt8]) {
        port.withLock { port in
            guard port.arrives(), !transfer.isEmpty else { return }
            guard let message = CCIDMessage(transfer) else {
                port.complain("a CCID message of \(transfer.count) bytes has another length")
                return
            }
            let command = Self.chipCommand(message.data)
            let fault = port.begin(command?.first ?? 0)
            port.answer(Self.answer(message, command, port.chip, port.line), with: fault)
        }
    }

    private static func answer(
        _ message: CCIDMessage, _ command: [UInt8]?, _ chip: PN532Chip, _ line: TransferLine
    ) -> [UInt8] {
        switch message.kind {
        case CCIDMessage.powerOn: return CCIDMessage.answer(message.sequence, [0x3B, 0x00])
        case CCIDMessage.transfer: break
        default: return CCIDMessage.answer(message.sequence, [], error: 0x00)
        }
        guard let command, let code = command.first else {
            return CCIDMessage.answer(message.sequence, own(message.data))
        }
        line.begin()
        switch chip.carryOut(code, Array(command.dropFirst())) {
        case .answer(let data): return CCIDMessage.answer(message.sequence, [0xD5, code &+ 1] + data + done)
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
