// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import Synchronization

/// The files that this run reads, keeps and writes, so that no output replaces one of them: by a typing error in `-o`,
/// a ledger with years of records would be gone.
///
/// Every function here that opens a file records it, so commands need not. A conflict is found at whichever of the two
/// files is opened second, before anything is written.
package final class FilesInUse: Sendable {
    /// Those of this process.
    package static let shared = FilesInUse()

    /// What a file is to a command.
    package enum Role: Sendable {
        /// It is read.
        case input
        /// A dump to continue, which its continuation may replace.
        case resumed
        /// A virtual card, which its next state may replace.
        case card
        /// It is a ledger or an outbox.
        case database
    }

    /// The device and inode of a file, `DEVICE:INODE`, or of a folder with a name in it, where a file may not exist yet:
    /// `DEVICE:INODE/NAME`.
    fileprivate typealias Key = String

    /// A file while it is being written.
    package final class Claim {
        fileprivate let keys: [Key]

        fileprivate init(_ keys: [Key]) { self.keys = keys }

        deinit { FilesInUse.shared.release(keys) }
    }

    private struct State {
        var roles: [Key: Role] = [:]
        /// What each output may replace.
        var outputs: [Key: Role?] = [:]
    }

    private let state = Mutex(State())

    /// Records an open file that the command reads; anything but a regular file is of no concern.
    ///
    /// - Throws: ``CommandError`` with status 64 when an output is to replace it.
    package func reads(_ descriptor: Int32, _ path: String, as role: Role = .input) throws(CommandError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        try record([FilesInUse.key(status)], path, role)
    }

    /// Records a database that the command is about to open, with the files that SQLite has beside it.
    ///
    /// - Throws: ``CommandError`` with status 64 when an output is to replace one of them.
    package func keeps(_ path: String) throws(CommandError) {
        try record(["", "-wal", "-shm", "-journal"].flatMap { FilesInUse.keys(path + $0) }, path, .database)
    }

    /// Records an output.
    ///
    /// - Parameter replacing: what it may replace.
    /// - Throws: ``CommandError`` with status 64 when it is something else that the command reads or keeps, or any
    ///   database.
    package func writes(_ path: String, replacing: Role? = nil) throws(CommandError) -> Claim {
        guard !FilesInUse.isDatabase(path) else {
            throw CommandError(.fileDatabase, values: [path])
        }
        let keys = FilesInUse.keys(path)
        let isFree = state.withLock { state in
            guard
                keys.allSatisfy({ key in
                    state.outputs[key] == nil && (state.roles[key] == nil || state.roles[key] == replacing)
                })
            else { return false }
            for key in keys { state.outputs[key] = .some(replacing) }
            return true
        }
        guard isFree else { throw FilesInUse.conflict(path) }
        return Claim(keys)
    }

    private func record(_ keys: [Key], _ path: String, _ role: Role) throws(CommandError) {
        // A command for a client writes no file, and there may be many of them.
        guard CommandHost.current == nil else { return }
        let isFree = state.withLock { state in
            guard keys.allSatisfy({ key in state.outputs[key].map { $0 == role } ?? true }) else { return false }
            for key in keys { state.roles[key] = role }
            return true
        }
        guard isFree else { throw FilesInUse.conflict(path) }
    }

    private func release(_ keys: [Key]) {
        state.withLock { state in
            for key in keys { state.outputs[key] = nil }
        }
    }

    private static func key(_ status: stat) -> Key { "\(status.st_dev):\(status.st_ino)" }

    /// What identifies the regular file at a path, or the place where it will be made.
    private static func keys(_ path: String) -> [Key] {
        var keys: [Key] = []
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { return [] }
            keys.append(key(status))
        }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? "."
        if stat(folder, &status) == 0 {
            let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
            keys.append("\(key(status))/\(name)")
        }
        return keys
    }

    private static func isDatabase(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let descriptor = Descriptor.open(path)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let magic = Array("SQLite format 3\0".utf8)
        var head = [UInt8](repeating: 0, count: magic.count)
        return pread(descriptor, &head, head.count, 0) == head.count && head == magic
    }

    private static func conflict(_ path: String) -> CommandError {
        CommandError(.fileInUse, values: [Files.name(path)])
    }
}
