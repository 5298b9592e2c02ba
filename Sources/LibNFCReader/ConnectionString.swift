// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// A libnfc connection string that libnfc can be given without harm.
///
/// libnfc copies it into 1024 bytes, compares driver names as prefixes and takes nearly any text for a path or a
/// speed; what does not parse here never reaches it.
struct ConnectionString: Hashable, Sendable {
    /// The driver that it is for.
    let family: LibNFCFamily
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
        guard let family = LibNFCFamily.all.first(where: { $0.name.lowercased() == name.lowercased() }) else {
            return nil
        }
        guard id.utf8.count <= Self.longest else {
            throw Self.malformed("it is longer than \(Self.longest) bytes")
        }
        guard !id.utf8.contains(0) else { throw Self.malformed("it contains a zero byte") }
        self.family = family
        switch family.address {
        case .usb:
            usbNumbers = try Self.usbNumbers(parts)
            (path, speed) = (nil, nil)
            text = ([family.name] + usbNumbers.map(USBDevice.threeDigits)).joined(separator: ":")
        case .serial, .deviceFile:
            guard let first = parts.first, first.hasPrefix("/") else {
                throw Self.malformed("after \(family.name): comes the path of its device, as in \(family.example)")
            }
            guard parts.count <= 2 else { throw Self.malformed("there is a colon too many") }
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
                throw malformed("a USB reader is named by bus and device number, as in acr122_usb:003:005")
            }
            numbers.append(number)
        }
        guard numbers.count <= 2 else { throw malformed("there is a colon too many") }
        return numbers
    }

    private static func checkSpeed(_ text: String, of family: LibNFCFamily) throws(TransportError) {
        guard let speed = Int(text), speed > 0, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw malformed("the speed is not a number")
        }
        let known = SerialSpeeds.libnfc
        guard family.address != .serial || known.contains(speed) else {
            throw malformed("libnfc knows no speed but \(known.map(String.init).joined(separator: ", "))")
        }
    }

    private static func malformed(_ why: String) -> TransportError {
        .readerUnavailable(reason: .unsupported, detail: "this is no connection string of libnfc: \(why)")
    }
}

extension LibNFCFamily {
    /// A connection string as an example for people.
    fileprivate var example: String {
        switch name {
        case "pn532_spi": "pn532_spi:/dev/spidev0.0:500000"
        case "pn532_i2c": "pn532_i2c:/dev/i2c-1"
        default: "\(name):/dev/ttyUSB0"
        }
    }
}
