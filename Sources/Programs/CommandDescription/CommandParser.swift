// SPDX-License-Identifier: Apache-2.0

/// A command line asks for help or for the version.
package enum ParserAnswer: Error {
    /// The help of the last of these commands, each of which is below the one before it.
    case help([any ParsableCommand.Type])
    case version
}

/// Why a command line is none.
package struct ParserFailure: Error {
    package enum Reason: Sendable {
        /// - Parameter name: of the option as it was given; `nil` for an argument.
        case invalidValue(String, option: String?, argument: String)
        case missingValue(option: String)
        /// - Parameter name: as in `<file>` or `--to <format>`.
        case missingArgument(String)
        case needlessValue(option: String)
        case extra([String])
        case unknownOption(String)
        case unknownCommand(String)
        /// The command's own check failed.
        case rejected(String)
    }

    /// The names of the commands, the first one included.
    package let command: [String]
    package let reason: Reason
}

extension ParsableArguments {
    /// Parses the words that follow a command's name. Commands below it are not looked for.
    ///
    /// - Throws: ``ParserFailure``, ``ParserAnswer``, or the error of a check.
    package static func parse(_ words: [String]) throws -> Self {
        let instance = Self()
        let command = (Self.self as? any ParsableCommand.Type)?.configuration.commandName
        try CommandParser(instance, path: [command].compactMap(\.self)).parse(words)
        return instance
    }
}

extension ParsableCommand {
    /// Parses a command line: the words after the command's name, which may name a command below it.
    ///
    /// - Throws: ``ParserFailure``, ``ParserAnswer``, or the error of a check.
    package static func parseAsRoot(_ words: [String]) throws -> any ParsableCommand {
        try CommandParser.command(Self.self, words, [Self.self])
    }
}

/// Sets the properties of one command from the words that follow its name.
struct CommandParser {
    private let instance: any ParsableArguments
    private let spec: CommandSpec
    private let path: [String]

    init(_ instance: any ParsableArguments, path: [String]) {
        (self.instance, self.path) = (instance, path)
        spec = CommandSpec(of: instance)
    }

    // MARK: Commands below commands

    /// - Parameter commands: those that were named so far, this one included.
    static func command<Command: ParsableCommand>(
        _ type: Command.Type, _ words: [String], _ commands: [any ParsableCommand.Type]
    ) throws -> any ParsableCommand {
        let instance = Command()
        let parser = CommandParser(instance, path: commands.map { $0.configuration.commandName })
        if commands.count == 1, words.first == "help" { throw try parser.help(words.dropFirst(), commands) }
        if let index = parser.position(words), let below = parser.spec.subcommand(words[index]) {
            return try command(below, Array(words[..<index] + words[(index + 1)...]), commands + [below])
        }
        try parser.answer(words, commands)
        if !parser.spec.runs {
            guard let word = words.first else { throw ParserAnswer.help(commands) }
            throw parser.failure(
                word.hasPrefix("-") && word != "-" ? .unknownOption(name(word)) : .unknownCommand(word))
        }
        try parser.parse(words)
        return instance
    }

    /// The position of the first word that is neither an option nor the value of one; a group of commands has no options.
    private func position(_ words: [String]) -> Int? {
        guard !spec.subcommands.isEmpty else { return nil }
        var index = 0
        while index < words.count, words[index] != "--" {
            let word = words[index]
            guard word.hasPrefix("-"), word != "-" else { return index }
            guard spec.runs else { return nil }
            index += spec.option(word).map { $0.takesValue && $0.flagValue == nil } == true ? 2 : 1
        }
        return nil
    }

    private func help(_ names: ArraySlice<String>, _ commands: [any ParsableCommand.Type]) throws -> ParserAnswer {
        var commands = commands
        for name in names where !["-h", "--help"].contains(name) {
            let spec = CommandSpec(commands[commands.count - 1])
            guard let next = spec.subcommand(name) else {
                throw ParserFailure(
                    command: commands.map { $0.configuration.commandName }, reason: .unknownCommand(name))
            }
            commands.append(next)
        }
        return .help(commands)
    }

