// SPDX-License-Identifier: Apache-2.0

import CardModel
package import CardReading
import Glibc

/// Standard output and standard error. What is written passes the ``RedactionGate``.
package enum Output {
    /// Writes the answer to standard output, as ``VisibleText``.
    ///
    /// - Throws: ``CommandError`` when it cannot be written; a pipe whose reader went away is not reported.
    package static func write(_ text: String) throws(CommandError) {
        try write(Array(VisibleText.lines(text, keepingColours: Colour.isOnOutput).utf8))
    }

    /// Writes bytes of the answer to standard output.
    ///
    /// - Throws: ``CommandError`` as for text.
    package static func write(_ bytes: [UInt8]) throws(CommandError) {
        try write(bytes, to: STDOUT_FILENO)
    }

    /// Writes JSON to standard output.
    ///
    /// - Throws: ``CommandError`` as for text.
    package static func write(_ json: Span<UInt8>) throws(CommandError) {
        guard RedactionGate.shared.isOn else { return try check(Descriptor.write(json, to: STDOUT_FILENO)) }
        try write(json.withUnsafeBytes { Array($0) })
    }

    /// Writes a message to standard error, as ``VisibleText``; anything that cannot be written there is lost.
    package static func message(_ text: String) {
        try? write(Array(VisibleText.lines(text, keepingColours: Colour.isOnMessages).utf8), to: STDERR_FILENO)
    }

    /// Writes the reason why a command failed to standard error.
    package static func message(_ failure: CommandError, json: Bool) {
        message(json ? failure.json.compactText + "\n" : failure.text)
    }

    /// Erases the line that holds the cursor of the terminal behind standard error.
    package static func eraseLine() {
        try? write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Whether standard output still has a reader: the other end of a pipe may be closed.
    package static var isWanted: Bool {
        var place = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&place, 1, 0) <= 0 || Int32(place.revents) & (POLLERR | POLLHUP | POLLNVAL) == 0
    }

    /// Whether standard output is a terminal.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The width of standard output's lines when it is a terminal, as `COLUMNS` or the terminal reports it; else `nil`.
    package static var lineWidth: Int? {
        guard isTerminal else { return nil }
        if let text = getenv("COLUMNS"), let count = Int(String(cString: text)), count > 0 { return count }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether standard error is a terminal.
    package static var messagesAreOnTerminal: Bool { isatty(STDERR_FILENO) == 1 }

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

/// One line on a terminal's stderr that shows the progress of long work; it appears after half a second.
package final class ProgressLine {
    private let isOn: Bool
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private var isShown = false

    package init(_ context: Context) {
        isOn = Output.messagesAreOnTerminal && context.verbosity >= 0
        start = clock.now
        last = start
    }

    package func show(_ progress: ReadingProgress) {
        guard isOn else { return }
        let now = clock.now
        guard now - start > .milliseconds(500), now - last > .milliseconds(80) else { return }
        last = now
        isShown = true
        Output.eraseLine()
        Output.message(
            tr(
                "system \(progress.system): \(progress.nodes) nodes, \(progress.blocks) blocks",
                "システム \(progress.system): ノード \(progress.nodes)、ブロック \(progress.blocks)"))
    }

    package func end() {
        if isShown { Output.eraseLine() }
        isShown = false
    }
}

/// "Put a card on the reader", shown on a terminal while there is no card; it disappears when a card comes.
package final class WaitingNote {
    private let isShown: Bool

    package init(_ context: Context) {
        isShown = Output.messagesAreOnTerminal && context.verbosity >= 0
        if isShown { Output.message(tr("Put a card on the reader …", "カードをかざしてください …")) }
    }

    package func end() {
        if isShown { Output.eraseLine() }
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

/// A question that `--yes` answers in advance.
package enum Confirmation {
    /// Asks the question; only y or yes continues.
    ///
    /// - Throws: ``CommandError`` with status 64 where there is nobody to ask, 130 when the answer is no.
    package static func ask(_ question: String) throws(CommandError) {
        try check()
        Output.message(question + " [y/N] ")
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else { throw .cancelled() }
    }

    /// Checks that there is somebody to ask, before work that ends in a question.
    package static func check() throws(CommandError) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandError(
                .usage, "usage", tr("cannot ask for confirmation: no terminal", "対話できる端末ではないため確認できません"),
                hint: tr("add --yes", "--yes を付けてください"))
        }
    }
}

/// Quotes texts in the commands that hints show, so that they can be pasted into a shell.
package enum ShellWord {
    /// A file name or another text as one word of a POSIX shell; plain ones stay unchanged.
    ///
    /// A name that begins with a hyphen is prefixed with `./`, so that no program parses it as an option.
    package static func quoted(_ text: String) -> String {
        let text = text.hasPrefix("-") && text != "-" ? "./" + text : text
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "@%+=:,./-_".utf8.contains(byte)
            }
        }
        return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}

/// The filter that every text for display passes before output. Names on cards, of files and of other users' processes
/// may hold characters that control a terminal, or that change the order in which a line is read. They are shown as
/// `\u{202E}`.
///
/// JSON is escaped by its writer, by JSON's rules.
package enum VisibleText {
    /// Escapes text of several lines: line ends stay.
    ///
    /// - Parameter keepingColours: whether the codes of ``Colour`` stay, too.
    package static func lines(_ text: String, keepingColours: Bool = false) -> String {
        guard keepingColours, text.utf8.contains(0x1B) else {
            return HiddenCharacters.escaped(text, keepingLineEnds: true)
        }
        let codes = (Colour.allCases.map(\.rawValue) + ["0"]).map { "[\($0)m" }
        var result = ""
        for (index, piece) in text.split(separator: "\u{1B}", omittingEmptySubsequences: false).enumerated() {
            let code = index == 0 ? nil : codes.first { piece.hasPrefix($0) }
            if index > 0 {
                result += code.map { "\u{1B}\($0)" } ?? HiddenCharacters.escaped("\u{1B}", keepingLineEnds: true)
            }
            result += HiddenCharacters.escaped(String(piece.dropFirst(code?.count ?? 0)), keepingLineEnds: true)
        }
        return result
    }

    /// Escapes one line, or a part of one. Line ends are escaped as well, so that nothing can pass for a separate line.
    package static func line(_ text: String) -> String { HiddenCharacters.escaped(text, keepingLineEnds: false) }
}
