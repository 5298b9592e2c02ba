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
        let error = Descriptor.write(text, to: descriptor)
        switch error {
        case 0: return
        case EPIPE: throw .brokenPipe
        default: throw .unwritable(tr("standard output", "標準出力"), error)
        }
    }
}
