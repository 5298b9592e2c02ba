// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PN53xReader
package import ReaderCore
internal import PCSCReader
internal import PaSoRiReader
internal import ReaderDiagnosis
internal import Synchronization
internal import SystemDevices
internal import SystemPackage
internal import USBTransport

/// The drivers of real and simulated readers.
///
/// Readers are listed, and the first ready one is chosen, in this order.
package enum ReaderRegistry {
    private static func drivers(_ recorder: LinkRecorder? = nil) -> [any ReaderDriver] {
        [
            PaSoRiDriver(recorder: recorder), LibNFCDriver(recorder: recorder), PN532Driver(recorder: recorder),
            ACR122Driver(recorder: recorder), PCSCDriver(recorder: recorder),
        ]
    }

    /// What may hang: each driver, by its index in ``drivers(_:)``.
    private static let calls = drivers().map { _ in BoundedCalls() }
    private static let limit = Mutex(Duration.seconds(4))

    /// How long a driver may take to answer: pcscd may have to be started, but a server's clients wait less long.
    package static var answering: Duration {
        get { limit.withLock { $0 } }
        set { limit.withLock { $0 = newValue } }
    }

    /// Lists every connected reader, usable or not. A driver that does not answer in time is listed instead of its readers.
    package static func list() -> [ReaderListing] {
        let limit = answering
        return zip(drivers(), calls).flatMap { driver, calls in
            calls.run(within: limit) { readers(of: driver) } ?? [Self.hanging(driver)]
        }
    }

    /// The readers of a driver, the slots of vpcd marked.
    private static func readers(of driver: any ReaderDriver) -> [ReaderListing] {
        var listings = driver.list()
        guard driver is PCSCDriver, !listings.isEmpty else { return listings }
        let prefixes = VirtualSlots.prefixes(Machine())
        for index in listings.indices {
            listings[index].isVirtual = prefixes.contains { listings[index].name?.hasPrefix($0) == true }
        }
        return listings
    }

    private static func hanging(_ driver: any ReaderDriver) -> ReaderListing {
        let detail = TransportError.Reason(.hanging)
        return switch driver {
        case is PCSCDriver: ReaderListing(id: "pcsc:", name: "PC/SC", state: .unavailable(.busy, detail: detail))
        case is PaSoRiDriver: ReaderListing(id: "rcs380", name: "PaSoRi", state: .unavailable(.busy, detail: detail))
        default: ReaderListing(id: "pn53x_usb", name: "libnfc", state: .unavailable(.busy, detail: detail))
        }
    }

    /// Why pcscd cannot be used now; `nil` if it can.
    package static var serviceObstacle: TransportError? {
        guard let obstacle = calls.last?.run(within: answering, { PCSCDriver().obstacle() }) else { return .hanging }
        return obstacle
    }

    /// The readers that pcscd lists; none if it does not answer.
    package static var servedReaders: [ReaderListing] {
        calls.last?.run(within: answering) { readers(of: PCSCDriver()) } ?? []
    }

    /// The versions of libnfc and libusb.
    package static var libraryVersions: [(name: String, version: String)] {
        [("libnfc", LibNFCDriver.libraryVersion), ("libusb", PaSoRiDriver.libraryVersion)]
    }

    /// Returns notices of readers being connected and disconnected.
    package static func notices(_ cancellation: CancellationToken) -> any DeviceNotices {
        SystemNotices(USBNotices(cancellation: cancellation))
    }

    /// Returns the ID of the reader to use.
    ///
    /// It is the named reader, else that of `KAZASU_READER`, else the first that is ready, else a serial port
    /// configured for libnfc.
    ///
    /// A driver is asked only if those before it have no reader: asking one may start a service that takes readers away
    /// from the others. Virtual readers are not chosen.
    ///
    /// - Throws: ``KazasuError/noReader(_:)`` with everything that was found.
    package static func choose(_ id: String?) throws(KazasuError) -> String {
        if let id = id ?? namedReader { return id }
        var found: [ReaderListing] = []
        for driver in drivers() {
            let listings = readers(of: driver).filter { !$0.isVirtual }
            if let ready = listings.first(where: \.isUsable) { return ready.id }
            found += listings
        }
        guard let configured = found.first(where: { $0.isConfigured && $0.state == .unknown }) else {
            throw .noReader(found)
        }
        return configured.id
    }

    /// The options for opening a reader, apart from its ID.
    package struct Options {
        /// Ends the work with the reader.
        package var cancellation: CancellationToken
        /// Records the traffic between the computer and the reader.
        package var recorder: LinkRecorder?
        /// The command to replay from a recording of several; `nil` replays the first.
        package var command: String?
        /// Reads the file of a `virtual:` or `replay:` reader, up to the given number of bytes.
        package var readFile: (String, Int) throws -> [UInt8]
        /// Called before a device is opened.
        package var willOpen: () -> Void
        /// Called when a `virtual:` reader is closed, with the file of its card as it is then.
        package var keepCard: ((KeptCard) -> Void)?

        package init(
            cancellation: CancellationToken, recorder: LinkRecorder? = nil, command: String? = nil,
            readFile: @escaping (String, Int) throws -> [UInt8] = ReaderRegistry.readFile,
            willOpen: @escaping () -> Void = {}
        ) {
            self.cancellation = cancellation
            self.recorder = recorder
            self.command = command
            self.readFile = readFile
            self.willOpen = willOpen
        }
    }

    /// Opens the reader with this ID, of any kind.
    ///
    /// - Throws: ``KazasuError``, and whatever ``Options/readFile`` throws.
    package static func open(_ id: String, _ options: Options) throws -> any Reader {
        if let reader = try VirtualDriver(options).open(id) { return reader }
        if let reader = try ReplayDriver(options).open(id) { return reader }
        options.willOpen()
        guard let reader = try openDevice(id, options.cancellation, options.recorder) else {
            throw KazasuError.unknownReader(id)
        }
        return reader
    }

    /// Opens a real reader.
    ///
    /// - Returns: `nil` if no driver knows the ID.
    package static func openDevice(
        _ id: String, _ cancellation: CancellationToken, _ recorder: LinkRecorder? = nil
    ) throws(KazasuError) -> (any Reader)? {
        // libnfc also has a driver named pcsc; no Debian build contains it, and it cannot read FeliCa. So PC/SC is
        // asked first.
        let all = drivers(recorder)
        do throws(TransportError) {
            for driver in all.suffix(1) + all.dropLast() {
                if let reader = try driver.open(id, cancellation: cancellation) { return reader }
            }
        } catch {
            throw KazasuError(error, of: id)
        }
        return nil
    }

    /// Chooses and opens a reader for a program.
    package static func openReader(_ id: String?, _ cancellation: CancellationToken) throws(KazasuError) -> any Reader {
        let id = try choose(id)
        do {
            return try open(id, Options(cancellation: cancellation))
        } catch let error as KazasuError {
            throw error
        } catch {
            throw .reader(.readerFailed(detail: .init(.text, "\(error)")), id: id)
        }
    }

    /// Reads the bytes of a file.
    ///
    /// - Throws: ``KazasuError/unreadableFile(_:errno:)``; a file longer than `limit` counts as too large.
    package static func readFile(_ path: String, limit: Int) throws -> [UInt8] {
        do {
            let file = try unsafe FileDescriptor.open(path, .readOnly)
            return try file.closeAfter {
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while bytes.count <= limit {
                    let count = try unsafe buffer.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
                    if count == 0 { return bytes }
                    bytes += buffer.prefix(count)
                }
                throw Errno.fileTooLarge
            }
        } catch let error as Errno {
            throw KazasuError.unreadableFile(path, errno: error.rawValue)
        }
    }

    /// The reader that the environment variable `KAZASU_READER` names, if any.
    package static var namedReader: String? { variable("KAZASU_READER") }

    private static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}

/// The file of a virtual card, as the card is when its reader is closed.
package struct KeptCard: Sendable {
    package let text: String
    /// Whether the card was written to.
    package let isWritten: Bool
    /// Whether the card's key was written and is not in the file, since that is a dump.
    package let losesKey: Bool
}
