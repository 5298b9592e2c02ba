// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import SystemDevices

/// Combines the readers of libnfc's settings, sysfs and the serial ports. Nothing is opened: libnfc's own list configures
/// every USB reader that it knows, also one that a kernel driver holds.
struct ReaderScan: Sendable {
    /// The paths to search.
    let paths: SystemPaths

    /// The readers: those of the settings first, in their order.
    func run(_ configuration: LibNFCConfiguration) -> [ReaderListing] {
        let onUSB = USBReaderScan(paths: paths).run()
        var listings: [ReaderListing] = []
        for device in configuration.devices {
            let listing = listing(of: device.connectionString, onUSB)
            if device.isOptional, case .unavailable(.absent, _) = listing.state { continue }
            if !listings.contains(where: { $0.id == listing.id }) { listings.append(listing) }
        }
        for reader in onUSB where !listings.contains(where: { $0.id == reader.id }) {
            // A usable reader is not wanted when the settings hide it; another one is listed with the reason.
            guard reader.state != .ready || configuration.findsUSB else { continue }
            listings.append(ReaderListing(id: reader.id, name: reader.model.name, state: reader.state))
        }
        let ports = configuration.devices.compactMap { Self.parsed($0.connectionString)?.path }
        for name in Directory.names(in: paths.devices) where name.hasPrefix("ttyUSB") || name.hasPrefix("ttyACM") {
            let path = "\(paths.devices)/\(name)"
            guard !ports.contains(path) else { continue }
            listings.append(ReaderListing(id: "pn532_uart:\(path)", state: state(at: path)))
        }
        return listings
    }

    private func listing(of id: String, _ onUSB: [USBReaderScan.Found]) -> ReaderListing {
        guard let named = Self.parsed(id) else { return ReaderListing(id: id, state: .ready) }
        if let path = named.path { return ReaderListing(id: id, state: state(at: path), isConfigured: true) }
        guard named.family.address == .usb else { return ReaderListing(id: id, state: .ready) }
        let readers = onUSB.filter(named.names)
        guard let reader = readers.first(where: { $0.state == .ready }) ?? readers.first else {
            return ReaderListing(
                id: named.text, state: .unavailable(.absent, detail: .init(.libnfcFindsNone, named.text)),
                isConfigured: true)
        }
        return ReaderListing(id: reader.id, name: reader.model.name, state: reader.state)
    }

    private func state(at path: String) -> ReaderListing.State {
        Directory.obstacle(at: path).map { .unavailable($0.reason, detail: $0.detail) } ?? .unknown
    }

    private static func parsed(_ id: String) -> ConnectionString? {
        try? ConnectionString(parsing: id)
    }
}

/// What libnfc's files and environment say about readers, as its `nfc_context_new` reads them (1.8.0).
struct LibNFCConfiguration: Sendable {
    /// The named readers.
    var devices: [LibNFCSettings.Device] = []
    /// Whether libnfc is to look for USB readers.
    var findsUSB = true

    init(devices: [LibNFCSettings.Device], findsUSB: Bool = true) {
        (self.devices, self.findsUSB) = (devices, findsUSB)
    }

    /// Reads the settings; a variable that names one reader hides the others.
    init(_ settings: LibNFCSettings = LibNFCSettings(), environment: (String) -> String?) {
        findsUSB = environment("LIBNFC_AUTO_SCAN").flatMap(LibNFCSettings.boolean) ?? settings.allowsAutoscan
        if let only = environment("LIBNFC_DEVICE") {
            (devices, findsUSB) = ([LibNFCSettings.Device(connectionString: only)], false)
            return
        }
        let first = environment("LIBNFC_DEFAULT_DEVICE").map { LibNFCSettings.Device(connectionString: $0) }
        devices = Array(((first.map { [$0] } ?? []) + settings.devices).prefix(LibNFCSettings.mostDevices))
    }
}

/// The connected USB readers that libnfc supports, from sysfs. Nothing is opened, so this also finds readers that
/// the user may not open or another program holds.
struct USBReaderScan: Sendable {
    /// One reader.
    struct Found: Hashable, Sendable {
        let model: ReaderModel
        /// libnfc's driver for it.
        let driver: String
        let device: USBDevice
        /// What names it also after it was plugged in again.
        let selector: USBSelector
        /// Whether it can be opened.
        let state: ReaderListing.State

        var numbers: [Int] { [device.bus, device.address] }

        /// The reader's ID, the same each time that it is plugged in.
        var id: String { selector.id(of: driver) }

        /// The reader's connection string, for libnfc; another one each time that it is plugged in.
        var connectionString: String {
            ([driver] + numbers.map(USBDevice.threeDigits)).joined(separator: ":")
        }

        /// The same reader as found again on the USB.
        func at(_ device: USBDevice) -> Found {
            Found(model: model, driver: driver, device: device, selector: selector, state: state)
        }

        /// The kernel driver that holds the reader and releases it for as long as it is open.
        var kernelDriver: String? {
            device.interfaces.compactMap(\.driver).first { $0 != USBInterface.deviceFileDriver }
        }
    }

    /// The paths to search.
    let paths: SystemPaths

    /// Returns the connected readers, by sysfs name.
    func run() -> [Found] {
        let readers = USBDevice.all(paths).compactMap {
            device -> (model: ReaderModel, driver: String, device: USBDevice)? in
            guard let model = ReaderModel(of: device), let driver = model.driver, ReaderFamily(libnfc: driver) != nil
            else { return nil }
            return (model, driver, device)
        }
        return readers.map { reader in
            let peers = readers.filter { $0.driver == reader.driver }.map(\.device)
            return Found(
                model: reader.model, driver: reader.driver, device: reader.device,
                selector: USBSelector(reader.device, among: peers), state: state(of: reader.device))
        }
    }

    private func state(of device: USBDevice) -> ReaderListing.State {
        if let obstacle = device.obstacle { return .unavailable(obstacle.reason, detail: obstacle.detail) }
        guard device.interfaces.contains(where: { $0.driver == USBInterface.deviceFileDriver }) else { return .ready }
        return .unavailable(.busy, detail: .init(.heldByProgramOrService))
    }
}
