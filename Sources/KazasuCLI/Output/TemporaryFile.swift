// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
package import SystemPackage

/// A new file that is moved to its place when it is complete, so that the place never holds a half-written file.
///
/// Its name cannot be guessed, it is created exclusively, and its mode is right before its first byte: in a folder
/// that others can write to, a link planted in its place is never followed. It holds a lock while it is written. A
/// file with such a name that nobody has locked was left by a killed process, and the next one in the same folder
/// removes it.
package final class TemporaryFile {
    package let descriptor: FileDescriptor
    private let path: FilePath
    private let cleanup: ExitCleanup.Entry
    private var isMoved = false

    private static let prefix = ".kazasu-"
    private static let suffix = ".part"
    /// The random part of a name, in hexadecimal digits: 64 bits.
    private static let digits = 16

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - folder: the folder; on the same file system as the final place.
    ///   - permissions: the mode, which the process's umask does not change.
    package init(in folder: FilePath, permissions: FilePermissions) throws {
        TemporaryFile.removeStale(in: folder)
        while true {
            let path = folder.appending(TemporaryFile.newName())
            let descriptor: FileDescriptor
            do {
                descriptor = try FileDescriptor.open(
                    path, .readWrite, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
                    permissions: .ownerReadWrite)
            } catch Errno.fileExists {
                continue
            }
            // Another process may have taken it for stale before it was locked.
            guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK,
                try descriptor.stat().linkCount == 1
            else {
                try? descriptor.close()
                continue
            }
            self.descriptor = descriptor
            self.path = path
            cleanup = ExitCleanup.add { _ = path.withPlatformString { unlink($0) } }
            if permissions != .ownerReadWrite, fchmod(descriptor.rawValue, permissions.rawValue) != 0 {
                throw Errno(rawValue: errno)
            }
            return
        }
    }

    /// Gives the file its name, replacing anything that has it; a link there is replaced, not followed.
    package func move(to target: FilePath) throws(Errno) {
        let result = path.withPlatformString { from in target.withPlatformString { rename(from, $0) } }
        guard result == 0 else { throw Errno(rawValue: errno) }
        isMoved = true
    }

    deinit {
        if !isMoved { _ = path.withPlatformString { unlink($0) } }
        cleanup.remove()
        try? descriptor.close()
    }

    private static func newName() -> String {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        return prefix + String(repeating: "0", count: digits - number.utf8.count) + number + suffix
    }

    private static func isName(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
        let middle = name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        return middle.count == digits
            && middle.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Removes the files that killed processes of this user left in a folder. Only regular files with such a name that
    /// nobody has locked are removed.
    private static func removeStale(in folder: FilePath) {
        guard let entries = try? FolderEntries(folder) else { return }
        for name in entries.names where isName(name.string) {
            guard
                let file = try? entries.open(name, [.noFollow, .nonBlocking, .closeOnExec]),
                let found = try? file.stat()
            else { continue }
            defer { try? file.close() }
            guard found.type == .regular, found.userID.rawValue == geteuid(), found.linkCount == 1,
                flock(file.rawValue, LOCK_EX | LOCK_NB) == 0,
                let named = try? entries.stat(name), named.inode == found.inode, named.deviceID == found.deviceID
            else { continue }
            entries.remove(name)
        }
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

    /// Adds an action.
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
