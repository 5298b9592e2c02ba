// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import ReaderCore

/// File system functions without Foundation.
package enum Directory {
    /// The names in a directory, sorted, without those that begin with a dot; none when it cannot be read.
    package static func names(in path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            // An entry is only as long as its name: copied as a `dirent`, it would be read past its end.
            let start = unsafe UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            let name = unsafe String(cString: start)
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    /// The first line of a short text file, as in sysfs.
    package static func line(of path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(file, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// The target of a symbolic link.
    package static func linkTarget(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The last component of a symbolic link's target.
    package static func linkName(of path: String) -> String? {
        linkTarget(of: path)?.split(separator: "/").last.map(String.init)
    }

    /// Returns why a device file could not be opened for reading and writing, without opening it: that can reset a
    /// device.
    package static func obstacle(at path: String) -> DeviceNodeError? {
        // Both check the same for a process with its original IDs; emulated devices support only the plain one.
        let isItself = getuid() == geteuid() && getgid() == getegid()
        let result =
            unsafe isItself
            ? access(path, R_OK | W_OK) : faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS)
        guard result != 0 else { return nil }
        return DeviceNodeError(errorNumber: errno, path: path)
    }
}

/// The locations where the system shows its devices.
package struct SystemPaths: Hashable, Sendable {
    /// Device files.
    package var devices: String
    /// USB devices as described by sysfs.
    package var usbDescriptions: String
    /// USB device files, by bus and device number.
    package var usbDevices: String
    /// The loaded kernel drivers for USB devices, as described by sysfs.
    package var usbDrivers: String

    /// Creates the paths: the system's own unless given otherwise.
    package init(
        devices: String = "/dev", usbDescriptions: String = "/sys/bus/usb/devices", usbDevices: String = "/dev/bus/usb",
        usbDrivers: String = "/sys/bus/usb/drivers"
    ) {
        self.devices = devices
        self.usbDescriptions = usbDescriptions
        self.usbDevices = usbDevices
        self.usbDrivers = usbDrivers
    }
}

/// Looks up the owners of files.
package enum FileOwner {
    /// The name of a file's own group if its members may read and write it, else `nil`.
    package static func group(of path: String) -> String? {
        var status = stat()
        let both = S_IRGRP | S_IWGRP
        // Where there is an access list, these two bits are its mask.
        guard unsafe stat(path, &status) == 0, status.st_mode & both == both, AccessList(of: path)?.ownGroup != false
        else { return nil }
        return name(ofGroup: status.st_gid)
    }

    /// The name of the group that a user may join to read and write a file: one that its access list names, else its own
    /// if that is not root's.
    static func groupToJoin(of path: String) -> String? {
        let group = AccessList(of: path)?.groups.lazy.compactMap(name(ofGroup:)).first ?? group(of: path)
        return group == "root" ? nil : group
    }

    /// The name of a group, `nil` when its number has none.
    package static func name(ofGroup number: UInt32) -> String? {
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard unsafe getgrgid_r(number, &entry, &buffer, buffer.count, &found) == 0,
            let found = unsafe found, let name = unsafe found.pointee.gr_name
        else { return nil }
        return unsafe String(cString: name)
    }
}

/// Why a device file could not be opened.
package struct DeviceNodeError: Hashable, Sendable {
    /// The error of `open`.
    package let errorNumber: Int32
    /// The file.
    package let path: String
    /// The group that is allowed to open it, when that is known.
    package let group: String?

    /// Creates the error of a file that could not be opened, with the group that a user may join.
    ///
    /// - Parameter errorNumber: `errno`.
    package init(errorNumber: Int32, path: String) {
        self.init(errorNumber: errorNumber, path: path, group: FileOwner.groupToJoin(of: path))
    }

    /// Creates the error of a file that could not be opened.
    ///
    /// - Parameter errorNumber: `errno`.
    package init(errorNumber: Int32, path: String, group: String?) {
        self.errorNumber = errorNumber
        self.path = path
        self.group = group
    }

    package var reason: UnavailableReason {
        switch errorNumber {
        case EACCES, EPERM: .permission
        case EBUSY, EWOULDBLOCK, ETXTBSY: .busy
        case EISDIR, ENOTTY, EMFILE, ENFILE, ENOMEM, ENAMETOOLONG, EROFS: .unsupported
        default: .absent
        }
    }

    /// The exact cause.
    package var detail: TransportError.Reason {
        switch reason {
        case .permission: group.map { .init(.deviceForGroup, path, $0) } ?? .init(.deviceDenied, path)
        case .busy: .init(.deviceInUse, path)
        case .absent where errorNumber == ENOENT: .init(.deviceAbsent, path)
        case .absent: .init(.noDevice, path, "\(errorNumber)")
        case .unsupported: .init(.deviceNotOpened, path, "\(errorNumber)")
        }
    }

    /// The error to throw.
    package var error: TransportError { .readerUnavailable(reason: reason, detail: detail) }
}
