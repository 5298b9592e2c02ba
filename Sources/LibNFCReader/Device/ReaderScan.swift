// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// Combines libnfc's list, sysfs and the serial ports. Nothing is opened except by libnfc's own scan of USB readers.
struct ReaderScan: Sendable {
    /// The paths to search.
    let paths: SystemPaths

    /// The readers: libnfc's own list first, in its order.
    ///
    /// - Parameters:
    ///   - listed: the connection strings that libnfc lists. It obeys its configuration and environment, so a usable
    ///     reader that is not in the list is not wanted; one that cannot be used is added with the reason.
    ///   - findsUSB: whether libnfc was to look for USB readers. It does not see those that a kernel driver holds,
    ///     which are added then.
    func run(listed: [String], findsUSB: Bool = true) -> [ReaderListing] {
        let onUSB = USBReaderScan(paths: paths).run()
        var listings = listed.map { listing(of: $0, onUSB) }
        for reader in onUSB where !listings.contains(where: { $0.id == reader.id }) {
            guard reader.state != .ready || findsUSB && reader.kernelDriver != nil else { continue }
            listings.append(ReaderListing(id: reader.id, name: reader.model.name, state: reader.state))
        }
        for name in Directory.names(in: paths.devices) where name.hasPrefix("ttyUSB") || name.hasPrefix("ttyACM") {
            let path = "\(paths.devices)/\(name)"
            guard !listed.contains(where: { Self.path(in: $0) == path }) else { continue }
            listings.append(ReaderListing(id: "pn532_uart:\(path)", state: state(at: path)))
        }
        return listings
    }

    private func listing(of id: String, _ onUSB: [USBReaderScan.Found]) -> ReaderListing {
        // libnfc finds no serial port by itself, as long as nobody lets it try them all.
        if let path = Self.path(in: id) { return ReaderListing(id: id, state: state(at: path), isConfigured: true) }
        let reader = onUSB.first { $0.id == id }
        return ReaderListing(id: id, name: reader?.model.name, state: reader?.state ?? .ready)
    }

    private func state(at path: String) -> ReaderListing.State {
        Directory.obstacle(at: path).map { .unavailable($0.reason, detail: $0.detail) } ?? .unknown
    }

    private static func path(in id: String) -> String? {
        (try? ConnectionString(parsing: id))?.path
    }
}

/// The connected USB readers that libnfc supports, from sysfs. Nothing is opened, so this also finds readers that
/// libnfc omits because it has no permission or another program holds them.
struct USBReaderScan: Sendable {
    /// One reader.
    struct Found: Hashable, Sendable {
        let model: ReaderModel
        /// libnfc's driver for it.
        let driver: String
        let device: USBDevice
        /// Whether it can be opened.
        let state: ReaderListing.State

        var numbers: [Int] { [device.bus, device.address] }

        /// The reader's connection string.
        var id: String { ([driver] + numbers.map(USBDevice.threeDigits)).joined(separator: ":") }

        /// The kernel driver that holds the reader and releases it for as long as it is open.
        var kernelDriver: String? {
            device.interfaces.compactMap(\.driver).first { $0 != USBInterface.deviceFileDriver }
        }
    }

    /// The paths to search.
    let paths: SystemPaths

    /// Returns the connected readers, by sysfs name.
    func run() -> [Found] {
        USBDevice.all(paths).compactMap { device in
            guard let model = ReaderModel(of: device), let driver = model.driver, ReaderFamily(libnfc: driver) != nil
            else { return nil }
            return Found(model: model, driver: driver, device: device, state: state(of: device))
        }
    }

    private func state(of device: USBDevice) -> ReaderListing.State {
        if let obstacle = device.obstacle { return .unavailable(obstacle.reason, detail: obstacle.detail) }
        guard device.interfaces.contains(where: { $0.driver == USBInterface.deviceFileDriver }) else { return .ready }
        return .unavailable(.busy, detail: .init(.heldByProgramOrService))
    }
}
