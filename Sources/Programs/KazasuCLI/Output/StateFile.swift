// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// A small file in `$XDG_STATE_HOME/kazasu` that only its owner can read, and that one program changes at a time.
package struct StateFile {
    package let name: String
    /// The longest file that is read, in bytes; the rest of a longer one is ignored.
    package let limit: Int

    package init(name: String, limit: Int) { (self.name, self.limit) = (name, limit) }

    /// The file's folder; `nil` when the environment names none.
    package static var folder: String? {
        SystemEnvironment.folder("XDG_STATE_HOME", usual: ".local/state").map { $0 + "/kazasu" }
    }

    /// The content; `nil` if there is none.
    package func read() -> [UInt8]? {
        Self.folder.flatMap { try? Files.read("\($0)/\(name)", limit: limit, as: nil) }
    }

    /// Changes the file while no other program does.
    ///
    /// - Parameter body: receives the content and returns the new one; `nil` leaves the file as it is.
    /// - Returns: whether the new content was written.
    package func change(_ body: ([UInt8]) -> String?) -> Bool {
        do {
            guard let folder = Self.folder else { return false }
            try Files.makeFolder(folder, permissions: 0o700)
            let file = try FileDescriptor.open(
                FilePath("\(folder)/\(name)"), .readWrite, options: [.create, .closeOnExec, .noFollow],
                permissions: [.ownerRead, .ownerWrite])
            return try file.closeAfter {
                guard flock(file.rawValue, LOCK_EX) == 0 else { throw Errno(rawValue: errno) }
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while bytes.count < limit {
                    let count = try Descriptor.read(file.rawValue, into: &buffer, name: name)
                    guard count > 0 else { break }
                    bytes += buffer.prefix(count)
                }
                guard let text = body(bytes) else { return false }
                guard ftruncate(file.rawValue, 0) == 0, lseek(file.rawValue, 0, SEEK_SET) == 0 else {
                    throw Errno(rawValue: errno)
                }
                let failure = Descriptor.write(text, to: file.rawValue)
                guard failure == 0 else { throw Errno(rawValue: failure) }
                guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
                return true
            }
        } catch {
            return false
        }
    }
}
