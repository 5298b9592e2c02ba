// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// Which of several USB readers of one kind an ID names: what follows the kind, as in `rcs380:serial=0123456`.
package enum USBSelector: Hashable, Sendable {
    /// The first that can be opened.
    case any
    /// The one with this serial number.
    case serial(String)
    /// The one at this port, such as `1-1.3`.
    case port(String)

    /// Parses what follows the kind and its colon; `nil` when nothing does.
    ///
    /// - Parameter kind: the kind of reader, for the error.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)``.
    package init(parsing text: Substring?, kind: String) throws(TransportError) {
        guard let text else {
            self = .any
            return
        }
        let pair = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (pair.first, pair.dropFirst().first) {
        case ("serial"?, let serial?) where !serial.isEmpty: self = .serial(serial)
        case ("port"?, let port?) where !port.isEmpty: self = .port(port)
        default: throw .readerUnavailable(reason: .unsupported, detail: .init(.unknownSelector, kind))
        }
    }

    /// What names a connected device also after it was plugged in again: its serial number, or where that is missing or
    /// not unique, its port.
    ///
    /// - Parameter devices: the devices of its kind, itself included.
    package init(_ device: USBDevice, among devices: [USBDevice]) {
        self = device.ownSerial(among: devices).map { .serial($0) } ?? .port(device.portPath)
    }

    /// Whether it names a device of its kind.
    package func names(_ device: USBDevice) -> Bool {
        switch self {
        case .any: true
        case .serial(let serial): device.serial == serial
        case .port(let path): device.portPath == path
        }
    }

    /// The ID in the form of `--reader`.
    package func id(of kind: String) -> String {
        switch self {
        case .any: kind
        case .serial(let serial): "\(kind):serial=\(serial)"
        case .port(let path): "\(kind):port=\(path)"
        }
    }
}