    /// Help and the version are asked for anywhere before `--`, whatever else is wrong.
    private func answer(_ words: [String], _ commands: [any ParsableCommand.Type]) throws {
        let words = words.prefix { $0 != "--" }
        if words.contains("-h") || words.contains("--help") { throw ParserAnswer.help(commands) }
        if words.contains("--version"), spec.option("--version") == nil { throw ParserAnswer.version }
    }

    // MARK: One command

    /// - Throws: ``ParserFailure``, or the error of a check.
    func parse(_ words: [String]) throws {
        var rest = words[...]
        var values: [String] = []
        var given: Set<String> = []
        while let word = rest.popFirst() {
            if word == "--" {
                values += rest
                break
            }
            if word == "-" || !word.hasPrefix("-") {
                values.append(word)
            } else if word.hasPrefix("--") {
                try option(word, &rest, &given)
            } else {
                try letters(word, &rest, &given)
            }
        }
        try arguments(values)
        for option in spec.options where option.isRequired && given.isDisjoint(with: option.names) {
            throw failure(.missingArgument("--\(option.name) <\(option.valueName)>"))
        }
        do {
            try CommandSpec.validate(instance)
        } catch let error as ValidationError {
            throw failure(.rejected(error.description))
        }
    }

    private func failure(_ reason: ParserFailure.Reason) -> ParserFailure {
        ParserFailure(command: path, reason: reason)
    }

    /// The name of an option without a value behind an equals sign.
    private static func name(_ word: String) -> String { String(word.prefix { $0 != "=" }) }

    private func option(
        _ word: String, _ rest: inout ArraySlice<String>, _ given: inout Set<String>
    ) throws(ParserFailure) {
        let name = Self.name(word)
        guard let option = spec.option(name) else { throw failure(.unknownOption(name)) }
        given.insert(name)
        let attached = name == word ? nil : String(word.dropFirst(name.count + 1))
        try take(option, name, attached, &rest)
    }

    /// One or several letters, the last of which may have a value: `-v`, `-qv`, `-t5`, `-r=rcs380`.
    private func letters(
        _ word: String, _ rest: inout ArraySlice<String>, _ given: inout Set<String>
    ) throws(ParserFailure) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            let name = "-\(letter)"
            guard let option = spec.option(name) else { throw failure(.unknownOption(name)) }
            given.insert(name)
            guard !letters.isEmpty, option.takesValue || letters.first == "=" else {
                try take(option, name, nil, &rest)
                continue
            }
            try take(option, name, String(letters.first == "=" ? letters.dropFirst() : letters), &rest)
            return
        }
    }

    /// - Parameter attached: the value that is part of the same word.
    private func take(
        _ option: ArgumentDefinition, _ name: String, _ attached: String?, _ rest: inout ArraySlice<String>
    ) throws(ParserFailure) {
        if !option.takesValue {
            guard attached == nil else { throw failure(.needlessValue(option: name)) }
            _ = option.take("")
            return
        }
        var value = attached
        if value == nil, let next = rest.first, option.parsing == .unconditional || next == "-" || !next.hasPrefix("-")
        {
            value = rest.popFirst()
        }
        guard let value = value ?? option.flagValue, attached != "" else { throw failure(.missingValue(option: name)) }
        guard option.take(value) else { throw failure(.invalidValue(value, option: name, argument: name)) }
    }

    private func arguments(_ values: [String]) throws(ParserFailure) {
        var rest = values[...]
        for argument in spec.positionals {
            let name = "<\(argument.valueName)>"
            let own = argument.isRepeating ? rest : rest.prefix(1)
            rest = rest.dropFirst(own.count)
            if own.isEmpty, argument.isRequired {
                throw failure(.missingArgument(name + (argument.isRepeating ? " ..." : "")))
            }
            for value in own where !argument.take(value) {
                throw failure(.invalidValue(value, option: nil, argument: name))
            }
        }
        if !rest.isEmpty { throw failure(.extra(Array(rest))) }
    }
}
