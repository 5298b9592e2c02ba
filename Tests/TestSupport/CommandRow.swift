// SPDX-License-Identifier: Apache-2.0

/// What tests that go over all commands know about one: its row in `Scripts/commands.tsv`.
package struct CommandRow: Sendable {
    /// How `--redact` is tried.
    package enum Redaction: Sendable, Equatable {
        /// With the card on a reader, for cards of these technologies, or of all.
        case reader([String]?, words: [String])
        /// With a dump of it, whose path takes the place of `FILE`.
        case file([String]?, words: [String])
        /// In another test, or not at all, and why.
        case elsewhere(String)
    }

    /// Its words, as in `tag info`.
    package let name: String
    /// The card that it is tried with, below the top of the repository; `nil` if it has no reader.
    package let card: String?
    /// The arguments that take it as far as its reader; `JOURNAL` is the path of a new file.
    package let words: [String]
    package let redaction: Redaction

    /// The rows, by the words of the commands.
    package static let all: [String: CommandRow] = {
        let text = String(decoding: (try? TestFiles.read("Scripts/commands.tsv")) ?? [], as: UTF8.self)
        let rows = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { CommandRow(String($0)) }
        return Dictionary(rows.map { ($0.name, $0) }) { first, _ in first }
    }()

    private init?(_ line: String) {
        let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        // A part of a command that is a call of its own has two cells.
        guard cells.count == 5 else { return nil }
        func words(_ text: String) -> [String] { text.split(separator: " ").map { String($0) } }
        name = cells[0]
        card = cells[2] == "-" ? nil : "Fixtures/\(cells[2]).json"
        self.words = cells[3] == "-" ? [] : words(cells[3])
        if cells[4].hasPrefix("- ") {
            redaction = .elsewhere(String(cells[4].dropFirst(2)))
            return
        }
        let parts = cells[4].split(separator: ":" as Character, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let kinds = parts[0] == "all" ? nil : parts[0].split(separator: ",").map(String.init)
        let line = words(String(parts[1]))
        redaction = line.contains("FILE") ? .file(kinds, words: line) : .reader(kinds, words: line)
    }
}
