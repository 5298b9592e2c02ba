// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import SystemDevices

/// Directories that look like `/dev` and sysfs.
package final class MadeUpSystem {
    struct Failed: Error {
        let path: String
    }

    /// Where everything is.
    package let paths: SystemPaths
    private let root: String

    /// A system without any device.
    package init() throws {
        var template = Array("/tmp/kazasu-system-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failed(path: "/tmp") }
        root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        chmod(root, 0o755)
        paths = SystemPaths(
            devices: "\(root)/dev", usbDescriptions: "\(root)/sys", usbDevices: "\(root)/usb",
            usbDrivers: "\(root)/drivers")
        for path in [paths.devices, paths.usbDescriptions, paths.usbDevices, paths.usbDrivers] {
            try makeDirectory(path)
        }
    }

    deinit {
        remove(root)
    }

    /// Adds a USB device, with an interface that a driver holds or not.
    ///
    /// - Parameters:
    ///   - classes: the classes of its interfaces as sysfs writes them; the driver holds the first.
    ///   - extra: more files of its description, as `serial`.
    package func plugIn(
        _ name: String, vendor: String, product: String, bus: Int, device: Int, driver: String? = nil,
        hasNode: Bool = true, classes: [String] = ["ff"], extra: [String: String] = [:]
    ) throws {
        let description = "\(paths.usbDescriptions)/\(name)"
        try makeDirectory(description)
        let files = ["idVendor": vendor, "idProduct": product, "busnum": "\(bus)", "devnum": "\(device)"]
        for (file, text) in files.merging(extra, uniquingKeysWith: { $1 }) {
            try write(text + "\n", to: "\(description)/\(file)")
        }
        for (number, code) in classes.enumerated() {
            let interface = "\(description):1.\(number)"
            try makeDirectory(interface)
            try write("0\(number)\n", to: "\(interface)/bInterfaceNumber")
            try write("\(code)\n", to: "\(interface)/bInterfaceClass")
            if number == 0, let driver { symlink("../../../bus/usb/drivers/\(driver)", "\(interface)/driver") }
        }
        guard hasNode else { return }
        let busDirectory = "\(paths.usbDevices)/\(USBDevice.threeDigits(bus))"
        mkdir(busDirectory, 0o755)
        try write("", to: "\(busDirectory)/\(USBDevice.threeDigits(device))")
    }

    /// Loads a kernel driver, which takes nothing yet.
    package func load(driver: String) throws {
        try makeDirectory("\(paths.usbDrivers)/\(driver)")
        try write("", to: "\(paths.usbDrivers)/\(driver)/bind")
    }

    /// Pulls the plug of a USB device.
    package func unplug(_ name: String) {
        for entry in Directory.names(in: paths.usbDescriptions) where entry == name || entry.hasPrefix("\(name):") {
            remove("\(paths.usbDescriptions)/\(entry)")
        }
    }

    /// Adds a file to `/dev`.
    package func addDevice(_ name: String) throws -> String {
        try write("", to: "\(paths.devices)/\(name)")
        return "\(paths.devices)/\(name)"
    }

    private func makeDirectory(_ path: String) throws {
        guard mkdir(path, 0o755) == 0 else { throw Failed(path: path) }
    }

    private func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw Failed(path: path) }
        defer { fclose(file) }
        fputs(text, file)
    }

    private func remove(_ path: String) {
        for name in Directory.names(in: path) { remove("\(path)/\(name)") }
        if rmdir(path) != 0 { unlink(path) }
    }
}
