// SPDX-License-Identifier: Apache-2.0

/// One of libnfc's drivers, as its connection strings name it, and what Kazasu must know of it.
///
/// Sources: libnfc 1.8.0, `libnfc/drivers`; the driver list is the one of Debian's build and what can be built.
struct LibNFCFamily: Hashable, Sendable {
    /// The first part of a connection string.
    let name: String
    /// What follows the name.
    let address: Address
    /// Whether time-outs lose 200 ms on the way and errors are numbers of errno: the USB drivers.
    var isUSB: Bool { address == .usb }
    /// The longest raw chip command that the driver sends whole, in bytes from the command code on.
    var longestCommand = 262
    /// The longest FeliCa answer that it passes on unharmed, LEN byte included.
    var longestFeliCaAnswer = 255
    /// The longest response APDU that it passes on unharmed, with its status word. An ACR122 cuts longer ones without
    /// a word, so a READ BINARY asks for F0 bytes at most there.
    var longestResponseAPDU: Int { longestFeliCaAnswer < 255 ? 242 : 258 }

    /// Whether a PN53x chip is behind it. Only then may raw chip commands be sent: libnfc would take another driver's
    /// data for a PN53x's and crash.
    var isPN53x = true
    /// Whether the device file leads to the chip itself, so that an ACK frame written there ends its command. On the
    /// other ones the frame would need a wrapping.
    var reachesChip: Bool { name == "pn532_uart" }
    /// Whether a select that finds no card may end as a time-out of the reader (Debian's patch for the ACR122U).
    var timesOutWithoutCard: Bool { name == "acr122_usb" || name == "usb" }

    /// What a connection string says after the driver's name.
    enum Address: Hashable, Sendable {
        /// Nothing, a bus number, or a bus and a device number.
        case usb
        /// A serial port, and a speed or nothing.
        case serial
        /// Another device file, and a number or nothing.
        case deviceFile
        /// Anything: drivers that Debian does not build.
        case other
    }

    /// Every driver of libnfc. A pseudo APDU's length is one byte, which limits the ACR122 family to commands of 254
    /// bytes; its answers are cut or wrong beyond 14 blocks, 237 bytes (measured with `acr122_usb`; `ACR122S` and
    /// `acr122_pcsc` speak the same protocol and get the same caution).
    static let all: [LibNFCFamily] = [
        LibNFCFamily(name: "pn53x_usb", address: .usb),
        LibNFCFamily(name: "acr122_usb", address: .usb, longestCommand: 254, longestFeliCaAnswer: 242),
        // Any USB reader, so the tightest limits of the two above.
        LibNFCFamily(name: "usb", address: .usb, longestCommand: 254, longestFeliCaAnswer: 242),
        LibNFCFamily(name: "pn532_uart", address: .serial),
        LibNFCFamily(name: "arygon", address: .serial),
        LibNFCFamily(name: "ACR122S", address: .serial, longestCommand: 254, longestFeliCaAnswer: 242),
        LibNFCFamily(name: "pn532_spi", address: .deviceFile),
        LibNFCFamily(name: "pn532_i2c", address: .deviceFile),
        LibNFCFamily(name: "acr122_pcsc", address: .other, longestCommand: 254, longestFeliCaAnswer: 242),
        LibNFCFamily(name: "pcsc", address: .other, isPN53x: false),
        LibNFCFamily(name: "pn71xx", address: .other, isPN53x: false),
    ]
}
