// SPDX-License-Identifier: Apache-2.0

package import Kazasu
import Synchronization

/// What a command answers when somebody else than a terminal or a file gets it: documents as values, anything else as text.
package final class CommandAnswer: Sendable {
    private let state = Mutex<(documents: [JSONValue], text: [UInt8])>(([], []))

    package init() {}

    /// The document; `nil` if there is none, or several.
    package var document: JSONValue? { state.withLock { $0.documents.count == 1 ? $0.documents.first : nil } }

    /// What was printed beside documents, as it would be on standard output.
    package var bytes: [UInt8] { state.withLock(\.text) }

    package func add(_ document: JSONValue) {
        let document = RedactionGate.shared.masked(document)
        state.withLock { $0.documents.append(document) }
    }

    package func add(_ text: [UInt8]) {
        let text = RedactionGate.shared.masked(text)
        state.withLock { $0.text += text }
    }
}

/// A document that is written while it is made, so that one of any length needs no memory.
package protocol StreamedDocument {
    func write<Sink: JSONSink & ~Copyable>(to sink: inout Sink)
}

/// A reader that one command lends to another, and what that one answers.
package final class LentReader {
    package let reader: any Reader
    package let answer = CommandAnswer()

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
    /// The reader that the command uses instead of its own; the answer goes there, too.
    package var lent: LentReader?
    /// Failures after which the answer is still printed.
    package let late = LateError()

    /// What gets the answer instead of standard output.
    package var answer: CommandAnswer? { CommandHost.current?.answer ?? lent?.answer }

    /// Ends work that nobody waits for any more, such as that of a client that left.
    package func checkCancelled() throws(CommandError) {
        if cancellation.isCancelled { throw .cancelled() }
    }

    /// Prints a document, masked under `--redact`.
    package func print(_ document: JSONValue) throws(CommandError) {
        let document = redaction.apply(document)
        if let answer { return answer.add(document) }
        try print { $0.value(document) }
    }

    /// Prints a document while it is made.
    package func print(_ document: some StreamedDocument) throws(CommandError) {
        if let answer { return answer.add(JSONValue(writing: { document.write(to: &$0) })) }
        try print { document.write(to: &$0) }
    }

    /// Prints the answer about a card: with `--json` its document, else text.
    ///
    /// - Parameters:
    ///   - schema: the document's.
    ///   - card: its `card`.
    ///   - members: what follows them.
    package func print(
        _ schema: String, card: @autoclosure () -> JSONValue, _ members: @autoclosure () -> JSONObject,
        else text: @autoclosure () -> String
    ) throws(CommandError) {
        guard json else { return try print(text()) }
        var document = JSONObject([("schema", .string(schema)), ("card", card())])
        document.merge(members())
        try print(.object(document))
    }

    private func print(_ write: (inout JSONPrettyWriter) -> Void) throws(CommandError) {
        var failure: CommandError?
        var writer = JSONPrettyWriter { bytes in
            guard failure == nil else { return }
            do throws(CommandError) { try Output.write(bytes) } catch { failure = error }
        }
        write(&writer)
        writer.finish()
        if let failure { throw failure }
    }

    /// Prints a document on one line, for a sequence of several.
    package func print(line document: JSONValue) throws(CommandError) {
        let document = redaction.apply(document)
        if let answer { return answer.add(document) }
        try Output.write(document.compactText + "\n")
    }

    /// Prints text for display.
    package func print(_ text: String) throws(CommandError) {
        if let answer { answer.add(Array(text.utf8)) } else { try Output.write(text) }
    }

    /// Prints text whose parts have been escaped one by one.
    package func print(escaped text: String) throws(CommandError) {
        if let answer { answer.add(Array(text.utf8)) } else { try Output.write(Array(text.utf8)) }
    }

    /// Prints data that another program may read: unchanged, except on a terminal.
    package func print(file bytes: [UInt8]) throws(CommandError) {
        if let answer { return answer.add(bytes) }
        if Output.isTerminal, let text = String(validating: bytes, as: UTF8.self) {
            try Output.write(text)
        } else {
            try Output.write(bytes)
        }
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
        throw CommandError(.optionNotMasked, values: [option])
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
