// SPDX-License-Identifier: Apache-2.0

/// An RC-S300 ("NFC Port-400") between the vendor's USB interface and a field.
///
/// Behaviour as logs of real readers have it (EspUsbHost, simple-attendance-with-pasori, ezsign-nfc-tools), for the rest as
/// felica-rs, pasorich and esp32-pasori-rcs300 need it; Sony publishes no manual of the vendor interface. What a host does
/// that is not known to be allowed is in the statistics as a complaint.
public final class VirtualPort400: VirtualUSBChip {
    private let shell: USBShell<Port400Firmware>

    /// A reader before a field.
    ///
    /// - Parameter hasOrphan: whether a program that was killed left a session behind.
    public init(
        field: any RadioField, faults: USBFaultPlan = USBFaultPlan(), behavior: Port400Behavior = Port400Behavior(),
        hasOrphan: Bool = false
    ) {
        shell = USBShell(Port400Firmware(field, behavior, hasOrphan: hasOrphan), field, faults)
    }

    /// What was counted so far; commands are counted by the second parameter of their header where the instruction is 50 or C2,
    /// else by the instruction.
    public var statistics: USBChipStatistics { shell.statistics }

    /// Whether the plug was pulled.
    public var isUnplugged: Bool { shell.isUnplugged }

    /// Pulls the plug: cards lose their power.
    public func unplug() {
        shell.unplug()
    }

    /// Ends the host's session, as a reader may do in which nothing happens for long; nobody says whether it does.
    public func endSession() {
        shell.withFirmware { $0.endSession() }
    }

    /// Gives the next transfer to the host.
    public func nextTransfer() -> [UInt8]? {
        shell.nextTransfer()
    }

    /// Takes a message from the host and does what it says.
    public func receive(_ transfer: [UInt8]) {
        shell.receive(transfer)
    }
}
