// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Small text files, without Foundation.
enum TextFile {
    /// Configuration files are shorter; what is longer is cut.
    private static let longest = 65_536

    /// The lines of a file, none when it cannot be read. What is no UTF-8 is replaced.
    static func lines(of path: String) -> [String] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while text.count < longest {
            let count = unsafe read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            text += buffer.prefix(count)
        }
        return text.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }
}
