// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reading and writing of files that the user names.
enum Files {
    /// The bytes of a file, `-` for standard input.
    ///
    /// - Parameter limit: the longest file that is read; one byte more is read of a longer one, so that the caller's
    ///   own check tells the user.
    static func read(_ path: String, limit: Int = 8 << 20) throws(Failure) -> [UInt8] {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0 {
            if status.st_mode & S_IFMT == S_IFDIR { throw unreadable(path, EISDIR) }
            if status.st_mode & S_IFMT == S_IFREG, status.st_size > limit { throw tooLong(path, limit) }
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw unreadable(path, errno)
            }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer.prefix(count))
        }
        throw tooLong(path, limit)
    }

    /// Writes a file as a whole: into a new file beside it first, so that an old one is never left half written.
    static func write(_ text: String, to path: String) throws(Failure) {
        let temporary = "\(path).\(getpid()).part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw unwritable(path, errno) }
        var error: Int32 = 0
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    error = errno
                    return
                }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
        if close(descriptor) != 0, error == 0 { error = errno }
        if error == 0, rename(temporary, path) != 0 { error = errno }
        guard error == 0 else {
            unlink(temporary)
            throw unwritable(path, error)
        }
    }

    private static func unreadable(_ path: String, _ error: Int32) -> Failure {
        Failure(
            .missingFile, "unreadable",
            tr("\(path) cannot be read: ", "\(path) を読めません: ") + String(cString: strerror(error)))
    }

    private static func unwritable(_ path: String, _ error: Int32) -> Failure {
        Failure(
            .cannotWrite, "cannotWrite",
            tr("\(path) cannot be written: ", "\(path) に書けません: ") + String(cString: strerror(error)))
    }

    private static func tooLong(_ path: String, _ limit: Int) -> Failure {
        Failure(
            .badFile, "tooLong",
            tr(
                "\(path) is longer than \(limit >> 20) MiB; no card's dump is",
                "\(path) は \(limit >> 20) MiB を超えています。カードのダンプではありません"))
    }
}
