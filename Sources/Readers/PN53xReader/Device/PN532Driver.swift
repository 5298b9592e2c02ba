// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// Opens a PN532 on a serial port without libnfc. A reader's ID is `pn532:` and the port, as in `pn532:/dev/ttyUSB0`,
/// with a speed after it where the line shall run at that from the beginning, as in `pn532:/dev/ttyUSB0:921600`.
///
/// The chip itself is at 115200 baud before and after: its start value, and the speed that other programs expect.
package struct PN532Driver: ReaderDriver {
    private let recorder: LinkRecorder?
    private let patience: Int

    /// - Parameters:
    ///   - patience: the factor by which waits exceed those for a real chip.
    ///   - recorder: receives every frame.
    package init(patience: Int = 1, recorder: LinkRecorder? = nil) {
        self.patience = patience
        self.recorder = recorder
    }

    /// None: ``LibNFCDriver`` lists the serial ports, and a reader is listed once.
    package func list() -> [ReaderListing] { [] }

    /// Opens a reader, within some milliseconds when it answers, and in about three seconds when nothing does.
    ///
    /// Without a speed in the ID the line is raised to 921600 baud during long jobs; see `Docs/performance.md`.
    ///
    /// - Returns: `nil` when the ID does not begin with `pn532:`.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` or ``TransportError/cancelled``.
    package func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
        guard let address = try PN532Address(parsing: id) else { return nil }
        try cancellation.check()
        let transport = try PN532SerialTransport(
            path: address.path, patience: patience, recorder: recorder, cancellation: cancellation)
        let mayRaise = LinePermission.isGiven(
            forPort: address.path, setting: LibNFCContext.environment(LinePermission.variable))
        let line =
            switch address.speed {
            case nil: LinePolicy(mayRaise: mayRaise)
            case .normal: LinePolicy(mayRaise: false)
            case .some: LinePolicy(mayRaise: true, atOnce: true)
            }
        let chipset = Chipset(transport, fastSpeed: address.speed ?? .fast, line: line)
        let reader = PN53xDevice(chipset, id: address.text, cancellation: cancellation)
        try cancellation.check()
        return reader
    }
}

/// The address of a PN532, as given by its reader ID.
struct PN532Address: Hashable, Sendable {
    /// The serial port.
    let path: String
    /// The requested speed.
    let speed: LineSpeed?

    private static let name = "pn532"

    /// - Returns: `nil` when the ID is another driver's.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when it is malformed.
    init?(parsing id: String) throws(TransportError) {
        var parts = id.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.removeFirst().lowercased() == Self.name else { return nil }
        guard let path = parts.first, path.hasPrefix("/"), !path.utf8.contains(0) else {
            throw Self.malformed(.portMissing, Self.name, "\(Self.name):/dev/ttyUSB0")
        }
        guard parts.count <= 2 else { throw Self.malformed(.tooManyColons) }
        self.path = path
        speed = try parts.dropFirst().first.map { text throws(TransportError) in
            guard let speed = LineSpeed.all.first(where: { String($0.bitsPerSecond) == text }) else {
                let known = LineSpeed.all.map { String($0.bitsPerSecond) }
                throw Self.malformed(.unknownSpeed, known.joined(separator: ", "))
            }
            return speed
        }
    }

    var text: String {
        ([Self.name, path] + (speed.map { [String($0.bitsPerSecond)] } ?? [])).joined(separator: ":")
    }

    private static func malformed(_ code: TransportError.Reason.Code, _ values: String...) -> TransportError {
        .readerUnavailable(reason: .unsupported, detail: .init(code, values: values))
    }
}
