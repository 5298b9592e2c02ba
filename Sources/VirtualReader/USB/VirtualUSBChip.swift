// SPDX-License-Identifier: Apache-2.0

/// A simulated reader as the USB sees it: bulk transfers go in, and others come out.
///
/// It works when it is called and never waits, so who asks for a transfer that is not there yet has to decide itself how
/// long that is.
public protocol VirtualUSBChip: AnyObject, Sendable {
    /// Takes one bulk transfer from the host.
    func receive(_ transfer: [UInt8])

    /// Gives one bulk transfer to the host; `nil` when there is none now.
    func nextTransfer() -> [UInt8]?

    /// Whether the plug was pulled: then nothing can be sent or received any more.
    var isUnplugged: Bool { get }

    /// What was counted so far.
    var statistics: USBChipStatistics { get }
}
