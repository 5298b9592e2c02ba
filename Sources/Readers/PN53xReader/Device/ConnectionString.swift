// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import SystemDevices

/// A libnfc connection string that is safe to pass to libnfc, or a USB reader by its port or serial number, as in
/// `acr122_usb:port=1-1.3`, which libnfc does not know.
///
/// libnfc copies it into 1024 bytes, compares driver names as prefixes and accepts nearly any text as a path or a
/// speed; a string that does not parse here never reaches it.
struct ConnectionString: Hashable, Sendable {
    /// The driver named by the string.
    let family: ReaderFamily
    /// The text for libnfc: the driver's name in its own spelling, USB numbers with three digits. Never passed to it with a
    /// ``selector``.
    let text: String
    /// The device file to open, for drivers that have one.
    let path: String?
    /// The requested speed, in bits per second, for drivers that have one.
    let speed: Int?
    /// Bus and device number of a USB reader, where given.
    let usbNumbers: [Int]
    /// The port or serial number of a USB reader, where given.
    let selector: USBSelector

    /// The longest text, in bytes, that fits libnfc's buffer beside the final zero.
    static let longest = 1023

    /// Parses a connection string.
    ///
    /// - Returns: `nil` when the text names none of libnfc's drivers.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when it names one but the rest is not valid for
    ///   the driver.
    init?(parsing id: String) throws(TransportError) {
        var parts = id.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let name = parts.removeFirst()
        guard let family = ReaderFamily(libnfc: name) else { return nil }
        guard id.utf8.count <= Self.longest else {
            throw Self.malformed(.connectionStringTooLong, "\(Self.longest)")
        }
        guard !id.utf8.contains(0) else { throw Self.malformed(.connectionStringWithZero) }
        self.family = family
        if family.address == .usb, let rest = parts.first, rest.contains("=") {
            selector = try USBSelector(parsing: id.dropFirst(name.utf8.count + 1), kind: family.name)
            (usbNumbers, path, speed) = ([], nil, nil)
            text = selector.id(of: family.name)
            return
        }
        selector = .any
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

    /// Whether it names a USB reader: by driver, and by bus and device, port or serial number where it has these.
    func names(_ reader: USBReaderScan.Found) -> Bool {
        family.address == .usb && (family.name == "usb" || family.name == reader.driver)
            && reader.numbers.starts(with: usbNumbers) && selector.names(reader.device)
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
    /// An example connection string for display.
    fileprivate var example: String {
        switch name {
        case "pn532_spi": "pn532_spi:/dev/spidev0.0:500000"
        case "pn532_i2c": "pn532_i2c:/dev/i2c-1"
        default: "\(name):/dev/ttyUSB0"
        }
    }
}
