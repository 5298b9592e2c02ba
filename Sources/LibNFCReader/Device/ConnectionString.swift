// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// A libnfc connection string that libnfc can be given without harm.
///
/// libnfc copies it into 1024 bytes, compares driver names as prefixes and takes nearly any text for a path or a
/// speed; what does not parse here never reaches it.
struct ConnectionString: Hashable, Sendable {
    /// The driver that it is for.
    let family: ReaderFamily
    /// What libnfc gets: the driver's name in its own spelling, USB numbers with three digits.
    let text: String
    /// The device file to open, for drivers that have one.
    let path: String?
    /// The speed that was asked for, in bits a second, for drivers that have one.
    let speed: Int?
    /// Bus and device number of a USB reader, as far as they were given.
    let usbNumbers: [Int]

    /// The longest text, in bytes, that libnfc's buffer holds beside the final zero.
    static let longest = 1023

    /// Reads a connection string.
    ///
    /// - Returns: `nil` when the text names none of libnfc's drivers.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when it names one but goes on in a way that
    ///   the driver could not use.
    init?(parsing id: String) throws(TransportError) {
        var parts = id.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let name = parts.removeFirst()
        guard let family = ReaderFamily.all.first(where: { $0.name.lowercased() == name.lowercased() }) else {
            return nil
        }
        guard id.utf8.count <= Self.longest else {
            throw Self.malformed(.connectionStringTooLong, "\(Self.longest)")
        }
        guard !id.utf8.contains(0) else { throw Self.malformed(.connectionStringWithZero) }
        self.family = family
        switch family.address {
        case .usb:
            usbNumbers = try Self.usbNumbers(parts)
            (path, speed) = (nil, nil)
            text = ([family.name] + usbNumbers.map(USBDevice.threeDigits)).joined(separator: ":")
        case .serial, .deviceFile:
            guard let first = parts.first, first.hasPrefix("/") else {
                throw Self.malformed(.connectionStringPath, family.name, family.example)
            }
            guard parts.count <= 2 else { throw Self.malformed(.connectionStringWithColon) }
            if parts.count == 2 { try Self.checkSpeed(parts[1], of: family) }
            usbNumbers = []
            path = first
            speed = parts.dropFirst().first.flatMap { Int($0) }
            text = ([family.name] + parts).joined(separator: ":")
        case .other:
            usbNumbers = []
            (path, speed) = (nil, nil)
            text = ([family.name] + parts).joined(separator: ":")
        }
    }

    /// The same driver for a device on the USB.
    func naming(_ device: USBDevice) throws(TransportError) -> ConnectionString {
        let numbers = [device.bus, device.address].map(USBDevice.threeDigits)
        return try ConnectionString(parsing: ([family.name] + numbers).joined(separator: ":")) ?? self
    }

    private static func usbNumbers(_ parts: [String]) throws(TransportError) -> [Int] {
        var numbers: [Int] = []
        for part in parts {
            guard let number = Int(part), (0...999).contains(number), part.utf8.count <= 3 else {
                throw malformed(.connectionStringUSB)
            }
            numbers.append(number)
        }
        guard numbers.count <= 2 else { throw malformed(.connectionStringWithColon) }
        return numbers
    }

    private static func checkSpeed(_ text: String, of family: ReaderFamily) throws(TransportError) {
        guard let speed = Int(text), speed > 0, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw malformed(.connectionStringSpeed)
        }
        let known = SerialSpeeds.libnfc
        guard family.address != .serial || known.contains(speed) else {
            throw malformed(.connectionStringUnknownSpeed, known.map(String.init).joined(separator: ", "))
        }
    }

    private static func malformed(_ code: TransportError.Reason.Code, _ values: String...) -> TransportError {
        .readerUnavailable(reason: .unsupported, detail: .init(code, values: values))
    }
}

extension ReaderFamily {
    /// A connection string as an example for people.
    fileprivate var example: String {
        switch name {
        case "pn532_spi": "pn532_spi:/dev/spidev0.0:500000"
        case "pn532_i2c": "pn532_i2c:/dev/i2c-1"
        default: "\(name):/dev/ttyUSB0"
        }
    }
}

/// One of libnfc's drivers, as its connection strings name it, or another way to a PN53x, and what Kazasu must know of
/// it.
///
/// Sources: libnfc 1.8.0, `libnfc/drivers`; the driver list is the one of Debian's build and what can be built.
struct ReaderFamily: Hashable, Sendable {
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
    var reachesChip: Bool { name == "pn532_uart" || name == "pn532" }
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

    /// A PN532 on a serial port, driven without libnfc.
    static let pn532 = ReaderFamily(name: "pn532", address: .serial)

    /// Every driver of libnfc. A pseudo APDU's length is one byte, which limits the ACR122 family to commands of 254
    /// bytes; its answers are cut or wrong beyond 14 blocks, 237 bytes (measured with `acr122_usb`; `ACR122S` and
    /// `acr122_pcsc` speak the same protocol and get the same caution).
    static let all: [ReaderFamily] = [
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
}
