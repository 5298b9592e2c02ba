// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Standard output and standard error.
enum Output {
    /// Writes the answer to standard output.
    ///
    /// - Throws: ``Failure`` when it cannot be written; nobody is told when the reader of a pipe went away.
    static func write(_ text: String) throws(Failure) {
        try write(text, to: STDOUT_FILENO)
    }

    /// Writes a message to standard error; what cannot be written there is lost.
    static func message(_ text: String) {
        try? write(text, to: STDERR_FILENO)
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var messagesAreOnTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    private static func write(_ text: String, to descriptor: Int32) throws(Failure) {
        var text = text
        let error: Int32 = text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno
                }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
            return 0
        }
        switch error {
        case 0: return
        case EPIPE: throw Failure(.brokenPipe, "brokenPipe", "")
        default:
            throw Failure(
                .cannotWrite, "cannotWrite",
                tr("standard output cannot be written: ", "標準出力に書けません: ") + String(cString: strerror(error)))
        }
    }
}
