// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// What names a PaSoRi: `rcs380`, `rcs380:serial=0123456` or `rcs380:port=1-1.3`.
struct PaSoRiID: Sendable {
    /// Which one of several.
    enum Choice: Hashable, Sendable {
        /// The first that can be opened.
        case any
        /// The one with this serial number.
        case serial(String)
        /// The one that is plugged in there.
        case port(String)
    }

    /// The kind of reader.
    let model: PaSoRiModel
    /// Which one of several.
    let choice: Choice

    /// Reads an ID.
    ///
    /// - Returns: `nil` when it names no PaSoRi.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when it names one but goes on as nothing that is
    ///   known.
    init?(parsing id: String) throws(TransportError) {
        let parts = id.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = parts.first, let model = PaSoRiModel.all.first(where: { $0.kind == kind }) else { return nil }
        self.model = model
        guard let rest = parts.dropFirst().first else {
            choice = .any
            return
        }
        let pair = rest.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (pair.first, pair.dropFirst().first) {
        case ("serial"?, let serial?) where !serial.isEmpty: choice = .serial(serial)
        case ("port"?, let port?) where !port.isEmpty: choice = .port(port)
        default:
            throw .readerUnavailable(
                reason: .unsupported, detail: "after \(model.kind): comes serial=NUMBER or port=PATH, as in port=1-1.3")
        }
    }

    /// The ID of one of the devices that are plugged in, the same each time: by its serial number, or where that is
    /// missing or not its own, by where it is plugged in.
    init(_ device: USBDevice, _ model: PaSoRiModel, among devices: [USBDevice]) {
        self.model = model
        choice = device.ownSerial(among: devices.filter(model.includes)).map { .serial($0) } ?? .port(device.portPath)
    }

    /// Whether it names this device.
    func names(_ device: USBDevice) -> Bool {
        guard model.includes(device) else { return false }
        return switch choice {
        case .any: true
        case .serial(let serial): device.serial == serial
        case .port(let path): device.portPath == path
        }
    }

    /// As `--reader` takes it.
    var text: String {
        switch choice {
        case .any: model.kind
        case .serial(let serial): "\(model.kind):serial=\(serial)"
        case .port(let path): "\(model.kind):port=\(path)"
        }
    }
}
