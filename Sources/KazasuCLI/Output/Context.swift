// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// A reader that one command lends to another, and the output of that one unless it goes to a ``CommandHost``.
package final class LentReader {
    package let reader: any Reader
    package var output = ""

    package init(_ reader: any Reader) { self.reader = reader }
}

/// The context that every command gets beside its own options.
package struct Context {
    package var json: Bool
    package var verbosity: Int
    package var redaction: Redaction
    package var cancellation: CancellationToken
    /// The name of the running command.
    package var command: String?
    /// The reader that the command uses instead of its own; the output goes there, too.
    package var lent: LentReader?
    /// The failures beside the answer, which is still given.
    package let late = LateError()

    /// Who gets the output instead of the process.
    private var lender: LentReader? { CommandHost.current == nil ? lent : nil }

    /// Ends work that nobody waits for any more, such as that of a client that left.
    package func checkCancelled() throws(CommandError) {
        if cancellation.isCancelled { throw .cancelled() }
    }

    /// Prints a document, masked under `--redact`.
    package func print(_ document: JSONValue) throws(CommandError) {
        try print { $0.value(redaction.apply(document)) }
    }

    /// Prints a document while it is written, piece by piece.
    package func print(_ write: (inout JSONPrettyWriter) -> Void) throws(CommandError) {
        var failure: CommandError?
        var kept: [UInt8] = []
        var writer = JSONPrettyWriter { bytes in
            guard failure == nil else { return }
            guard lender == nil else {
                for index in bytes.indices { kept.append(bytes[index]) }
                return
            }
            do throws(CommandError) { try Output.write(bytes) } catch { failure = error }
        }
        write(&writer)
        writer.finish()
        lender?.output += String(decoding: kept, as: UTF8.self)
        if let failure { throw failure }
    }

    /// Prints a document on one line, for a sequence of several.
    package func print(line document: JSONValue) throws(CommandError) {
        try Output.write(redaction.apply(document).compactText + "\n")
    }

    /// Prints text for display.
    package func print(_ text: String) throws(CommandError) {
        if let lender { lender.output += text } else { try Output.write(text) }
    }

    /// Prints text whose parts have been escaped one by one.
    package func print(escaped text: String) throws(CommandError) {
        if let lender { lender.output += text } else { try Output.write(Array(text.utf8)) }
    }

    /// Prints data that another program may read: unchanged, except on a terminal.
    package func print(file text: String) throws(CommandError) {
        if let lender { return lender.output += text }
        if Output.isTerminal { try Output.write(text) } else { try Output.write(Array(text.utf8)) }
    }

    /// Prints a message that `-q` suppresses.
    package func note(_ text: String) {
        if verbosity >= 0 { Output.message(Output.paragraph("kazasu:", text)) }
    }

    /// Prints a warning that `-q` suppresses.
    package func warn(_ text: String) {
        if verbosity >= 0 { Output.message(Output.paragraph("kazasu:", text, color: .yellow)) }
    }

    /// Prints a message that only `-v` shows.
    package func detail(_ text: @autoclosure () -> String) {
        if verbosity > 0 { Output.message(Output.paragraph("kazasu:", text())) }
    }

    /// Checks that an option whose file cannot be masked is not combined with `--redact`.
    package func check(_ option: String, isGiven: Bool) throws(CommandError) {
        guard redaction.isOn, isGiven else { return }
        throw CommandError(
            .usage, "usage",
            tr("\(option) cannot be combined with --redact", "\(option) は --redact と併用できません"),
            hint: tr("what it writes cannot be masked", "書き出す内容を伏せられないためです"))
    }

    /// Does work beside the answer, such as writing a file. When it fails, the command goes on, and the failure ends
    /// the command after the answer is given.
    package func attempt(_ work: () throws(CommandError) -> Void) {
        do throws(CommandError) { try work() } catch { late.add(error) }
    }
}

/// The first of the failures that do not hold back a command's answer.
package final class LateError {
    private(set) var first: CommandError?

    package func add(_ failure: CommandError) { first = first ?? failure }
}
