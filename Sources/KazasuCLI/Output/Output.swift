// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Standard output and standard error.
enum Output {
    /// Writes the answer to standard output.
    ///
    /// - Throws: ``Failure`` when it cannot be written; nobody is told when the reader of a pipe went away.
    static func write(_ text: String) throws(Failure) {
        try write(Array(text.utf8))
    }

    /// Writes bytes of the answer to standard output.
    ///
    /// - Throws: ``Failure`` as for text.
    static func write(_ bytes: [UInt8]) throws(Failure) {
        try write(bytes, to: STDOUT_FILENO)
    }

    /// Writes a message to standard error; what cannot be written there is lost.
    static func message(_ text: String) {
        try? write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal.
    static var messagesAreOnTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        let error = Descriptor.write(bytes, to: descriptor)
        switch error {
        case 0: return
        case EPIPE: throw .brokenPipe
        default: throw .unwritable(tr("standard output", "標準出力"), error)
        }
    }
}
