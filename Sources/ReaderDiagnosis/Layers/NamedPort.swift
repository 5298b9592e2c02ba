// SPDX-License-Identifier: Apache-2.0

internal import SystemDevices

/// A connection string of libnfc's, as far as it can be checked without libnfc.
struct NamedPort: Hashable {
    /// libnfc's driver.
    let driver: String
    /// The device file, for drivers that have one.
    let path: String?
    /// The speed, as it stands there.
    let speed: String?

    /// The drivers that libnfc 1.8.0 as Debian builds it has.
    private static let known = [
        "acr122_usb", "acr122s", "arygon", "pn53x_usb", "pn532_uart", "pn532_spi", "pn532_i2c", "usb",
    ]
    private static let serial = ["acr122s", "arygon", "pn532_uart"]

    init(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        driver = parts.first?.lowercased() ?? ""
        path = parts.dropFirst().first.flatMap { $0.hasPrefix("/") ? $0 : nil }
        speed = path == nil ? nil : parts.dropFirst(2).first
    }

    var isKnown: Bool { Self.known.contains(driver) }

    var isSerial: Bool { path != nil && Self.serial.contains(driver) }

    /// A speed that libnfc does not know.
    var wrongSpeed: String? {
        guard isSerial, let speed, !SerialSpeeds.libnfc.map(String.init).contains(speed) else { return nil }
        return speed
    }
}
