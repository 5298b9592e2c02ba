// SPDX-License-Identifier: Apache-2.0

/// An RC-S330, RC-S360 or RC-S370: PN53x frames as they are over two bulk endpoints.
///
/// Behaviour as libnfc 1.8.0 (`libnfc/drivers/pn53x_usb.c`) and nfcpy (`nfc/clf/rcs956.py`) need it; Sony publishes no
/// manual.
public final class VirtualRCS330: VirtualUSBChip {
    /// What a reader's predecessors have left it in.
    public enum Condition: Hashable, Sendable {
        /// It was just plugged in, or reset.
        case well
        /// A program found a FeliCa card and did not reset it: it needs a reset of the USB port.
        case stuckUntilReset
        /// The same, and only plugging it in again helps.
        case stuckUntilReplugged
    }

    private let shell: USBShell<RCS330Firmware>

    /// A reader before a field.
    ///
    /// - Parameters:
    ///   - field: what lies before its antenna.
    ///   - condition: how it begins.
    ///   - faults: what goes wrong on the USB; of ``USBFault`` those that lose, delay, double, cut or replace an answer,
    ///     while the others leave it as it is.
    public init(
        field: any RadioField, faults: USBFaultPlan = USBFaultPlan(), condition: Condition = .well
    ) {
        shell = USBShell(RCS330Firmware(field, condition), field, faults)
    }

    /// What was counted so far.
    public var statistics: USBChipStatistics { shell.statistics }

    /// Whether the plug was pulled.
    public var isUnplugged: Bool { shell.isUnplugged }

    /// Configures the device (SET_CONFIGURATION), with which programs begin.
    public func configure() {
        shell.withFirmware { $0.configure() }
    }

    /// Resets the device on its USB port.
    public func reset() {
        shell.withFirmware { $0.reset() }
    }

    /// Gives the next transfer to the host.
    public func nextTransfer() -> [UInt8]? {
        shell.nextTransfer()
    }

    /// Takes a frame from the host and does what it says.
    public func receive(_ transfer: [UInt8]) {
        shell.receive(transfer)
    }
}
