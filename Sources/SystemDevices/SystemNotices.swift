// SPDX-License-Identifier: Apache-2.0

package import NFCTransport

/// Adds to what tells of the USB what it cannot tell: who holds a reader, who may open it, and which serial ports there
/// are; and stands in for it where nobody tells of the USB, as in a container without udev.
///
/// It looks at sysfs and at the names in `/dev` each time that the wait is over. A device is not finished when it is told
/// of: its permissions, its kernel driver and a service that takes it come later, so what follows a change is a change
/// for some more waits.
package final class SystemNotices: DeviceNotices {
    private let told: any DeviceNotices
    private let paths: SystemPaths
    private var seen: SystemView
    private var settling = 0

    /// After how many more waits everything has found its place.
    private static let settlingWaits = 3

    /// Notices of this system, or of one that is made of files.
    ///
    /// - Parameter told: what waits, and is told of the USB where somebody tells of it.
    package init(_ told: any DeviceNotices, paths: SystemPaths = SystemPaths()) {
        self.told = told
        self.paths = paths
        seen = SystemView(paths)
    }

    /// Waits for a notice, or for the time to pass, and looks.
    ///
    /// - Throws: ``NFCTransport/TransportError/cancelled``.
    package func wait(within time: Duration) throws(TransportError) -> Bool {
        let wasTold = try told.wait(within: time)
        let view = SystemView(paths)
        if wasTold || view != seen {
            settling = Self.settlingWaits
        } else if settling > 0 {
            settling -= 1
        } else {
            return false
        }
        seen = view
        return true
    }
}

/// What there is on the USB and in `/dev`, to see whether it is still the same.
struct SystemView: Hashable {
    private let devices: [USBDevice]
    private let obstacles: [DeviceNodeError?]
    private let deviceFiles: [String]

    init(_ paths: SystemPaths) {
        devices = USBDevice.all(paths)
        obstacles = devices.map(\.obstacle)
        deviceFiles = Directory.names(in: paths.devices)
    }
}
