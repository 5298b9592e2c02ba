// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import LibNFCReader

/// Directories that look like `/dev` and sysfs.
final class MadeUpSystem {
    struct Failed: Error {
        let path: String
    }

    let paths: SystemPaths
    private let root: String

    init() throws {
        var template = Array("/tmp/kazasu-system-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failed(path: "/tmp") }
        root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        chmod(root, 0o755)
        paths = SystemPaths(devices: "\(root)/dev", usbDescriptions: "\(root)/sys", usbDevices: "\(root)/usb")
        for path in [paths.devices, paths.usbDescriptions, paths.usbDevices, "\(root)/drivers"] {
            try makeDirectory(path)
        }
    }

    deinit {
        remove(root)
    }

    /// Adds a USB device, with an interface that a driver holds or not.
    func plugIn(
        _ name: String, vendor: String, product: String, bus: Int, device: Int, driver: String? = nil,
        hasNode: Bool = true
    ) throws {
        let description = "\(paths.usbDescriptions)/\(name)"
        try makeDirectory(description)
        try write(vendor + "\n", to: "\(description)/idVendor")
        try write(product + "\n", to: "\(description)/idProduct")
        try write("\(bus)\n", to: "\(description)/busnum")
        try write("\(device)\n", to: "\(description)/devnum")
        try makeDirectory("\(description):1.0")
        if let driver { symlink("../../../bus/usb/drivers/\(driver)", "\(description):1.0/driver") }
        guard hasNode else { return }
        let busDirectory = "\(paths.usbDevices)/\(ConnectionString.threeDigits(bus))"
        mkdir(busDirectory, 0o755)
        try write("", to: "\(busDirectory)/\(ConnectionString.threeDigits(device))")
    }

    /// Adds a file to `/dev`.
    func addDevice(_ name: String) throws -> String {
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
