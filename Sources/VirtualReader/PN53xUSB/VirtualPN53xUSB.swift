// SPDX-License-Identifier: Apache-2.0

/// An RC-S330, RC-S360 or RC-S370, or an SCL3711: PN53x frames as they are over two bulk endpoints.
///
/// Behaviour as libnfc 1.8.0 (`libnfc/drivers/pn53x_usb.c`) and nfcpy (`nfc/clf/rcs956.py`) need it; Sony publishes no
/// manual.
public final class VirtualPN53xUSB: VirtualUSBChip {
    /// Which reader it is.
    public enum Model: Hashable, Sendable {
        /// An RC-S330, RC-S360 or RC-S370, whose chip is an RC-S956.
        case rcs330
        /// An SCL3711, whose chip is a PN533.
        case scl3711
    }

    /// What an RC-S330's predecessors have left it in.
    public enum Condition: Hashable, Sendable {
        /// It was just plugged in, or reset.
        case well
        /// A program found a FeliCa card and did not reset it: it needs a reset of the USB port.
        case stuckUntilReset
        /// The same, and only plugging it in again helps.
        case stuckUntilReplugged
    }

    private let shell: USBShell<PN53xUSBFirmware>

    /// A reader before a field.
    ///
    /// - Parameters:
    ///   - field: what lies before its antenna.
    ///   - condition: how it begins.
    ///   - faults: what goes wrong on the USB; of ``USBFault`` those that lose, delay, double, cut or replace an answer,
    ///     while the others leave it as it is.
    public init(
        _ model: Model = .rcs330, field: any RadioField, faults: USBFaultPlan = USBFaultPlan(),
        condition: Condition = .well
    ) {
        shell = USBShell(PN53xUSBFirmware(model == .rcs330 ? .rcs956 : .pn533, field, condition), field, faults)
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
