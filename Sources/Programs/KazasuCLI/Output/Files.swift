// SPDX-License-Identifier: Apache-2.0

import CLinux
import CardCiphers
import Glibc
import Kazasu
import SystemPackage

/// Reads files named by the user.
package enum Files {
    /// Returns the bytes of a file, `-` for standard input.
    ///
    /// - Parameters:
    ///   - limit: the longest file that is accepted; one byte more is read of a longer one, so that the caller's own
    ///     check reports it.
    ///   - role: what the file is to the command; `nil` for an output.
    package static func read(
        _ path: String, limit: Int = 8 << 20, as role: FilesInUse.Role? = .input
    ) throws(CommandError) -> [UInt8] {
        guard !path.isEmpty else { throw .emptyName(tr("input", "入力")) }
        let descriptor = try open(path, as: role)
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { throw unreadable(path, EISDIR) }
            if status.st_mode & S_IFMT == S_IFREG, status.st_size > limit { throw tooLong(path, limit) }
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = try Descriptor.read(descriptor, into: &buffer, name: path)
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer.prefix(count))
        }
        throw tooLong(path, limit)
    }

    /// Calls `use` with the bytes of a file of keys, `-` for standard input. They are overwritten afterwards, and from here on
    /// the process has no core dump.
    ///
    /// - Parameter limit: the longest file that is accepted.
    package static func withKeys<Value>(
        _ path: String, limit: Int, _ use: ([UInt8]) throws(CommandError) -> Value
    ) throws(CommandError) -> Value {
        ProcessSecrecy.begin()
        let secret = try secret(path, limit)
        var bytes = secret.withUnsafeBytes { Array($0) }
        defer { bytes.wipe() }
        return try use(bytes)
    }

    /// Reads a file directly into the memory that keeps it.
    private static func secret(_ path: String, _ limit: Int) throws(CommandError) -> SecretBytes {
        guard !path.isEmpty else { throw .emptyName(tr("input", "入力")) }
        let descriptor = try open(path)
        defer { close(descriptor) }
        var (status, longest) = (stat(), limit)
        if fstat(descriptor, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { throw unreadable(path, EISDIR) }
            if status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 { longest = min(limit, Int(status.st_size)) }
        }
        let secret = try SecretBytes(capacity: longest + 1) { memory throws(CommandError) in
            var count = 0
            while count < memory.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
                let read = try Descriptor.read(descriptor, into: rest, name: path)
                guard read > 0 else { break }
                count += read
            }
            return count
        }
        // A file that has grown since, or a longer one.
        guard secret.count <= longest else { throw tooLong(path, limit) }
        return secret
    }

    /// Opens a file that the command reads, `-` for standard input.
    ///
    /// - Throws: ``CommandError`` when it cannot be opened, is an output of the command, or is a FIFO that no program
    ///   writes to.
    package static func open(_ path: String, as role: FilesInUse.Role? = .input) throws(CommandError) -> Int32 {
        let descriptor = path == "-" ? standardInput() : Descriptor.open(path)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        do throws(CommandError) {
            if let role { try FilesInUse.shared.reads(descriptor, path, as: role) }
            if path != "-" { try Descriptor.waitForWriter(descriptor, name: path) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Standard input, or what the client of a server sent.
    private static func standardInput() -> Int32 {
        guard let host = CommandHost.current else { return dup(STDIN_FILENO) }
        guard let input = host.input else {
            errno = EBADF
            return -1
        }
        let descriptor = kazasu_memory_file("input", 1)
        guard descriptor >= 0 else { return -1 }
        guard Descriptor.write(input, to: descriptor) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    package static func unreadable(_ path: String, _ error: Int32) -> CommandError {
        CommandError(.fileUnreadable, values: [name(path), SystemMessage.text(error)])
    }

    /// Nobody writes to a FIFO.
    package static func unwritten(_ path: String) -> CommandError {
        CommandError(.filePipe, values: [name(path)])
    }

    /// Checks that a path may be opened for writing.
    ///
    /// - Throws: ``CommandError`` with status 73 for a disk's device, and for a link when the process is root's: in a
    ///   folder of others, it could lead anywhere. `/dev/stderr` and its like are the process's own.
    package static func checkOutput(_ path: String) throws(CommandError) {
        guard OutputFile.stream(path) == nil else { return }
        var status = stat()
        if geteuid() == 0, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            throw CommandError(.fileLink, values: [path])
        }
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFBLK else { return }
        throw CommandError(.fileDevice, values: [path])
    }

    package static func tooLong(_ path: String, _ limit: Int) -> CommandError {
        CommandError(.fileTooLong, values: [name(path), size(limit)])
    }

    private static func size(_ bytes: Int) -> String {
        bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : tr("\(bytes) bytes", "\(bytes) バイト")
    }

    /// Whether a path is that of a folder; never for `-`.
    package static func isFolder(_ path: String) -> Bool {
        path != "-" && (try? FilePath(path).stat())?.type == .directory
    }

    /// Makes a folder, and those above it.
    package static func makeFolder(_ path: String, permissions: UInt32) throws(CommandError) {
        var folder = ""
        for part in path.split(separator: "/") {
            folder += "/\(part)"
            if mkdir(folder, permissions) != 0, errno != EEXIST { throw CommandError.unwritable(folder, errno) }
        }
    }

    /// Removes a folder and the files in it.
    package static func removeFolder(_ path: String) {
        for name in (try? FolderEntries(FilePath(path)))?.names ?? [] { unlink("\(path)/\(name.string)") }
        rmdir(path)
    }

    /// The name of a file in messages.
    package static func name(_ path: String) -> String {
        guard path == "-" else { return path }
        return CommandHost.current == nil ? tr("standard input", "標準入力") : tr("the dump", "ダンプ")
    }
}
