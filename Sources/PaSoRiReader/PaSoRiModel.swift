// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices
internal import USBTransport

/// A kind of PaSoRi: how it shows itself on the USB, and what drives its chip.
struct PaSoRiModel: Sendable {
    /// How its IDs begin, and what the table of readers calls its driver.
    let kind: String
    /// The class of the interface that is used: FF, the vendor's own.
    let interfaceClass: UInt8
    /// Brings the reader at the other end of a link to a known state; what throws has not closed the link.
    let open: @Sendable (any USBLink, ReaderInformation, CancellationToken) throws(TransportError) -> any Reader

    /// Whether a device is of this kind.
    func includes(_ device: USBDevice) -> Bool {
        ReaderModel(of: device)?.driver == kind
    }

    /// What people call a device of this kind.
    func name(of device: USBDevice) -> String {
        ReaderModel(of: device)?.name ?? kind
    }
}
