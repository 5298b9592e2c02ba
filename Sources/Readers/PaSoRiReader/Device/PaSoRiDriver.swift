// SPDX-License-Identifier: Apache-2.0

package import ReaderCore
internal import SystemDevices
internal import USBTransport

/// Opens and lists the PaSoRi readers that libnfc does not drive, over libusb: RC-S380, RC-S300, RC-S320 and RC-S310.
///
/// A reader's ID is `rcs380`, `rcs300`, `rcs320` or `rcs310`, which selects the first that can be opened, or `rcs380:serial=0123456` or
/// `rcs380:port=1-1.3`, which name one of several and stay the same when it is plugged in again.
///
/// A kernel driver that holds the reader (`port100`) is detached while it is open and reattached at the end.
package struct PaSoRiDriver: ReaderDriver {
    typealias LinkMaker =
        @Sendable (USBDevice, CancellationToken) throws(TransportError) -> any USBLink

    private let paths: SystemPaths
    private let makeLink: LinkMaker
    private let pause: @Sendable (Duration) -> Void

    /// Creates a driver for this system's readers.
    ///
    /// - Parameters:
    ///   - recorder: records every transfer.
    ///   - pause: waits as long as a reader needs.
    package init(recorder: LinkRecorder? = nil, pause: @escaping @Sendable (Duration) -> Void = ThreadPause.sleep) {
        self.init(paths: SystemPaths(), pause: pause) { device, cancellation throws(TransportError) in
            let link = try LibUSBLink(
                device, classCode: PaSoRiModel.interfaceClass, pipes: PaSoRiModel.pipes(of: device),
                attachesDriver: device.lostKernelDriver() != nil, cancellation: cancellation)
            guard let recorder else { return link }
            return RecordingUSBLink(link, recorder)
        }
    }

    /// The version of libusb, as `1.0.26`.
    package static var libraryVersion: String { LibUSBLink.libraryVersion }

    init(
        paths: SystemPaths, pause: @escaping @Sendable (Duration) -> Void = ThreadPause.sleep,
        makeLink: @escaping LinkMaker
    ) {
        (self.paths, self.pause, self.makeLink) = (paths, pause, makeLink)
    }

    /// The connected readers, usable or not; nothing is opened.
    package func list() -> [ReaderListing] {
        let devices = USBDevice.all(paths)
        return PaSoRiModel.allCases.flatMap { model in
            devices.filter(model.includes).map { device in
                ReaderListing(
                    id: PaSoRiID(device, model, among: devices).text, name: model.name(of: device),
                    state: state(of: device))
            }
        }
    }

    /// Opens a reader.
    ///
    /// - Returns: `nil` when the ID does not name a PaSoRi.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` or ``TransportError/cancelled``; when several
    ///   readers match and cannot be opened, the error of the first.
    package func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
        guard let wanted = try PaSoRiID(parsing: id) else { return nil }
        let devices = USBDevice.all(paths)
        var failure: TransportError?
        for device in devices where wanted.names(device) {
            try cancellation.check()
            let stable = PaSoRiID(device, wanted.model, among: devices)
            do throws(TransportError) {
                return try open(device, stable, cancellation)
            } catch {
                if error == .cancelled { throw error }
                failure = failure ?? error
            }
        }
        throw failure ?? .readerUnavailable(reason: .absent, detail: .init(.notConnected, wanted.text))
    }

    private func open(
        _ device: USBDevice, _ id: PaSoRiID, _ cancellation: CancellationToken
    ) throws(TransportError) -> any Reader {
        let link = try makeLink(device, cancellation)
        do throws(TransportError) {
            return try id.model.open(
                link, ReaderInformation(id: id.text, name: id.model.name(of: device)), cancellation, pause: pause)
        } catch {
            link.close()
            switch error {
            case .readerUnavailable, .cancelled: throw error
            default:
                throw .readerUnavailable(reason: .unsupported, detail: .init(.notAPaSoRi))
            }
        }
    }

    private func state(of device: USBDevice) -> ReaderListing.State {
        if let obstacle = device.obstacle { return .unavailable(obstacle.reason, detail: obstacle.detail) }
        guard let interface = device.interfaces.first(where: { $0.classCode == PaSoRiModel.interfaceClass }) else {
            // A device without a configuration shows no interfaces; it gets one when it is opened.
            return device.interfaces.isEmpty
                ? .ready : .unavailable(.unsupported, detail: .init(.noInterface))
        }
        guard interface.driver == USBInterface.deviceFileDriver else { return .ready }
        return .unavailable(.busy, detail: .init(.heldByProgram))
    }
}

/// The ID of a PaSoRi: `rcs380`, `rcs380:serial=0123456` or `rcs380:port=1-1.3`.
struct PaSoRiID: Sendable {
    /// The kind of reader.
    let model: PaSoRiModel
    /// The choice among several readers.
    let choice: USBSelector

    /// Parses an ID.
    ///
    /// - Returns: `nil` when it does not name a PaSoRi.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when it names one but the rest is not known.
    init?(parsing id: String) throws(TransportError) {
        let parts = id.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = parts.first, let model = PaSoRiModel(rawValue: String(kind)) else { return nil }
        self.model = model
        choice = try USBSelector(parsing: parts.dropFirst().first, kind: model.rawValue)
    }

    /// Creates the stable ID of a connected device.
    init(_ device: USBDevice, _ model: PaSoRiModel, among devices: [USBDevice]) {
        self.model = model
        choice = USBSelector(device, among: devices.filter(model.includes))
    }

    func names(_ device: USBDevice) -> Bool { model.includes(device) && choice.names(device) }

    /// The ID in the form of `--reader`.
    var text: String { choice.id(of: model.rawValue) }
}

/// A kind of PaSoRi that Kazasu drives, those that read most first; the products of each are in the table of `SystemDevices`. The
/// raw value is the prefix of its IDs, and its driver in that table.
enum PaSoRiModel: String, Sendable, CaseIterable {
    /// The RC-S380, "NFC Port-100".
    case rcs380
    /// The RC-S300 and the RC-S660/U, "NFC Port-400". Its other interface, for chip cards, can stay with pcscd.
    case rcs300
    /// The RC-S320, for FeliCa alone.
    case rcs320
    /// The RC-S310, with the protocol of the RC-S320.
    case rcs310

    /// The ways of a device's data.
    static func pipes(of device: USBDevice) -> USBPipes {
        [rcs320, rcs310].contains { $0.includes(device) } ? .controlAndInterrupt : .bulk
    }

    /// The class of the interface in use: vendor-specific.
    static let interfaceClass: UInt8 = 0xFF

    /// Brings the reader at the other end of a link to a known state; on error the link is not closed.
    func open(
        _ usb: any USBLink, _ information: ReaderInformation, _ cancellation: CancellationToken,
        pause: @escaping (Duration) -> Void = ThreadPause.sleep
    ) throws(TransportError) -> any Reader {
        switch self {
        case .rcs380: try PaSoRiReader(rcs380: usb, information, cancellation)
        case .rcs300: try PaSoRiReader(rcs300: usb, information, cancellation, pause: pause)
        case .rcs320, .rcs310:
            try PaSoRiReader(rcs320: usb, information, cancellation, isRCS310: self == .rcs310, pause: pause)
        }
    }

    /// Whether a device is of this kind.
    func includes(_ device: USBDevice) -> Bool {
        ReaderModel(of: device)?.driver == rawValue
    }

    /// The display name of a device of this kind.
    func name(of device: USBDevice) -> String {
        ReaderModel(of: device)?.name ?? rawValue
    }
}
