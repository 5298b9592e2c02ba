// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Glibc
import Kazasu
import SystemPackage

/// The highest counter of each tag whose URL was accepted: a file with a line `UID COUNTER` each, with a tab between them.
///
/// The file is locked from reading a counter to replacing it, so that of two runs with the same URL only one accepts it. A
/// counter is replaced in place by as many digits: a run that is killed leaves the old one or the new one.
package enum SeenCounters {
    /// The longest file that is read: about 700,000 tags.
    private static let limit = 16 << 20
    /// The digits of a counter, which has three bytes.
    private static let digits = 8

    /// Records a counter if it is higher than any before.
    ///
    /// - Returns: whether it is.
    /// - Throws: ``CommandError``: 65 for a file of another kind, 73 if it cannot be written or another program keeps it.
    package static func accept(_ counter: UInt32, of uid: [UInt8], in path: String) throws(CommandError) -> Bool {
        guard !path.isEmpty else { throw .emptyName("--seen") }
        let claim = try FilesInUse.shared.writes(path)
        defer { withExtendedLifetime(claim) {} }
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .closeOnExec, .nonBlocking],
                permissions: [.ownerRead, .ownerWrite])
            return try file.closeAfter {
                var status = stat()
                guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    throw Errno.invalidArgument
                }
                try lock(file, path)
                return try replace(counter, of: uid, in: file, path)
            }
        } catch let error as CommandError {
            throw error
        } catch {
            throw CommandError(unwritable: path, error)
        }
    }

    /// Waits a moment for another run, which only keeps the file while it compares.
    private static func lock(_ file: FileDescriptor, _ path: String) throws {
        for _ in 0..<100 {
            if flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw Errno(rawValue: errno) }
            usleep(50_000)
        }
        throw CommandError(.seenLocked, values: [path])
    }

    private static func replace(
        _ counter: UInt32, of uid: [UInt8], in file: FileDescriptor, _ path: String
    ) throws -> Bool {
        let bytes = try contents(file)
        let name = Hex.encode(uid, uppercase: true)
        let new = String(counter)
        let padded = String(repeating: "0", count: max(0, digits - new.count)) + new
        var place: Int64?
        var start = 0
        for (number, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            defer { start += line.count + 1 }
            if line.isEmpty || line.first == 0x23 { continue }
            let parts = String(decoding: line, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
            guard parts.count == 2, let known = try? Hex.decode(String(parts[0])), !known.isEmpty,
                let highest = UInt32(parts[1])
            else {
                throw CommandError(.seenMalformed, values: [path, "\(number + 1)"])
            }
            guard known == uid else { continue }
            guard counter > highest else { return false }
            if parts[1].utf8.count == digits { place = Int64(start + parts[0].utf8.count + 1) }
        }
        if let place {
            _ = try file.writeAll(toAbsoluteOffset: place, padded.utf8)
        } else {
            let gap = bytes.last.map { $0 == 0x0A } ?? true ? "" : "\n"
            _ = try file.writeAll(toAbsoluteOffset: Int64(bytes.count), "\(gap)\(name)\t\(padded)\n".utf8)
        }
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        return true
    }

    private static func contents(_ file: FileDescriptor) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = try Descriptor.read(file.rawValue, into: &buffer, name: "--seen")
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
        throw Errno.fileTooLarge
    }
}
