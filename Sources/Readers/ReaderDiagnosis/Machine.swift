// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import SystemDevices

/// The examined system: this one, or a file tree that looks like one.
package struct Machine: Sendable {
    /// The prefix of every path: empty, or the root folder of another system's files.
    package let root: String
    /// The environment variables.
    package var environment: [String: String]
    /// Why a device file cannot be opened for reading and writing, `nil` when it can.
    package var obstacle: @Sendable (_ path: String) -> DeviceNodeError?
    /// The group of a device file.
    package var group: @Sendable (_ path: String) -> String?
    /// Whether the user belongs to a group.
    package var isMember: @Sendable (_ group: String) -> Bool

    /// Creates a system.
    ///
    /// - Parameters:
    ///   - root: the folder with its files; empty for the running system.
    ///   - environment: the environment variables.
    package init(root: String = "", environment: [String: String] = [:]) {
        var root = root
        while root.hasSuffix("/") { root.removeLast() }
        self.root = root
        self.environment = environment
        obstacle = { Directory.obstacle(at: $0) }
        group = { FileOwner.group(of: $0) }
        isMember = { Machine.groups.contains($0) }
    }

    /// Returns the actual location of a file of the system.
    func path(_ path: String) -> String { root + path }

    /// Returns a path as seen by the system itself.
    func plain(_ path: String) -> String {
        !root.isEmpty && path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path
    }

    package var devices: SystemPaths {
        SystemPaths(
            devices: path("/dev"), usbDescriptions: path("/sys/bus/usb/devices"), usbDevices: path("/dev/bus/usb"),
            usbDrivers: path("/sys/bus/usb/drivers"))
    }

    func exists(_ file: String) -> Bool {
        unsafe access(path(file), F_OK) == 0
    }

    /// Whether the system has a group of that name.
    func has(group: String) -> Bool {
        TextFile.lines(of: path("/etc/group")).contains { $0.hasPrefix("\(group):") }
    }

    /// The names of the groups that this process belongs to.
    private static var groups: Set<String> {
        var numbers = [gid_t](repeating: 0, count: 1024)
        let count = unsafe getgroups(Int32(numbers.count), &numbers)
        return Set((numbers.prefix(max(0, Int(count))) + [getegid()]).compactMap { FileOwner.name(ofGroup: $0) })
    }
}

/// A running program that has a device file open.
struct RunningProgram: Hashable, Sendable {
    let process: Int
    let name: String

    /// The programs that have a device file open, limited to those visible to the user.
    static func holding(_ node: String, on machine: Machine) -> [RunningProgram] {
        let own = machine.root.isEmpty ? Int(getpid()) : -1
        let processes = Directory.names(in: machine.path("/proc")).compactMap { Int($0) }.filter { $0 != own }
        return processes.sorted().compactMap { process in
            let folder = machine.path("/proc/\(process)")
            let files = Directory.names(in: "\(folder)/fd")
            guard files.contains(where: { Directory.linkTarget(of: "\(folder)/fd/\($0)") == node }) else { return nil }
            return RunningProgram(process: process, name: Directory.line(of: "\(folder)/comm") ?? "?")
        }
    }

    /// Whether this is the PC/SC daemon.
    var isPcscd: Bool { name == "pcscd" }
}
