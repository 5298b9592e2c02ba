// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

/// Adds to USB notices the changes that they do not report: who holds a reader, who is allowed to open it, and the
/// serial ports. It also replaces them where there are no USB notices, as in a container without udev.
///
/// It looks at sysfs and at the names in `/dev` each time that the wait is over. A device is not ready when it is
/// announced: its permissions, its kernel driver and a service that takes it come later, so a change is reported for
/// some more waits after it.
package final class SystemNotices: DeviceNotices {
    private let usbNotices: any DeviceNotices
    private let paths: SystemPaths
    private var seen: SystemView
    private var settling = 0

    /// The number of further waits until everything has settled.
    private static let settlingWaits = 3

    /// Creates notices of this system, or of one made of files.
    ///
    /// - Parameter usbNotices: waits, and receives USB notices where there are any.
    package init(_ usbNotices: any DeviceNotices, paths: SystemPaths = SystemPaths()) {
        self.usbNotices = usbNotices
        self.paths = paths
        seen = SystemView(paths)
    }

    /// Waits for a notice, or for the time to pass, and looks.
    ///
    /// - Throws: ``ReaderCore/TransportError/cancelled``.
    package func wait(within time: Duration) throws(TransportError) -> Bool {
        let hasNotice = try usbNotices.wait(within: time)
        let view = SystemView(paths)
        if hasNotice || view != seen {
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

/// The state of the USB and of `/dev`, for comparison.
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
