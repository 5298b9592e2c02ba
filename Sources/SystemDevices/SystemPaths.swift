// SPDX-License-Identifier: Apache-2.0

/// Where the system shows its devices.
public struct SystemPaths: Hashable, Sendable {
    /// Device files.
    public var devices: String
    /// USB devices as sysfs describes them.
    public var usbDescriptions: String
    /// USB device files, by bus and device number.
    public var usbDevices: String

    /// Where to look: the system's own places unless told otherwise.
    public init(
        devices: String = "/dev", usbDescriptions: String = "/sys/bus/usb/devices", usbDevices: String = "/dev/bus/usb"
    ) {
        self.devices = devices
        self.usbDescriptions = usbDescriptions
        self.usbDevices = usbDevices
    }
}
