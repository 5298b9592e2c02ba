// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc

/// Standard output and standard error.
enum Output {
    /// Writes the answer to standard output, as ``VisibleText``.
    ///
    /// - Throws: ``Failure`` when it cannot be written; nobody is told when the reader of a pipe went away.
    static func write(_ text: String) throws(Failure) {
        try write(Array(VisibleText.lines(text).utf8))
    }

    /// Writes bytes of the answer to standard output.
    ///
    /// - Throws: ``Failure`` as for text.
    static func write(_ bytes: [UInt8]) throws(Failure) {
        try write(bytes, to: STDOUT_FILENO)
    }

    /// Writes JSON to standard output.
    ///
    /// - Throws: ``Failure`` as for text.
    static func write(_ json: Span<UInt8>) throws(Failure) {
        try check(Descriptor.write(json, to: STDOUT_FILENO))
    }

    /// Writes a message to standard error, as ``VisibleText``; what cannot be written there is lost.
    static func message(_ text: String) {
        try? write(Array(VisibleText.lines(text).utf8), to: STDERR_FILENO)
    }

    /// Writes why a command failed to standard error.
    static func message(_ failure: Failure, json: Bool) {
        message(json ? failure.json.compactText + "\n" : failure.text)
    }

    /// Takes away the line that the terminal behind standard error has its cursor in.
    static func eraseLine() {
        try? write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Whether anybody may still read standard output: the other end of a pipe may be closed.
    static var isWanted: Bool {
        var place = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&place, 1, 0) <= 0 || Int32(place.revents) & (POLLERR | POLLHUP | POLLNVAL) == 0
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// How many places a line of standard output has when it is a terminal, as `COLUMNS` or the terminal says; else `nil`.
    static var lineWidth: Int? {
        guard isTerminal else { return nil }
        if let text = getenv("COLUMNS"), let count = Int(String(cString: text)), count > 0 { return count }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether standard error is a terminal.
    static var messagesAreOnTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Failure) {
        try check(Descriptor.write(bytes, to: descriptor))
    }

    private static func check(_ error: Int32) throws(Failure) {
        switch error {
        case 0: return
        case EPIPE: throw .brokenPipe
        case EINTR: throw .cancelled()
        default: throw .unwritable(tr("standard output", "標準出力"), error)
        }
    }
}
