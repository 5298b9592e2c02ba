// SPDX-License-Identifier: Apache-2.0

/// A USB reader that libnfc knows.
///
/// Source: libnfc 1.8.0, the device tables of `pn53x_usb.c` and `acr122_usb.c`.
struct USBReaderModel: Hashable, Sendable {
    /// The vendor's number.
    let vendor: UInt16
    /// The product's number.
    let product: UInt16
    /// What people call it.
    let name: String
    /// libnfc's driver for it.
    let driver: String

    /// Every model.
    static let all: [USBReaderModel] = [
        USBReaderModel(vendor: 0x04CC, product: 0x0531, name: "Philips PN531", driver: "pn53x_usb"),
        USBReaderModel(vendor: 0x054C, product: 0x0193, name: "Sony PN531", driver: "pn53x_usb"),
        USBReaderModel(vendor: 0x04CC, product: 0x2533, name: "NXP PN533", driver: "pn53x_usb"),
        USBReaderModel(vendor: 0x04E6, product: 0x5591, name: "SCM SCL3711", driver: "pn53x_usb"),
        USBReaderModel(vendor: 0x04E6, product: 0x5594, name: "SCM SCL3712", driver: "pn53x_usb"),
        USBReaderModel(vendor: 0x1FD3, product: 0x0608, name: "ASK LoGO", driver: "pn53x_usb"),
        USBReaderModel(
            vendor: 0x054C, product: 0x02E1, name: "Sony RC-S330, RC-S360 or RC-S370", driver: "pn53x_usb"),
        USBReaderModel(vendor: 0x072F, product: 0x2200, name: "ACS ACR122U", driver: "acr122_usb"),
        USBReaderModel(vendor: 0x072F, product: 0x90CC, name: "Touchatag", driver: "acr122_usb"),
        USBReaderModel(vendor: 0x072F, product: 0x2214, name: "ACS ACR1222", driver: "acr122_usb"),
    ]
}
