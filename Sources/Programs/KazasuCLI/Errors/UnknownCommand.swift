// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Kazasu

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

    /// The commands of other groups that have the name, for a word without its group.
    private var elsewhere: String? {
        guard parent == "kazasu", !names.contains(word) else { return nil }
        var found = RootCommand.configuration.subcommands.flatMap { group in
            group.configuration.subcommands.map {
                (group.configuration.commandName ?? "", $0.configuration.commandName ?? "")
            }
        }
        found += ServiceCommand.ledgerCommands.map { (ServiceCommand.ledger.rawValue, $0) }
        var commands: [String] = []
        for (group, name) in found where name == word && !commands.contains("'kazasu \(group) \(name)'") {
            commands.append("'kazasu \(group) \(name)'")
        }
        if word == "claim" { commands = ["'kazasu ledger export --claim'"] }
        return commands.isEmpty ? nil : commands.joined(separator: tr(" or ", " または "))
    }

    var error: CommandError {
        let name =
            parent.split(separator: " ").dropFirst().map { $0 + " " }.joined()
            + (ParserMessage.mayBeSecret(word) ? "…" : word)
        let hint =
            elsewhere.map { tr("did you mean \($0)?", "\($0) のことですか？") }
            ?? NearestName.of(word, among: names).map {
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
        guard var current = CommandTree.root else { return nil }
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
