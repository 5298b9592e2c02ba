// SPDX-License-Identifier: Apache-2.0

/// An RC-S380 ("NFC Port-100") between the USB and a field.
///
/// Behaviour as nfcpy 1.0.4 and the kernel's `drivers/nfc/port100.c` need it and as they accept it; Sony publishes no
/// manual. What a host does that is not known to be allowed is in the statistics as a complaint.
public final class VirtualPort100: VirtualUSBChip {
    private let shell: USBShell<Port100Firmware>

    /// A reader before a field.
    public init(field: any RadioField, faults: USBFaultPlan = USBFaultPlan()) {
        shell = USBShell(Port100Firmware(field), field, faults)
    }

    /// What was counted so far.
    public var statistics: USBChipStatistics { shell.statistics }

    /// Whether the plug was pulled.
    public var isUnplugged: Bool { shell.isUnplugged }

    /// Pulls the plug: cards lose their power.
    public func unplug() {
        shell.unplug()
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
