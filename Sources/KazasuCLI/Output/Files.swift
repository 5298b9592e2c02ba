// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reading of files that the user names.
enum Files {
    /// The bytes of a file, `-` for standard input.
    ///
    /// - Parameter limit: the longest file that is read; one byte more is read of a longer one, so that the caller's
    ///   own check tells the user.
    static func read(_ path: String, limit: Int = 8 << 20) throws(Failure) -> [UInt8] {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : Descriptor.open(path)
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
            let count = try Descriptor.read(descriptor, into: &buffer, name: path)
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer.prefix(count))
        }
        throw tooLong(path, limit)
    }

    static func unreadable(_ path: String, _ error: Int32) -> Failure {
        Failure(
            .missingFile, "unreadable",
            tr("\(name(path)) cannot be read: ", "\(name(path)) を読めません: ") + SystemMessage.text(error),
            hint: tr("check the path that was given", "指定したパスを確かめてください"))
    }

    static func tooLong(_ path: String, _ limit: Int) -> Failure {
        Failure(
            .badFile, "tooLong",
            tr(
                "\(name(path)) is longer than \(limit >> 20) MiB, which no card's file is",
                "\(name(path)) は \(limit >> 20) MiB を超えており、カードのファイルではありません"),
            hint: tr("check the path that was given", "指定したパスを確かめてください"))
    }

    /// What messages call a file.
    static func name(_ path: String) -> String {
        path == "-" ? tr("standard input", "標準入力") : path
    }
}
