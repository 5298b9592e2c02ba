// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu

/// A command or a topic of `help` that does not exist.
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
        // Whether the command before it does something itself, and may have arguments.
        var takesArguments = false
        while let word = words.popFirst(), !commands.isEmpty {
            if word == "-h" || word == "--help" { continue }
            // What it was meant for is the parser's to say.
            if word.hasPrefix("-") { return nil }
            let named = commands.first { $0.configuration.commandName == word }
            guard let named else {
                // `tag help info` is another form of `help tag info`.
                if word == "help" { continue }
                names = commands.map { $0.configuration.commandName }
                if takesArguments, NearestName.of(word, among: names) == nil { return nil }
                (parent, self.word) = (path, word)
                return
            }
            path += " " + word
            commands = named.configuration.subcommands
            takesArguments = named is any KazasuCommand.Type
        }
        return nil
    }

    /// The commands of other groups that have the name, for a word without its group.
    private var elsewhere: String? {
        guard parent == "kazasu", !names.contains(word) else { return nil }
        var found = RootCommand.configuration.subcommands.flatMap { group in
            group.configuration.subcommands.map {
                (group.configuration.commandName, $0.configuration.commandName)
            }
        }
        found += ServiceCommand.ledgerCommands.map { (ServiceCommand.ledger.rawValue, $0) }
        var commands: [String] = []
        for (group, name) in found where name == word {
            let command = Caller.commandLine.command("\(group) \(name)")
            if !commands.contains(command) { commands.append(command) }
        }
        if word == "claim" { commands = [Caller.commandLine.command("ledger export", "claim")] }
        return commands.isEmpty ? nil : commands.joined(separator: tr(" or ", " または "))
    }

    package var error: CommandError {
        let name =
            parent.split(separator: " ").dropFirst().map { $0 + " " }.joined()
            + (ParserMessage.mayBeSecret(word) ? "…" : word)
        let hint =
            elsewhere.map { tr("did you mean \($0)?", "\($0) のことですか？") }
            ?? NearestName.of(word, among: names).map {
                Remedy.didYouMean.text("\(parent) \($0)")
            } ?? Remedy.listCommands.text(parent)
        return CommandError(.commandUnknown, values: [name, hint])
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
        var current = CommandSpec.root
        var words = arguments[...]
        var path = "kazasu"
        while let word = words.popFirst(), word != "--" {
            let name = String(word.prefix { $0 != "=" })
            if let option = current.option(name) {
                if option.takesValue, name == word { words = words.dropFirst() }
            } else if word.hasPrefix("--") {
                if ["--help", "--version"].contains(name) { continue }
                (option, command) = (name, path)
                names = (current.options.map(\.name) + ["help", "version"]).sorted()
                following = words.first { word in
                    current.subcommand(word).map { CommandSpec($0).option(name) != nil } == true
                }
                return
            } else if word.hasPrefix("-"), word.count > 1 {
                return nil
            } else if let below = current.subcommand(word) {
                path += " " + word
                current = CommandSpec(below)
            }
        }
        return nil
    }

    package var error: CommandError {
        let shown = ParserMessage.mayBeSecret(option) ? "--…" : option
        let hint =
            following.map {
                Remedy.afterCommand.text("\(command) \($0) \(shown)")
            }
            ?? NearestName.of(String(option.dropFirst(2)), among: names).map {
                Remedy.didYouMean.text("--\($0)")
            } ?? Remedy.listOptions.text(command)
        return CommandError(.optionUnknown, values: [shown, hint])
    }
}
