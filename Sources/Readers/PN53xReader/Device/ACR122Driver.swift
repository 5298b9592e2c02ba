// SPDX-License-Identifier: Apache-2.0

package import ReaderCore
package import SystemDevices
package import USBTransport

/// Opens an ACR122U over libusb without libnfc, which reaches neither its lights nor its buzzer. A reader's ID is
/// `acr122`, for the first that can be opened, `acr122:port=1-1.3` or `acr122:serial=…`.
///
/// The kernel's `pn533_usb`, where it has the reader, is detached while it is open and reattached at the end. A reader
/// that pcscd holds is busy, as through libnfc.
package struct ACR122Driver: ReaderDriver {
    package typealias LinkMaker = @Sendable (USBDevice, CancellationToken) throws(TransportError) -> any USBLink

    private let paths: SystemPaths
    private let patience: Int
    private let makeLink: LinkMaker

    static let name = "acr122"
    /// libnfc's driver for the same readers, by which the table of models names them.
    private static let libnfcName = "acr122_usb"
    /// The class of its interface: chip card readers.
    private static let interfaceClass: UInt8 = 0x0B

    /// Creates a driver for this system's readers.
    ///
    /// - Parameter recorder: records every transfer.
    package init(recorder: LinkRecorder? = nil) {
        self.init(paths: SystemPaths()) { device, cancellation throws(TransportError) in
            let link = try LibUSBLink(
                device, classCode: Self.interfaceClass, attachesDriver: device.lostKernelDriver() != nil,
                cancellation: cancellation)
            guard let recorder else { return link }
            return RecordingUSBLink(link, recorder)
        }
    }

    package init(paths: SystemPaths, patience: Int = 1, makeLink: @escaping LinkMaker) {
        self.paths = paths
        self.patience = patience
        self.makeLink = makeLink
    }

    /// None: ``LibNFCDriver`` lists these readers, and a reader is listed once.
    package func list() -> [ReaderListing] { [] }

    /// Opens a reader.
    ///
    /// - Returns: `nil` when the ID does not name an ACR122U in this way.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` or ``TransportError/cancelled``; when several
    ///   readers match and cannot be opened, the error of the first.
    package func open(_ id: String, cancellation: CancellationToken) throws(TransportError) -> (any Reader)? {
        let parts = id.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.first?.lowercased() == Self.name else { return nil }
        let wanted = try USBSelector(
            parsing: parts.dropFirst().first.flatMap { $0.isEmpty ? nil : $0 }, kind: Self.name)
        let devices = USBDevice.all(paths).filter { ReaderModel(of: $0)?.driver == Self.libnfcName }
        var failure: TransportError?
        for device in devices where wanted.names(device) {
            try cancellation.check()
            do throws(TransportError) {
                return try open(device, USBSelector(device, among: devices), cancellation)
            } catch {
                if error == .cancelled { throw error }
                failure = failure ?? error
            }
        }
        throw failure
            ?? .readerUnavailable(reason: .absent, detail: .init(.notConnected, wanted.id(of: Self.name)))
    }

    private func open(
        _ device: USBDevice, _ selector: USBSelector, _ cancellation: CancellationToken
    ) throws(TransportError) -> any Reader {
        let name = ReaderModel(of: device)?.name ?? Self.name
        let link = try makeLink(device, cancellation)
        do throws(TransportError) {
            let transport = try ACR122Transport(link, model: name, patience: patience)
            return PN53xDevice(Chipset(transport), id: selector.id(of: Self.name), cancellation: cancellation)
        } catch {
            link.close()
            switch error {
            case .readerUnavailable, .cancelled: throw error
            default: throw .readerUnavailable(reason: .absent, detail: .init(.doesNotStart, name))
            }
        }
    }
}
