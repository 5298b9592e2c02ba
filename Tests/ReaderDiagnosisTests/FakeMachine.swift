// SPDX-License-Identifier: Apache-2.0

import Glibc
import ReaderDiagnosis
import SystemDevices
import TestSupport

/// A tree of files that looks like a whole system: `/sys`, `/proc`, `/dev` and `/etc`.
final class FakeMachine {
    let files: FileTree
    var environment: [String: String] = [:]
    /// The device files that may not be opened: the error, and the group that may.
    var locked: [String: (errorNumber: Int32, group: String?)] = [:]
    var groups: Set<String> = []
    /// The groups of device files, by path.
    var owners: [String: String] = [:]

    init() throws {
        files = try FileTree()
        try files.write("/proc/sys/kernel/osrelease", "6.1.0-26-amd64")
    }

    /// Where it is.
    var root: String { files.root }

    /// What a doctor examines.
    var machine: Machine {
        var machine = Machine(root: root, environment: environment)
        let (locked, groups, owners, root) = (locked, groups, owners, root)
        machine.group = { owners[String($0.dropFirst(root.count))] }
        machine.obstacle = { path in
            let plain = String(path.dropFirst(root.count))
            if let lock = locked[plain] {
                return DeviceNodeError(errorNumber: lock.errorNumber, path: plain, group: lock.group)
            }
            return access(path, F_OK) == 0 ? nil : DeviceNodeError(errorNumber: ENOENT, path: plain, group: nil)
        }
        machine.isMember = { groups.contains($0) }
        return machine
    }

    /// Everything that a doctor finds.
    func examine() -> Diagnosis { Doctor(machine).examine() }

    func plugIn(
        _ numbers: String, interfaces: [(classCode: String, driver: String?)] = [("ff", nil)], release: String? = nil,
        serial: String? = nil, port: String = "1-1", device: Int = 5, hasNode: Bool = true
    ) throws {
        let extra = ["bcdDevice": release, "serial": serial].compactMapValues { $0 }
        try files.plugIn(
            numbers, interfaces: interfaces, files: extra, port: port, device: device, hasNode: hasNode)
    }

    func run(_ name: String, process: Int, holding file: String) throws {
        try files.run(name, process: process, holding: file)
    }

    func write(_ path: String, _ line: String) throws { try files.write(path, line) }
}
