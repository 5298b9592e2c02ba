// SPDX-License-Identifier: Apache-2.0

/// A USB device as described by sysfs. Nothing is opened, so devices that the user is not allowed to open are found
/// too.
///
/// Source: the kernel's `Documentation/ABI/stable/sysfs-bus-usb`.
package struct USBDevice: Hashable, Sendable {
    /// The vendor's number.
    package let vendor: UInt16
    /// The product's number.
    package let product: UInt16
    /// The number of the bus, from 1.
    package let bus: Int
    /// The device's number on its bus; different each time that it is plugged in.
    package let address: Int
    /// The ports that lead to it, as `1-1.3`: the same each time that it is plugged in there.
    package let portPath: String
    /// Its serial number, when it has one that can be typed: printable ASCII without spaces. Copies can have any value
    /// there.
    package let serial: String?
    /// The device's own name, if any; control characters, which could trick a terminal, are replaced.
    package let name: String?
    /// Its release (bcdDevice), as 0x0203 for 2.03; many readers have their firmware's version here.
    package let release: UInt16?
    /// The interfaces of its current configuration, in the order of their numbers.
    package let interfaces: [USBInterface]
    /// The device file.
    package let node: String

    /// Returns the connected devices, in the order of their port paths.
    package static func all(_ paths: SystemPaths = SystemPaths()) -> [USBDevice] {
        let names = Directory.names(in: paths.usbDescriptions)
        return names.filter { !$0.contains(":") }.compactMap { USBDevice($0, among: names, paths) }
    }

    private init?(_ portPath: String, among names: [String], _ paths: SystemPaths) {
        let description = "\(paths.usbDescriptions)/\(portPath)"
        guard let vendor = Self.number(in: description, "idVendor", radix: 16).flatMap({ UInt16(exactly: $0) }),
            let product = Self.number(in: description, "idProduct", radix: 16).flatMap({ UInt16(exactly: $0) }),
            let bus = Self.number(in: description, "busnum", radix: 10),
            let address = Self.number(in: description, "devnum", radix: 10)
        else { return nil }
        self.vendor = vendor
        self.product = product
        self.bus = bus
        self.address = address
        self.portPath = portPath
        serial = Self.text(in: description, "serial").flatMap { text in
            text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
        }
        name = Self.text(in: description, "product").map(Self.withoutControls)
        release = Self.number(in: description, "bcdDevice", radix: 16).flatMap { UInt16(exactly: $0) }
        node = "\(paths.usbDevices)/\(Self.threeDigits(bus))/\(Self.threeDigits(address))"
        // An interface, such as 1-1.3:1.0, is listed beside its device.
        interfaces = names.filter { $0.hasPrefix("\(portPath):") }.map { name in
            let description = "\(paths.usbDescriptions)/\(name)"
            return USBInterface(
                number: Self.number(in: description, "bInterfaceNumber", radix: 16) ?? 0,
                classCode: Self.number(in: description, "bInterfaceClass", radix: 16).flatMap { UInt8(exactly: $0) },
                driver: Directory.linkName(of: "\(description)/driver"))
        }
    }

    /// Why its device file could not be opened, or `nil` when it can be.
    package var obstacle: DeviceNodeError? { Directory.obstacle(at: node) }

    /// Returns the serial number, when no other device has the same.
    ///
    /// - Parameter devices: the devices to compare with, itself included.
    package func ownSerial(among devices: [USBDevice]) -> String? {
        guard let serial, devices.count(where: { $0.serial == serial }) == 1 else { return nil }
        return serial
    }

    private static func number(in description: String, _ file: String, radix: Int) -> Int? {
        Directory.line(of: "\(description)/\(file)").flatMap { Int($0, radix: radix) }
    }

    private static func text(in description: String, _ file: String) -> String? {
        Directory.line(of: "\(description)/\(file)").flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func withoutControls(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        return String(scalars)
    }

    /// A bus or device number as in device files: three digits at least.
    package static func threeDigits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 3 - digits.utf8.count)) + digits
    }
}

/// An interface of a USB device as described by sysfs.
package struct USBInterface: Hashable, Sendable {
    /// The driver of an interface that a program holds through the device file, as libusb does.
    package static let deviceFileDriver = "usbfs"

    package let number: Int
    /// Its class, such as 0B for a chip card reader and FF for vendor-specific.
    package let classCode: UInt8?
    /// The kernel driver that holds it; ``deviceFileDriver`` when a program does.
    package let driver: String?

    package init(number: Int, classCode: UInt8?, driver: String?) {
        self.number = number
        self.classCode = classCode
        self.driver = driver
    }
}
