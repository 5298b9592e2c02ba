// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import SystemDevices

/// The system that is examined: this one, or a tree of files that looks like one.
public struct Machine: Sendable {
    /// What stands before every path: nothing, or the folder of another system's files.
    public let root: String
    /// The variables of the environment.
    public var environment: [String: String]
    /// Why a device file cannot be opened for reading and writing, `nil` when it can.
    public var obstacle: @Sendable (_ path: String) -> DeviceNodeFault?
    /// Whether the user belongs to a group.
    public var isMember: @Sendable (_ group: String) -> Bool

    /// A system.
    ///
    /// - Parameters:
    ///   - root: the folder with its files; nothing for the running system's.
    ///   - environment: the variables of the environment.
    public init(root: String = "", environment: [String: String] = [:]) {
        var root = root
        while root.hasSuffix("/") { root.removeLast() }
        self.root = root
        self.environment = environment
        obstacle = { Directory.obstacle(at: $0) }
        isMember = { Machine.groups.contains($0) }
    }

    /// Where a file of the system is found.
    func path(_ path: String) -> String { root + path }

    /// A path as the system itself has it.
    func plain(_ path: String) -> String {
        !root.isEmpty && path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path
    }

    /// Where the system shows its devices.
    public var devices: SystemPaths {
        SystemPaths(
            devices: path("/dev"), usbDescriptions: path("/sys/bus/usb/devices"), usbDevices: path("/dev/bus/usb"))
    }

    func exists(_ file: String) -> Bool {
        unsafe access(path(file), F_OK) == 0
    }

    /// The names of the groups that this process belongs to.
    private static var groups: Set<String> {
        var numbers = [gid_t](repeating: 0, count: 1024)
        let count = unsafe getgroups(Int32(numbers.count), &numbers)
        return Set((numbers.prefix(max(0, Int(count))) + [getegid()]).compactMap { FileOwner.name(ofGroup: $0) })
    }
}
