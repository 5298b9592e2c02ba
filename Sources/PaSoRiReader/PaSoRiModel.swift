// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// A kind of PaSoRi: how it shows itself on the USB, and what drives its chip.
struct PaSoRiModel: Sendable {
    /// Sony's USB vendor number.
    static let vendor: UInt16 = 0x054C

    /// How its IDs begin.
    let kind: String
    /// What people call each product number.
    let products: [UInt16: String]
    /// The class of the interface that is used: FF, the vendor's own.
    let interfaceClass: UInt8
    /// Brings the reader at the other end of a link to a known state; what throws has not closed the link.
    let open: @Sendable (any USBLink, ReaderInformation, CancellationToken) throws(TransportError) -> any Reader

    /// Whether a device is of this kind.
    func includes(_ device: USBDevice) -> Bool {
        device.vendor == Self.vendor && products[device.product] != nil
    }
}

extension PaSoRiModel: Hashable {
    static func == (left: PaSoRiModel, right: PaSoRiModel) -> Bool { left.kind == right.kind }

    func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}
