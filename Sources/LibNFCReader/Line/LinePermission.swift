// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Whether a port's line may be raised at all.
enum LinePermission {
    /// What makes a port the same as before: a plug that is pulled and put back makes a new one.
    private struct Port: Hashable, Sendable {
        let device: UInt
        let inode: UInt
        let seconds: Int
        let nanoseconds: Int
    }

    /// The ports of this process on which it failed.
    private static let failed = Mutex<Set<Port>>([])

    /// The variable of the environment that keeps lines at 115200 baud when it says that (or any number but 921600).
    static let variable = "KAZASU_SERIAL_SPEED"

    /// Looks at what the user said and at what the port is.
    static func isGiven(for connectionString: ConnectionString, setting: String?) -> Bool {
        guard connectionString.family.reachesChip, connectionString.speed == nil, let path = connectionString.path
        else { return false }
        guard setting == nil || setting == "" || setting == String(LineSpeed.fast.bitsPerSecond) else { return false }
        return !isBuiltIn(path) && !isBuiltIn(target(of: path) ?? path)
    }

    /// A UART of the board itself, as on a Raspberry Pi. nfcpy leaves the first of them at 115200 baud; the others
    /// are treated alike.
    static func isBuiltIn(_ path: String) -> Bool {
        let names = ["/dev/ttyS", "/dev/ttyAMA", "/dev/serial"]
        return names.contains { name in
            guard path.hasPrefix(name), let next = path.dropFirst(name.count).utf8.first else { return false }
            return (0x30...0x39).contains(next)
        }
    }

    /// Where a link leads in the end.
    private static func target(of path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Remembers that a port's line does not carry the high speed.
    static func withdraw(_ descriptor: Int32) {
        guard let port = port(descriptor) else { return }
        failed.withLock { _ = $0.insert(port) }
    }

    /// Whether it was tried before, in vain.
    static func isWithdrawn(_ descriptor: Int32) -> Bool {
        guard let port = port(descriptor) else { return false }
        return failed.withLock { $0.contains(port) }
    }

    private static func port(_ descriptor: Int32) -> Port? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        return Port(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), seconds: status.st_ctim.tv_sec,
            nanoseconds: status.st_ctim.tv_nsec)
    }
}
