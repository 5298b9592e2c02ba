// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What is read of the file system without Foundation.
public enum Directory {
    /// The names in a directory, sorted, without those that begin with a dot; none when it cannot be read.
    public static func names(in path: String) -> [String] {
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

    /// The first line of a short text file, such as sysfs has.
    public static func line(of path: String) -> String? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe read(file, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// What a symbolic link points to.
    public static func linkTarget(of path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The last part of what a symbolic link points to.
    public static func linkName(of path: String) -> String? {
        linkTarget(of: path)?.split(separator: "/").last.map(String.init)
    }

    /// Why a device file could not be opened for reading and writing, without opening it: that can reset a device.
    public static func obstacle(at path: String) -> DeviceNodeFault? {
        // Both ask the same of a process that is who it was started as; emulated devices know only the plain one.
        let isItself = getuid() == geteuid() && getgid() == getegid()
        let result =
            unsafe isItself
            ? access(path, R_OK | W_OK) : faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS)
        guard result != 0 else { return nil }
        return DeviceNodeFault(errorNumber: errno, path: path, group: FileOwner.group(of: path))
    }
}
