// SPDX-License-Identifier: Apache-2.0

/// An ACR122U: a PN532 whose commands travel as APDUs in CCID messages.
///
/// Behaviour as libnfc 1.8.0 (`libnfc/drivers/acr122_usb.c`) and nfcpy (`nfc/clf/acr122.py`) need it, and as traces in
/// libnfc's issues 532, 666 and 476 show it.
public final class VirtualACR122: VirtualUSBChip {
    private let shell: USBShell<ACR122Firmware>

    /// A reader before a field.
    ///
    /// - Parameters:
    ///   - field: what lies before its antenna.
    ///   - faults: what goes wrong on the USB; of ``USBFault`` those that lose, delay, double, cut or replace an answer,
    ///     while the others leave it as it is.
    ///   - isCopy: whether it answers with data and the error byte of a silent card, as a copy was seen to.
    public init(field: any RadioField, faults: USBFaultPlan = USBFaultPlan(), isCopy: Bool = false) {
        shell = USBShell(ACR122Firmware(field, errorByte: isCopy ? 0xFE : 0x81), field, faults)
    }

    /// What was counted so far; commands are counted by the code of the PN532, others as 00.
    public var statistics: USBChipStatistics { shell.statistics }

    /// Whether the plug was pulled.
    public var isUnplugged: Bool { shell.isUnplugged }

    /// Gives the next transfer to the host.
    public func nextTransfer() -> [UInt8]? {
        shell.nextTransfer()
    }

    /// Takes a message from the host and does what it says.
    public func receive(_ transfer: [UInt8]) {
        shell.receive(transfer)
    }
}
