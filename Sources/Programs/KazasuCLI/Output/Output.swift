// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu

/// Standard output and standard error. What is written passes the ``RedactionGate``.
package enum Output {
    /// Writes the answer to standard output, as ``VisibleText``.
    ///
    /// - Throws: ``CommandError`` when it cannot be written; a pipe whose reader went away is not reported.
    package static func write(_ text: String) throws(CommandError) {
        if let host = CommandHost.current { return host.answer.add(Array(text.utf8)) }
        try write(Array(VisibleText.lines(text, keepingColors: Color.isOnOutput).utf8))
    }

    /// Writes bytes of the answer to standard output.
    ///
    /// - Throws: ``CommandError`` as for text.
    package static func write(_ bytes: [UInt8]) throws(CommandError) {
        if let host = CommandHost.current { return host.answer.add(bytes) }
        try write(bytes, to: STDOUT_FILENO)
    }

    /// Writes JSON to standard output.
    ///
    /// - Throws: ``CommandError`` as for text.
    package static func write(_ json: Span<UInt8>) throws(CommandError) {
        guard RedactionGate.shared.isOn else {
            return try check(Descriptor.write(json, to: STDOUT_FILENO))
        }
        try write(json.withUnsafeBytes { Array($0) })
    }

    /// Writes a message to standard error, as ``VisibleText``; anything that cannot be written there is lost.
    package static func message(_ text: String) {
        guard CommandHost.current == nil else { return }
        try? write(Array(VisibleText.lines(text, keepingColors: Color.isOnMessages).utf8), to: STDERR_FILENO)
    }

    /// A message behind a label, as ``VisibleText``. On a terminal, lines end between words, and those after the first
    /// are indented by the label.
    ///
    /// - Parameter color: that of the label.
    package static func paragraph(
        _ label: String, _ text: String, color: Color? = nil, width: Int? = messageWidth
    ) -> String {
        let text = VisibleText.line(text)
        let head = color?.message(label) ?? label
        let indent = label.terminalWidth + 1
        // A terminal narrower than this breaks lines by itself.
        guard let width, width >= indent + 20 else { return "\(head) \(text)\n" }
        let lines = LineBreaker.lines(text, width: width - indent)
        return head + " " + lines.joined(separator: "\n" + String(repeating: " ", count: indent)) + "\n"
    }

    /// Writes the reason why a command failed to standard error.
    package static func message(_ failure: CommandError, json: Bool) {
        message(json ? failure.json.compactText + "\n" : failure.text)
    }

    /// Erases the line that holds the cursor of the terminal behind standard error.
    package static func eraseLine() {
        guard CommandHost.current == nil else { return }
        try? write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Whether standard output still has a reader: the other end of a pipe may be closed.
    package static var isWanted: Bool {
        var place = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&place, 1, 0) <= 0 || Int32(place.revents) & (POLLERR | POLLHUP | POLLNVAL) == 0
    }

    /// Whether standard output is a terminal.
    package static var isTerminal: Bool { CommandHost.current == nil && isatty(STDOUT_FILENO) == 1 }

    /// The width of standard output's lines when it is a terminal, as `COLUMNS` or the terminal reports it; else `nil`.
    package static var lineWidth: Int? { isTerminal ? width(STDOUT_FILENO) : nil }

    /// The same of standard error's lines.
    package static var messageWidth: Int? { messagesAreOnTerminal ? width(STDERR_FILENO) : nil }

    private static func width(_ terminal: Int32) -> Int? {
        if let text = getenv("COLUMNS"), let count = Int(String(cString: text)), count > 0 { return count }
        var size = winsize()
        guard ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether standard error is a terminal.
    package static var messagesAreOnTerminal: Bool { CommandHost.current == nil && isatty(STDERR_FILENO) == 1 }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(CommandError) {
        try check(Descriptor.write(RedactionGate.shared.masked(bytes), to: descriptor))
    }

    private static func check(_ error: Int32) throws(CommandError) {
        switch error {
        case 0: return
        case EPIPE: throw .brokenPipe
        case EINTR: throw .cancelled()
        default: throw .unwritable(tr("standard output", "標準出力"), error)
        }
    }
}

/// Standard input, output and error.
package enum StandardStreams {
    /// Opens `/dev/null` in place of those that the process was started without (`2>&-`). Otherwise the next opened
    /// file would get their numbers, and messages would end up in it.
    ///
    /// Input then cannot be read and output cannot be written, so that neither is silently empty; messages are lost.
    package static func openClosedOnes() {
        let modes = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        for (descriptor, mode) in modes where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is this one.
            _ = open("/dev/null", mode)
        }
    }
}
