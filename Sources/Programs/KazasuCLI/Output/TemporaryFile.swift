// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
package import SystemPackage

/// A new file that gets its name when it is complete, so that the name never leads to a half-written file.
///
/// Until then it has no name (`O_TMPFILE`), so that nothing remains of it however the process ends. On file systems
/// without such files (NFS, FAT) it has a name that cannot be guessed and is created exclusively: in a folder that
/// others can write to, a link planted in its place is never followed. Only `SIGKILL` leaves it behind there.
package final class TemporaryFile {
    package let descriptor: FileDescriptor
    private let folder: FilePath
    /// The current name in the folder, if it has one.
    private var path: FilePath?
    private var cleanup: ExitCleanup.Entry?

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - folder: the folder; on the same file system as the final place.
    ///   - permissions: the mode, which the process's umask does not change.
    package init(in folder: FilePath, permissions: FilePermissions) throws {
        self.folder = folder
        if let unnamed = TemporaryFile.unnamed(in: folder) {
            descriptor = unnamed
        } else {
            let (descriptor, path) = try TemporaryFile.named(in: folder)
            self.descriptor = descriptor
            self.path = path
            cleanup = ExitCleanup.add { _ = path.withPlatformString { unlink($0) } }
        }
        if permissions != .ownerReadWrite, fchmod(descriptor.rawValue, permissions.rawValue) != 0 {
            throw Errno(rawValue: errno)
        }
    }

    /// Gives the file its name, replacing anything that has it; a link there is replaced, not followed.
    package func move(to target: FilePath) throws(Errno) {
        // A file cannot be linked over another one, but renamed.
        let path: FilePath
        if let named = self.path { path = named } else { path = try link() }
        let result = path.withPlatformString { from in target.withPlatformString { rename(from, $0) } }
        guard result == 0 else { throw Errno(rawValue: errno) }
        self.path = nil
    }

    deinit {
        if let path { _ = path.withPlatformString { unlink($0) } }
        cleanup?.remove()
        try? descriptor.close()
    }

    /// Gives an unnamed file a name that cannot be guessed.
    private func link() throws(Errno) -> FilePath {
        while true {
            let path = TemporaryFile.newPath(in: folder)
            let result = path.withPlatformString { to in
                TemporaryFile.link(to: descriptor).withPlatformString {
                    linkat(AT_FDCWD, $0, AT_FDCWD, to, AT_SYMLINK_FOLLOW)
                }
            }
            if result == 0 {
                self.path = path
                return path
            }
            guard errno == EEXIST else { throw Errno(rawValue: errno) }
        }
    }

    /// The link through which a descriptor's file can be named.
    private static func link(to descriptor: FileDescriptor) -> FilePath {
        FilePath("/proc/self/fd/\(descriptor.rawValue)")
    }

    /// Opens a file without a name; `nil` if the file system has none, or `/proc` is missing.
    private static func unnamed(in folder: FilePath) -> FileDescriptor? {
        // O_TMPFILE, a macro that Swift does not import.
        let options = FileDescriptor.OpenOptions(rawValue: 0o20_000_000 | O_DIRECTORY | O_CLOEXEC)
        guard
            let descriptor = try? FileDescriptor.open(
                folder, .readWrite, options: options, permissions: .ownerReadWrite)
        else { return nil }
        guard link(to: descriptor).withPlatformString({ access($0, F_OK) }) == 0 else {
            try? descriptor.close()
            return nil
        }
        return descriptor
    }

    private static func named(in folder: FilePath) throws -> (FileDescriptor, FilePath) {
        while true {
            let path = newPath(in: folder)
            do {
                let descriptor = try FileDescriptor.open(
                    path, .readWrite, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
                    permissions: .ownerReadWrite)
                return (descriptor, path)
            } catch Errno.fileExists {
                continue
            }
        }
    }

    /// A new path with 64 random bits.
    private static func newPath(in folder: FilePath) -> FilePath {
        folder.appending(".kazasu-" + String(UInt64.random(in: .min ... .max), radix: 16) + ".part")
    }
}

/// Cleans up when a signal ends the process immediately, without unwinding. Temporary files are removed, and a terminal
/// with echo off is restored.
package enum ExitCleanup {
    private struct Actions {
        var next = 0
        var all: [Int: @Sendable () -> Void] = [:]
    }

    private static let actions = Mutex(Actions())

    /// An action that was added.
    package struct Entry {
        fileprivate let number: Int

        /// The action is no longer needed.
        package func remove() {
            actions.withLock { _ = $0.all.removeValue(forKey: number) }
        }
    }

    package static func add(_ action: @escaping @Sendable () -> Void) -> Entry {
        actions.withLock {
            $0.next += 1
            $0.all[$0.next] = action
            return Entry(number: $0.next)
        }
    }

    /// Runs all actions. Not for signal handlers: they must not take a lock; the thread that waits for signals may.
    package static func run() {
        actions.withLock {
            for action in $0.all.values { action() }
            $0.all = [:]
        }
    }
}
