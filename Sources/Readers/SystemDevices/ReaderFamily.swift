// SPDX-License-Identifier: Apache-2.0

/// One of libnfc's drivers, as named in its connection strings, or another way to a PN53x, and its known limits.
///
/// Sources: libnfc 1.8.0, `libnfc/drivers`; the driver list is that of Debian's build and the drivers that can be
/// built.
package struct ReaderFamily: Hashable, Sendable {
    /// The first part of a connection string.
    package let name: String
    /// The kind of address after the name.
    package let address: Address
    /// Whether time-outs lose 200 ms on the way and errors are errno values: the USB drivers.
    package var isUSB: Bool { address == .usb }
    /// The longest raw chip command that the driver sends whole, in bytes starting with the command code.
    package let longestCommand: Int
    /// The longest FeliCa answer that it delivers intact, LEN byte included.
    package let longestFeliCaAnswer: Int
    /// The longest response APDU that it delivers intact, with its status word. An ACR122 silently truncates longer
    /// ones, so a READ BINARY asks for F0 bytes at most there. Without libnfc, a PN532 gives longer ones in parts.
    package var longestResponseAPDU: Int {
        if self == .pn532 { return 65_538 }
        // 261-byte message − 2 (D5 xx) − 1 (status) − 2 (SW).
        if self == .acr122 { return 256 }
        return longestFeliCaAnswer < 255 ? 242 : 258
    }

    /// The longest command APDU that it carries: every short one, and without libnfc longer ones, in parts that together are
    /// no longer than four commands of the chip.
    package var longestCommandAPDU: Int { self == .pn532 ? 1024 : 261 }

    /// Whether a PN53x chip is behind it. Only then are raw chip commands allowed: libnfc would take another driver's
    /// data for a PN53x's and crash.
    package let isPN53x: Bool
    /// Whether the device file leads to the chip itself, so that an ACK frame written there ends its command. On the
    /// other ones the frame would need a wrapping.
    package var reachesChip: Bool { name == "pn532_uart" || name == "pn532" }
    /// Whether a select that finds no card may end as a time-out of the reader (Debian's patch for the ACR122U).
    package var timesOutWithoutCard: Bool { ["acr122_usb", "usb", "acr122"].contains(name) }

    /// Whether the driver returns its last error, whatever that was, instead of a time-out (1.8.0,
    /// `drivers/pn532_i2c.c`: `pn532_i2c_receive` does not keep the result of its wait; `pn532_spi_receive` does).
    package var forgetsTimeouts: Bool { name == "pn532_i2c" }

    /// The part of a connection string after the driver's name.
    package enum Address: Hashable, Sendable {
        /// Nothing, a bus number, or a bus and a device number.
        case usb
        /// A serial port, with an optional speed.
        case serial
        /// Another device file, with an optional number.
        case deviceFile
        /// Anything: drivers that Debian does not build.
        case other
    }

    /// A PN532 on a serial port, driven without libnfc.
    package static let pn532 = ReaderFamily(name: "pn532", address: .serial)

    /// An ACR122U, driven without libnfc: a pseudo APDU still carries 254 bytes of a command at most, and answers come
    /// whole.
    package static let acr122 = ReaderFamily(name: "acr122", address: .usb, longestCommand: 254)

    /// Every driver of libnfc. A pseudo APDU's length is one byte, which limits the ACR122 family to commands of 254
    /// bytes; its answers are cut or wrong beyond 14 blocks, 237 bytes (measured with `acr122_usb`; `ACR122S` and
    /// `acr122_pcsc` use the same protocol and get the same limit).
    package static let all: [ReaderFamily] = [
        ReaderFamily(name: "pn53x_usb", address: .usb),
        ReaderFamily(name: "acr122_usb", address: .usb, longestCommand: 254, longestFeliCaAnswer: 242),
        // Any USB reader, so the tightest limits of the two above.
        ReaderFamily(name: "usb", address: .usb, longestCommand: 254, longestFeliCaAnswer: 242),
        ReaderFamily(name: "pn532_uart", address: .serial),
        ReaderFamily(name: "arygon", address: .serial),
        ReaderFamily(name: "ACR122S", address: .serial, longestCommand: 254, longestFeliCaAnswer: 242),
        ReaderFamily(name: "pn532_spi", address: .deviceFile),
        ReaderFamily(name: "pn532_i2c", address: .deviceFile),
        ReaderFamily(name: "acr122_pcsc", address: .other, longestCommand: 254, longestFeliCaAnswer: 242),
        ReaderFamily(name: "pcsc", address: .other, isPN53x: false),
        ReaderFamily(name: "pn71xx", address: .other, isPN53x: false),
    ]

    /// Returns the driver with this name, ignoring case like libnfc; `nil` when libnfc has none.
    package init?(libnfc name: some StringProtocol) {
        guard let family = Self.all.first(where: { $0.name.lowercased() == name.lowercased() }) else { return nil }
        self = family
    }

    private init(
        name: String, address: Address, longestCommand: Int = 262, longestFeliCaAnswer: Int = 255, isPN53x: Bool = true
    ) {
        self.name = name
        self.address = address
        self.longestCommand = longestCommand
        self.longestFeliCaAnswer = longestFeliCaAnswer
        self.isPN53x = isPN53x
    }
}

/// The speeds of serial lines.
package enum SerialSpeeds {
    /// The speeds that libnfc's serial code supports (1.8.0, `libnfc/buses/uart.c`), in bits per second. With any other
    /// number it continues at a speed that was not requested.
    package static let libnfc = [9600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800]
}
