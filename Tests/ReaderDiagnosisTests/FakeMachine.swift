// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReaderDiagnosis
import SystemDevices
import TestSupport

/// A tree of files that looks like a whole system: `/sys`, `/proc`, `/dev` and `/etc`.
final class FakeMachine {
    private let folder: TemporaryFolder
    var environment: [String: String] = [:]
    /// The device files that may not be opened: the error, and the group that may.
    var locked: [String: (errorNumber: Int32, group: String?)] = [:]
    var groups: Set<String> = []

    init() throws {
        folder = try TemporaryFolder()
        for path in ["/sys/bus/usb/devices", "/proc/sys/kernel", "/dev/bus/usb", "/etc"] { try makeFolder(path) }
        try write("/proc/sys/kernel/osrelease", "6.1.0-26-amd64")
    }

    /// Where it is.
    var root: String { folder.path }

    /// What a doctor examines.
    var machine: Machine {
        var machine = Machine(root: root, environment: environment)
        let (locked, groups, root) = (locked, groups, root)
        machine.obstacle = { path in
            let plain = String(path.dropFirst(root.count))
            if let lock = locked[plain] {
                return DeviceNodeFault(errorNumber: lock.errorNumber, path: plain, group: lock.group)
            }
            return access(path, F_OK) == 0 ? nil : DeviceNodeFault(errorNumber: ENOENT, path: plain, group: nil)
        }
        machine.isMember = { groups.contains($0) }
        return machine
    }

    /// Everything that a doctor finds.
    func examine() -> Diagnosis { Doctor(machine).examine() }

    /// Plugs a reader in at port 1-1, bus 1, device 5.
    ///
    /// - Parameter interfaces: the class of each and the driver that holds it.
    func plugIn(
        _ numbers: String, interfaces: [(classCode: String, driver: String?)] = [("ff", nil)], release: String? = nil,
        serial: String? = nil, port: String = "1-1", device: Int = 5, hasNode: Bool = true
    ) throws {
        let description = "/sys/bus/usb/devices/\(port)"
        let parts = numbers.split(separator: ":").map(String.init)
        try write("\(description)/idVendor", parts.first ?? "")
        try write("\(description)/idProduct", parts.last ?? "")
        try write("\(description)/busnum", "1")
        try write("\(description)/devnum", "\(device)")
        if let release { try write("\(description)/bcdDevice", release) }
        if let serial { try write("\(description)/serial", serial) }
        for (number, interface) in interfaces.enumerated() {
            let path = "\(description):1.\(number)"
            try write("\(path)/bInterfaceNumber", "0\(number)")
            try write("\(path)/bInterfaceClass", interface.classCode)
            if let driver = interface.driver { symlink("../../../drivers/\(driver)", "\(root)\(path)/driver") }
        }
        if hasNode { try write("/dev/bus/usb/001/00\(device)", "") }
    }

    /// Starts a program that has a device file open.
    func run(_ name: String, process: Int, holding file: String) throws {
        try write("/proc/\(process)/comm", name)
        try makeFolder("/proc/\(process)/fd")
        symlink(file, "\(root)/proc/\(process)/fd/7")
    }

    /// Writes a file, with its folders.
    func write(_ path: String, _ text: String) throws {
        let parts = path.split(separator: "/")
        try makeFolder("/" + parts.dropLast().joined(separator: "/"))
        _ = try folder.write(Array((text + "\n").utf8), as: String(path.dropFirst()))
    }

    private func makeFolder(_ path: String) throws {
        var sofar = root
        for part in path.split(separator: "/") {
            sofar += "/\(part)"
            mkdir(sofar, 0o755)
        }
    }
}
