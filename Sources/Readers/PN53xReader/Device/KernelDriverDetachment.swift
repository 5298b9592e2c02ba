// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemDevices

/// The interfaces of a USB device, detached from their kernel drivers and reattached at the end of its life.
///
/// For libraries that do not do so themselves; libusb-1.0 has calls of its own. Source: the kernel's `usbdevice_fs.h`.
struct KernelDriverDetachment: ~Copyable {
    /// Issues one request for an interface of an open device file, and returns whether it worked.
    typealias Control = (_ descriptor: Int32, _ interface: Int32, _ request: Int32) -> Bool

    /// USBDEVFS_DISCONNECT and USBDEVFS_CONNECT.
    static let (disconnect, connect): (Int32, Int32) = (0x5516, 0x5517)

    private let descriptor: Int32
    private let interfaces: [Int32]
    private let control: Control

    /// Detaches interfaces from kernel drivers; those held by a program are left alone. An interface that a driver lost
    /// to a killed program is attached at the end, too.
    ///
    /// - Returns: `nil` when no kernel driver holds or lost one, or none could be detached.
    init?(taking device: USBDevice, _ paths: SystemPaths) {
        self.init(taking: device, paths, control: Self.usbfs)
    }

    init?(taking device: USBDevice, _ paths: SystemPaths, control: @escaping Control) {
        let held = device.interfaces.filter { $0.driver != nil && $0.driver != USBInterface.deviceFileDriver }
        let lost = device.lostKernelDriver(paths).map { [Int32(clamping: $0.interface.number)] } ?? []
        guard !held.isEmpty || !lost.isEmpty else { return nil }
        let descriptor = unsafe open(device.node, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let taken = lost + held.map { Int32(clamping: $0.number) }.filter { control(descriptor, $0, Self.disconnect) }
        guard !taken.isEmpty else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        interfaces = taken
        self.control = control
    }

    deinit {
        for interface in interfaces { _ = control(descriptor, interface, Self.connect) }
        close(descriptor)
    }

    /// `struct usbdevfs_ioctl`.
    private struct Request {
        var interface: Int32
        var code: Int32
        /// A pointer, null here.
        var data: UInt
    }

    private static func usbfs(_ descriptor: Int32, _ interface: Int32, _ code: Int32) -> Bool {
        var request = Request(interface: interface, code: code, data: 0)
        // USBDEVFS_IOCTL: read and write, the size of the struct, 'U', 18.
        let number = UInt(3) << 30 | UInt(MemoryLayout<Request>.size) << 16 | 0x5512
        return unsafe ioctl(descriptor, number, &request) >= 0
    }
}
