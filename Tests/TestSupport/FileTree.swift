// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder with files at any depth, gone at the end of the test.
package final class FileTree: Sendable {
    private let folder: TemporaryFolder

    /// An empty tree.
    package init() throws {
        folder = try TemporaryFolder()
        chmod(folder.path, 0o755)
    }

    /// Where it is, without a slash at the end.
    package var root: String { folder.path }

    /// Makes a folder, with those that it lies in.
    ///
    /// - Parameter path: from the root of the tree, with a slash at the front.
    package func makeFolder(_ path: String) throws {
        var sofar = root
        for part in path.split(separator: "/") {
            sofar += "/\(part)"
            mkdir(sofar, 0o755)
        }
    }

    /// Writes a line to a file, with the folders that it lies in.
    package func write(_ path: String, _ line: String) throws {
        try makeParent(of: path)
        _ = try folder.write(Array((line + "\n").utf8), as: String(path.dropFirst()))
    }

    /// Makes a symbolic link, with the folders that it lies in.
    package func link(_ path: String, to target: String) throws {
        try makeParent(of: path)
        symlink(target, root + path)
    }

    /// Puts a USB device at a port into `/sys` and `/dev`, as device 5 of bus 1.
    ///
    /// - Parameters:
    ///   - numbers: vendor and product, as `054c:06c1`.
    ///   - interfaces: the class of each and the driver that holds it.
    ///   - files: more files of its description.
    package func plugIn(
        _ numbers: String, interfaces: [(classCode: String, driver: String?)] = [("ff", nil)],
        files: [String: String] = [:], port: String = "1-1", device: Int = 5, hasNode: Bool = true
    ) throws {
        let description = "/sys/bus/usb/devices/\(port)"
        let parts = numbers.split(separator: ":").map(String.init)
        try write("\(description)/idVendor", parts.first ?? "")
        try write("\(description)/idProduct", parts.last ?? "")
        try write("\(description)/busnum", "1")
        try write("\(description)/devnum", "\(device)")
        for (name, text) in files { try write("\(description)/\(name)", text) }
        for (number, interface) in interfaces.enumerated() {
            let path = "\(description):1.\(number)"
            try write("\(path)/bInterfaceNumber", "0\(number)")
            try write("\(path)/bInterfaceClass", interface.classCode)
            if let driver = interface.driver { try link("\(path)/driver", to: "../../../drivers/\(driver)") }
        }
        if hasNode { try write("/dev/bus/usb/001/00\(device)", "") }
    }

    /// Starts a program, as `/proc` shows it, that has a device file open.
    package func run(_ name: String, process: Int, holding file: String) throws {
        try write("/proc/\(process)/comm", name)
        try link("/proc/\(process)/fd/7", to: file)
    }

    private func makeParent(of path: String) throws {
        try makeFolder("/" + path.split(separator: "/").dropLast().joined(separator: "/"))
    }
}
