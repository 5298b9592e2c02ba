// SPDX-License-Identifier: Apache-2.0

public import NFCTransport
internal import SystemDevices
internal import USBTransport

/// Opens and lists the PaSoRi that libnfc does not drive, over libusb: RC-S380 and RC-S300.
///
/// A reader's ID is `rcs380` or `rcs300`, which takes the first that can be opened, or `rcs380:serial=0123456` or
/// `rcs380:port=1-1.3`, which name one of several and stay the same when it is plugged in again.
///
/// A kernel driver that holds the reader (`port100`) gives it away while it is open and gets it back at the end.
public struct PaSoRiDriver: ReaderDriver {
    typealias LinkMaker =
        @Sendable (USBDevice, PaSoRiModel, CancellationToken) throws(TransportError) -> any USBLink

    private let paths: SystemPaths
    private let makeLink: LinkMaker

    /// The driver of this system's readers.
    public init() {
        self.init(paths: SystemPaths()) { device, model, cancellation throws(TransportError) in
            try LibUSBLink(device, classCode: model.interfaceClass, cancellation: cancellation)
        }
    }

    /// The driver of this system's readers, which writes down every transfer.
    package init(recorder: LinkRecorder) {
        self.init(paths: SystemPaths()) { device, model, cancellation throws(TransportError) in
            RecordingUSBLink(
                try LibUSBLink(device, classCode: model.interfaceClass, cancellation: cancellation), recorder)
        }
    }

    /// The version of libusb, as `1.0.26`.
    package static var libraryVersion: String { LibUSBLink.libraryVersion }

    init(paths: SystemPaths, makeLink: @escaping LinkMaker) {
        self.paths = paths
        self.makeLink = makeLink
    }

    /// The readers that are plugged in, usable or not; nothing is opened.
    public func list() -> [ReaderListing] {
        let devices = USBDevice.all(paths)
        return PaSoRiModel.all.flatMap { model in
            devices.filter(model.includes).map { device in
                ReaderListing(
                    id: PaSoRiID(device, model, among: devices).text, name: model.name(of: device),
                    state: state(of: device, model))
            }
        }
    }

    /// Opens a reader.
    ///
    /// - Returns: `nil` when the ID names no PaSoRi.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` or ``TransportError/cancelled``; of several readers
    ///   that fit and cannot be opened, why the first cannot.
    public func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
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
        throw failure ?? .readerUnavailable(reason: .absent, detail: "no reader \(wanted.text) is plugged in")
    }

    private func open(
        _ device: USBDevice, _ id: PaSoRiID, _ cancellation: CancellationToken
    ) throws(TransportError) -> any Reader {
        let link = try makeLink(device, id.model, cancellation)
        do throws(TransportError) {
            return try id.model.open(
                link, ReaderInformation(id: id.text, name: id.model.name(of: device)), cancellation)
        } catch {
            link.close()
            switch error {
            case .readerUnavailable, .cancelled: throw error
            default:
                throw .readerUnavailable(reason: .unsupported, detail: "it does not answer as a PaSoRi does")
            }
        }
    }

    private func state(of device: USBDevice, _ model: PaSoRiModel) -> ReaderListing.State {
        if let obstacle = device.obstacle { return .unavailable(obstacle.reason, detail: obstacle.detail) }
        guard let interface = device.interfaces.first(where: { $0.classCode == model.interfaceClass }) else {
            // A device without a configuration shows no interfaces; it gets one when it is opened.
            return device.interfaces.isEmpty
                ? .ready : .unavailable(.unsupported, detail: "it has not the USB interface of a PaSoRi")
        }
        guard interface.driver == USBInterface.deviceFileDriver else { return .ready }
        return .unavailable(.busy, detail: "another program holds it")
    }
}
