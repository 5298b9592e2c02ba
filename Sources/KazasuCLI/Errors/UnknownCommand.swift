// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel

/// A command or a topic of `help` that does not exist. The argument parser answers most of them with the help of the
/// command above, and status 0.
struct UnknownCommand {
    /// The commands before it, as in `kazasu tag`.
    private let parent: String
    private let word: String
    /// The names that could be there.
    private let names: [String]

    /// Looks for the first word that should name a command and does not; `nil` when every one does.
    init?(_ arguments: [String]) {
        var words = arguments[...]
        if words.first == "help" { words.removeFirst() }
        var commands: [any ParsableCommand.Type] = RootCommand.configuration.subcommands
        var path = "kazasu"
        while let word = words.popFirst(), !commands.isEmpty {
            if word == "-h" || word == "--help" { continue }
            // What it was meant for is the parser's to say.
            if word.hasPrefix("-") { return nil }
            let named = commands.first { $0.configuration.commandName == word }
            guard let named else {
                // `tag help info` is another form of `help tag info`.
                if word == "help" { continue }
                (parent, self.word) = (path, word)
                names = commands.compactMap { $0.configuration.commandName }
                return
            }
            path += " " + word
            commands = named.configuration.subcommands
        }
        return nil
    }

    var error: CommandError {
        let name =
            parent.split(separator: " ").dropFirst().map { $0 + " " }.joined()
            + (ParserMessage.mayBeSecret(word) ? "…" : word)
        let hint =
            NearestName.of(word, among: names).map {
                tr("did you mean '\(parent) \($0)'?", "'\(parent) \($0)' のことですか？")
            } ?? tr("'\(parent) --help' lists the commands", "コマンドの一覧は '\(parent) --help' で確認できます")
        return CommandError(
            .usage, "usage", tr("unknown command '\(name)'", "'\(name)' というコマンドはありません"), hint: hint)
    }
}

/// An option that the command does not have.
struct UnknownOption {
    private let option: String
    /// The command line before it, as in `kazasu poll`.
    private let command: String
    /// The command's long options, without the hyphens.
    private let names: [String]
    /// The command behind it that has the option.
    private var following: String?

    /// Looks for the first one; `nil` when every option is known, or when what a word is meant for is unclear.
    init?(_ arguments: [String]) {
        guard var current = CommandListing.root else { return nil }
        var words = arguments[...]
        var path = "kazasu"
        while let word = words.popFirst(), word != "--" {
            let name = String(word.prefix { $0 != "=" })
            if let option = current.options[name] {
                if option.takesValue, name == word { words = words.dropFirst() }
            } else if word.hasPrefix("--") {
                if Self.hidden.contains(name) { return nil }
                (option, command) = (name, path)
                names = current.options.keys.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }.sorted()
                following = words.first { current.below[$0]?.options[name] != nil }
                return
            } else if word.hasPrefix("-"), word.count > 1 {
                return nil
            } else if let below = current.below[word] {
                path += " " + word
                current = below
            }
        }
        return nil
    }

    /// The parser's own options, which its listing leaves out.
    private static let hidden = ["--generate-completion-script", "--experimental-dump-help", "--help-hidden"]

    var error: CommandError {
        let shown = ParserMessage.mayBeSecret(option) ? "--…" : option
        let hint =
            following.map {
                tr(
                    "it belongs after the command: \(command) \($0) \(shown)",
                    "コマンドの後に書いてください: \(command) \($0) \(shown)")
            }
            ?? NearestName.of(String(option.dropFirst(2)), among: names).map {
                tr("did you mean '--\($0)'?", "'--\($0)' のことですか？")
            } ?? tr("'\(command) --help' lists the options", "オプションの一覧は '\(command) --help' で確認できます")
        return CommandError(
            .usage, "usage", tr("unknown option '\(shown)'", "'\(shown)' というオプションはありません"), hint: hint)
    }
}

/// A command of the parser's own listing: its options and the commands below it.
struct CommandListing {
    /// An option or an argument.
    struct Option {
        var takesValue: Bool
        /// Its line of help, without the texts that the parser adds.
        var help: String?
        /// The values that it may have, where they are a list.
        var values: [String]
        /// The name of its value, as in `date`.
        var valueName: String?
    }

    /// By name, with the hyphens; arguments by the name of their value in angle brackets, as in `<file>`.
    private(set) var options: [String: Option] = [:]
    private(set) var below: [String: CommandListing] = [:]

    /// The whole program; `nil` if the parser's listing cannot be read.
    static let root: CommandListing? = {
        guard let listing = try? JSONValue(parsing: Array(RootCommand._dumpHelp().utf8)) else { return nil }
        return try? CommandListing(JSONCursor(listing).required("command"))
    }()

    private init(_ command: JSONCursor) throws(DocumentError) {
        for argument in try command.optional("arguments")?.elements() ?? [] {
            var values: [String] = []
            for value in try argument.optional("allValues")?.elements() ?? [] { values.append(try value.text()) }
            let valueName = try argument.optional("valueName")?.text()
            let option = Option(
                takesValue: try argument.required("kind").text() == "option",
                help: try argument.optional("abstract")?.text(), values: values, valueName: valueName)
            if try argument.required("kind").text() == "positional", let valueName {
                options["<\(valueName)>"] = option
            }
            for name in try argument.optional("names")?.elements() ?? [] {
                let hyphens = try name.required("kind").text() == "long" ? "--" : "-"
                options[try hyphens + name.required("name").text()] = option
            }
        }
        for one in try command.optional("subcommands")?.elements() ?? [] {
            below[try one.required("commandName").text()] = try CommandListing(one)
        }
    }

    /// The command of these names.
    func command(_ names: some Sequence<String>) -> CommandListing? {
        var current = self
        for name in names {
            guard let next = current.below[name] else { return nil }
            current = next
        }
        return current
    }
}

/// The known name that somebody probably meant.
package enum NearestName {
    /// Returns the name that begins with the word or differs from it in the fewest letters: one in three at most.
    package static func of(_ word: String, among names: [String]) -> String? {
        let word = word.lowercased()
        guard word.utf8.count <= 64 else { return nil }
        if word.utf8.count > 1, let longer = names.first(where: { $0.lowercased().hasPrefix(word) }) { return longer }
        let nearest = names.map { (name: $0, distance: distance(Array(word.utf8), Array($0.lowercased().utf8))) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(1, nearest.name.utf8.count / 3) else { return nil }
        return nearest.name
    }

    /// How many letters were left out, added, replaced or exchanged with their neighbour.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var older: [Int] = []
        var above = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                var best = min(above[column] + (letter == other ? 0 : 1), above[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    best = min(best, older[column - 1] + 1)
                }
                current.append(best)
            }
            (older, above) = (above, current)
        }
        return above[second.count]
    }
}
