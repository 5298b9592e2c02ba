// SPDX-License-Identifier: Apache-2.0

package import ReaderCore
internal import SystemDevices

/// Opens and lists the readers that libnfc drives: PN531, PN532 and PN533 over USB, serial port, SPI and I²C, ACR122.
///
/// A reader's ID is a libnfc connection string, as in `pn532_uart:/dev/ttyUSB0`. On the USB, where libnfc counts devices as
/// they are plugged in, it is the port or the serial number, as in `acr122_usb:port=1-1.3`; libnfc's own strings name the reader,
/// too.
package struct LibNFCDriver: ReaderDriver {
    private let paths: SystemPaths
    private let recorder: LinkRecorder?
    private let patience: Int

    /// Creates a driver for this system's readers.
    ///
    /// - Parameters:
    ///   - patience: the factor by which waits exceed those for a real chip. A simulated chip shares the machine with
    ///     others, and may not be scheduled when its time has come.
    ///   - recorder: records libnfc's log of the readers that it opens, if it wants logs: every frame.
    package init(patience: Int = 1, recorder: LinkRecorder? = nil) {
        self.init(paths: SystemPaths(), patience: patience, recorder: recorder)
    }

    init(paths: SystemPaths, patience: Int = 1, recorder: LinkRecorder? = nil) {
        self.paths = paths
        self.patience = patience
        self.recorder = recorder?.wantsLogs == true ? recorder : nil
    }

    /// The version of libnfc, as `1.8.0`.
    package static var libraryVersion: String { LibNFCContext.version }

    /// The readers of libnfc's settings and on the USB, those that cannot be used, and possible serial ports.
    /// Unusable readers have the reason. Nothing is opened, so whether a reader is at a serial port stays unknown.
    package func list() -> [ReaderListing] {
        ReaderScan(paths: paths).run(LibNFCConfiguration(environment: LibNFCContext.environment))
    }

    /// The connected readers on the USB: libnfc's string for each, which another one may have tomorrow, and the ID that stays.
    package func numbered() -> [(number: String, id: String)] {
        USBReaderScan(paths: paths).run().map { ($0.connectionString, $0.id) }
    }

    /// The ID that stays of a reader that is named by bus and device number and connected now; `nil` for every other name.
    package func lastingID(of id: String) -> String? {
        guard let named = try? ConnectionString(parsing: id), named.usbNumbers.count == 2 else { return nil }
        return USBReaderScan(paths: paths).run().first(where: named.names)?.id
    }

    /// Opens a reader.
    ///
    /// On a serial port this takes 50 ms, in which libnfc waits for leftover bytes of an earlier program, and more than
    /// two seconds when nothing answers. It cannot be cancelled meanwhile.
    ///
    /// A PN532 whose port is named without a speed is raised to 921600 baud during long jobs and set back at the end;
    /// see `Docs/performance.md`.
    ///
    /// - Returns: `nil` when the ID names none of libnfc's drivers.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` or ``TransportError/cancelled``.
    package func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
        guard let connectionString = try ConnectionString(parsing: id) else { return nil }
        try cancellation.check()
        guard connectionString.family.isPN53x else {
            throw .readerUnavailable(
                reason: .unsupported,
                detail: .init(.libnfcWithoutFeliCa, connectionString.family.name))
        }
        guard let path = connectionString.path else {
            guard connectionString.family.address == .usb else {
                guard let handle = LibNFCContext.open(connectionString, recorder: recorder) else {
                    throw .readerUnavailable(
                        reason: .unsupported, detail: .init(.libnfcOpensNone, connectionString.text))
                }
                let transport = LibNFCTransport(handle, family: connectionString.family, recorder: recorder)
                return try reader(Chipset(transport), id: connectionString.text, cancellation)
            }
            return try openOnUSB(connectionString, cancellation)
        }
        let port = try SerialPort(path: path, highest: SerialPort.highestForLibnfc)
        // Twice: a program that was killed while sending leaves the chip in the middle of a frame, and the chip takes
        // the next program's first command for the rest of it. A program that had raised the line leaves a chip that
        // receives nothing at the normal speed.
        let speed = connectionString.speed.flatMap { LineSpeed(bitsPerSecond: $0) } ?? .normal
        var opened = LibNFCContext.open(connectionString, recorder: recorder)
        if opened == nil {
            try cancellation.check()
            if connectionString.family.reachesChip { port.lowerChip(to: speed, patience: patience) }
            opened = LibNFCContext.open(connectionString, recorder: recorder)
        }
        guard let handle = opened else {
            throw .readerUnavailable(reason: .absent, detail: .init(.silent, path))
        }
        port.keepOthersOut()
        let mayRaiseLine = LinePermission.isGiven(
            for: connectionString, setting: LibNFCContext.environment(LinePermission.variable))
        let transport = LibNFCTransport(
            handle, family: connectionString.family, port: port, patience: patience, recorder: recorder)
        return try reader(
            Chipset(transport, speed: speed, line: LinePolicy(mayRaise: mayRaiseLine)), id: connectionString.text,
            cancellation)
    }

    /// Opens the first usable reader that the string names.
    ///
    /// libnfc sees bus and device always: without them it resets and configures the first device of the first bus,
    /// whatever that is (1.8.0, `acr122_usb_open`, `pn53x_usb_open`).
    private func openOnUSB(
        _ named: ConnectionString, _ cancellation: CancellationToken
    ) throws(TransportError) -> PN53xDevice {
        let readers = USBReaderScan(paths: paths).run().filter(named.names)
        guard let found = readers.first(where: { $0.state == .ready }) ?? readers.first,
            let listed = try ConnectionString(parsing: found.connectionString)
        else { throw .readerUnavailable(reason: .absent, detail: .init(.libnfcFindsNone, named.text)) }
        if case .unavailable(let reason, let detail) = found.state {
            throw .readerUnavailable(reason: reason, detail: detail.of(found.model.name))
        }
        var connectionString = listed
        // libnfc does not detach a kernel driver from a reader, and fails.
        let detachment = KernelDriverDetachment(taking: found.device, paths)
        var chipReset = RCS956Reset(of: found.device)
        chipReset?.run()
        var opened = LibNFCContext.open(connectionString, recorder: recorder)
        if opened == nil, let stuck = chipReset {
            try cancellation.check()
            chipReset = stuck.replug(paths)
            chipReset?.run()
            // It may have another number now.
            if let chipReset,
                let again = try ConnectionString(parsing: found.at(chipReset.device).connectionString)
            {
                connectionString = again
                opened = LibNFCContext.open(connectionString, recorder: recorder)
            }
            guard opened != nil else {
                let isThere = USBReaderScan(paths: paths).run().contains { $0.device.portPath == found.device.portPath }
                throw .readerUnavailable(
                    reason: .absent, detail: isThere ? .init(.doesNotStart, found.model.name) : .init(.unplugged))
            }
        }
        guard let handle = opened else { throw whyNotOnUSB(connectionString) }
        let transport = LibNFCTransport(
            handle, family: connectionString.family, detachment: detachment, chipReset: chipReset, recorder: recorder
        ) { [paths, connectionString] in
            USBReaderScan(paths: paths).run().contains(where: connectionString.names)
        }
        return try reader(Chipset(transport), id: found.id, cancellation)
    }

    /// Returns why libnfc, which reports no cause itself, could not open a USB reader.
    private func whyNotOnUSB(_ connectionString: ConnectionString) -> TransportError {
        for reader in USBReaderScan(paths: paths).run() where connectionString.names(reader) {
            if case .unavailable(let reason, let detail) = reader.state {
                return .readerUnavailable(reason: reason, detail: detail.of(reader.model.name))
            }
            if let driver = reader.kernelDriver {
                return .readerUnavailable(
                    reason: .busy, detail: .init(.heldByKernelDriver, driver, reader: reader.model.name))
            }
        }
        return .readerUnavailable(reason: .absent, detail: .init(.libnfcFindsNone, connectionString.text))
    }

    private func reader(
        _ chipset: consuming Chipset, id: String, _ cancellation: CancellationToken
    ) throws(TransportError) -> PN53xDevice {
        let reader = PN53xDevice(chipset, id: id, cancellation: cancellation)
        try cancellation.check()
        return reader
    }
}
