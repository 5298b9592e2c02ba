// SPDX-License-Identifier: Apache-2.0

/// An interface of a USB device as sysfs describes it.
public struct USBInterface: Hashable, Sendable {
    /// The driver of an interface that a program holds through the device file, as libusb does.
    public static let deviceFileDriver = "usbfs"

    /// Its number.
    public let number: Int
    /// Its class, as 0B for a chip card reader and FF for the vendor's own.
    public let classCode: UInt8?
    /// The kernel driver that holds it; ``deviceFileDriver`` when a program does.
    public let driver: String?

    /// An interface.
    public init(number: Int, classCode: UInt8?, driver: String?) {
        self.number = number
        self.classCode = classCode
        self.driver = driver
    }
}
