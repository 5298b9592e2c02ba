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
package enum ReaderRegistry {
    /// A driver of real readers. Its place in a list of them means nothing.
    package struct Driver: Sendable {
        /// When it is asked for readers: one that is asked last may take readers away from the others.
        package enum Turn: Int, Sendable {
            case own, library, service
        }

        /// The words before the colon of its IDs, in small letters; the first stands for its readers when it does not list them.
        let prefixes: [String]
        let name: String
        let turn: Turn
        /// How long its calls may take.
        let limits: BoundedReader.Limits
        let make: @Sendable (LinkRecorder?) -> any ReaderDriver
        /// How long it may take to answer without a reader; by default ``ReaderRegistry/answering``.
        var answering: Duration?
        /// Whether a reader's name says that a program puts its cards there.
        var isVirtual: @Sendable () -> (String) -> Bool = { { _ in false } }
        /// The IDs that stay of its connected readers, and what else names them until they are unplugged.
        var numbered: @Sendable () -> [(number: String, id: String)] = { [] }
        /// The ID that stays of a connected reader that is named otherwise.
        var lastingID: @Sendable (String) -> String? = { _ in nil }
        /// Its calls without a reader.
        private let calls = BoundedCalls()

        package init(
            _ prefixes: [String], name: String, turn: Turn = .own,
            limits: BoundedReader.Limits = BoundedReader.Limits(),
            make: @escaping @Sendable (LinkRecorder?) -> any ReaderDriver
        ) {
            (self.prefixes, self.name, self.turn, self.limits, self.make) = (prefixes, name, turn, limits, make)
        }

        /// Its readers; itself, as one that does not answer, if it does not in time.
        func list() -> [ReaderListing] {
            let (make, isVirtual) = (make, isVirtual)
            let listings = ask { () -> [ReaderListing] in
                var listings = make(nil).list()
                guard !listings.isEmpty else { return [] }
                let isVirtual = isVirtual()
                for index in listings.indices {
                    listings[index].isVirtual = listings[index].name.map(isVirtual) ?? false
                }
                return listings
            }
            guard listings == nil else { return listings ?? [] }
            let id = (prefixes.first ?? "") + (turn == .service ? ":" : "")
            return [ReaderListing(id: id, name: name, state: .unavailable(.busy, detail: .init(.hanging)))]
        }

        /// Asks it something else; `nil` if it does not answer in time.
        func ask<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
            calls.run(within: answering ?? ReaderRegistry.answering, body)
        }
    }

    private static let service: Driver = {
        // pcscd takes at once what it takes, unless it has to be started.
        var driver = Driver(
            ["pcsc"], name: "PC/SC", turn: .service, limits: BoundedReader.Limits(opening: .seconds(5)),
            make: { PCSCDriver(recorder: $0) })
        driver.isVirtual = {
            let prefixes = VirtualSlots.prefixes(Machine())
            return { name in prefixes.contains { name.hasPrefix($0) } }
        }
        return driver
    }()

    private static let libnfc: Driver = {
        // Its own driver for PC/SC is in no build of Debian's, and cannot read FeliCa.
        var driver = Driver(
            ReaderFamily.all.map { $0.name.lowercased() }.filter { $0 != "pcsc" }, name: "libnfc", turn: .library,
            make: { LibNFCDriver(recorder: $0) })
        driver.numbered = { LibNFCDriver().numbered() }
        driver.lastingID = { LibNFCDriver().lastingID(of: $0) }
        return driver
    }()

    /// The drivers; tests replace them.
    @TaskLocal package static var drivers: [Driver] = [
        Driver(["rcs380", "rcs300", "rcs320", "rcs310"], name: "PaSoRi", make: { PaSoRiDriver(recorder: $0) }),
        libnfc,
        Driver(["pn532"], name: "PN532", make: { PN532Driver(recorder: $0) }),
        Driver(["acr122"], name: "ACR122U", make: { ACR122Driver(recorder: $0) }),
        service,
    ]

    private static var inTurn: [Driver] { drivers.sorted { $0.turn.rawValue < $1.turn.rawValue } }

    private static let limit = Mutex(Duration.seconds(4))

    /// How long a driver may take to answer: pcscd may have to be started, but a server's clients wait less long.
    package static var answering: Duration {
        get { limit.withLock { $0 } }
        set { limit.withLock { $0 = newValue } }
    }

    /// Lists every connected reader, usable or not. A driver that does not answer in time is listed instead of its readers.
    package static func list() -> [ReaderListing] { inTurn.flatMap { $0.list() } }

    /// The ID of a reader for whatever is stored or sent: it stays when the reader is plugged in again, where a number that
    /// the kernel gives would be another one. Any other name is returned as it is.
    package static func lastingID(of id: String) -> String { driver(of: id)?.lastingID(id) ?? id }

    /// The connected readers that earlier versions named by numbers of the kernel.
    package static var numbered: [(number: String, id: String)] { drivers.flatMap { $0.numbered() } }

    private static func driver(of id: String) -> Driver? {
        let word = id.prefix { $0 != ":" }.lowercased()
        return drivers.first { $0.prefixes.contains(word) }
    }

    /// Why pcscd cannot be used now; `nil` if it can.
    package static var serviceObstacle: TransportError? {
        guard let obstacle = service.ask({ PCSCDriver().obstacle() }) else { return .hanging }
        return obstacle
    }

    /// The readers that pcscd lists; none if it does not answer.
    package static var servedReaders: [ReaderListing] { service.list().filter(\.isUsable) }

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
        for driver in inTurn {
            let listings = driver.list().filter { !$0.isVirtual }
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

    /// Opens a real reader, whose calls all return.
    ///
    /// - Returns: `nil` if no driver knows the ID.
    package static func openDevice(
        _ id: String, _ cancellation: CancellationToken, _ recorder: LinkRecorder? = nil
    ) throws(KazasuError) -> (any Reader)? {
        guard let driver = driver(of: id) else { return nil }
        do throws(TransportError) {
            return try BoundedReader.open(id, driver.limits, cancellation, { $0 }) { token throws(TransportError) in
                try driver.make(recorder).open(id, cancellation: token)
            }
        } catch {
            throw KazasuError(error, of: id)
        }
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
