// SPDX-License-Identifier: Apache-2.0

/// Where the system shows its devices.
struct SystemPaths: Hashable, Sendable {
    /// Device files.
    var devices = "/dev"
    /// USB devices as sysfs describes them.
    var usbDescriptions = "/sys/bus/usb/devices"
    /// USB device files, by bus and device number.
    var usbDevices = "/dev/bus/usb"
}
