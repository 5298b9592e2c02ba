// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport

/// A reader that one command lends to another, and what that one prints.
final class LentReader {
    let reader: any Reader
    var output = ""

    init(_ reader: any Reader) { self.reader = reader }
}

/// What every command gets beside its own options.
struct Context {
    var json: Bool
    var verbosity: Int
    var redaction: Redaction
    var cancellation: CancellationToken
    /// The name of the command that runs.
    var command: String?
    /// The reader that the command is to use in place of its own; what it prints goes there, too.
    var lent: LentReader?

    /// Prints a document, made unreadable where `--redact` says so.
    func print(_ document: JSONValue) throws(Failure) {
        try print(redaction.apply(document).prettyText + "\n")
    }

    /// Prints a document on one line, as for several that come one after the other.
    func print(line document: JSONValue) throws(Failure) {
        try Output.write(redaction.apply(document).compactText + "\n")
    }

    /// Prints text for people.
    func print(_ text: String) throws(Failure) {
        if let lent { lent.output += text } else { try Output.write(text) }
    }

    /// A message that `-q` keeps back.
    func note(_ text: String) {
        if verbosity >= 0 { Output.message("kazasu: \(text)\n") }
    }

    /// A message that only `-v` shows.
    func detail(_ text: @autoclosure () -> String) {
        if verbosity > 0 { Output.message("kazasu: \(text())\n") }
    }
}
