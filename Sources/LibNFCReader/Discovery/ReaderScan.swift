// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// Puts together what libnfc lists, what sysfs shows and which serial ports there are. Nothing is opened but by
/// libnfc's own look at USB readers.
struct ReaderScan: Sendable {
    /// Where to look.
    let paths: SystemPaths

    /// The readers: libnfc's own list first, in its order.
    ///
    /// - Parameters:
    ///   - listed: the connection strings that libnfc lists. It obeys its configuration and environment, so a
    ///     reader that could be used but is not in there is not wanted; one that cannot be used is added with the
    ///     reason.
    ///   - findsUSB: whether libnfc was to look for USB readers. It does not see those that a kernel driver holds, which
    ///     are added then.
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
