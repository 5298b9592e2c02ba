// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Makes a command of a command line, in less time where it is a plain one.
///
/// ArgumentParser prepares what it needs for help and completions before it looks at the command line: the settings of
/// all commands, and the values of all options. Most of what `kazasu balance` did itself was that.
enum CommandLineParsing {
    /// Whether a command line is parsed that asks for no help, so that lists of values are not needed.
    @TaskLocal static var isPlain = false

    /// Parses a command line.
    ///
    /// A command without commands of its own is parsed alone. Whatever is not such a command, help and mistakes
    /// included, is left to a parser that knows all commands.
    ///
    /// - Throws: the parser's errors, and its requests for help.
    static func command(_ arguments: [String]) throws -> any ParsableCommand {
        if let command = plainCommand(arguments) { return command }
        return try fullCommand(arguments)
    }

    /// The same by a parser that knows all commands.
    static func fullCommand(_ arguments: [String]) throws -> any ParsableCommand {
        try RootCommand.parseAsRoot(arguments)
    }

    private static func plainCommand(_ arguments: [String]) -> (any ParsableCommand)? {
        guard let name = arguments.first,
            let type = RootCommand.plainCommands.first(where: { $0.configuration.commandName == name })
        else { return nil }
        let command = $isPlain.withValue(true) { try? type.parseAsRoot(Array(arguments.dropFirst())) }
        guard let command, Swift.type(of: command) == type else { return nil }
        return command
    }
}
