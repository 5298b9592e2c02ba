// SPDX-License-Identifier: Apache-2.0

/// Options and arguments that a command line sets.
package protocol ParsableArguments: SendableMetatype {
    init()
    /// Checks what no single value can be blamed for.
    ///
    /// - Throws: ``ValidationError``, or an error of the command.
    func validate() throws
}

extension ParsableArguments {
    package func validate() throws {}
}

/// A command: what it is called, its options and arguments, and what it does.
package protocol ParsableCommand: ParsableArguments {
    static var configuration: CommandConfiguration { get }
    mutating func run() throws
}

extension ParsableCommand {
    /// A group of commands does nothing itself: its help is the answer.
    package mutating func run() throws { throw ParserAnswer.help([Self.self]) }
}

/// The name of a command, what help says about it, and the commands below it.
package struct CommandConfiguration {
    package let commandName: String
    package let abstract: String
    package let discussion: String
    package let subcommands: [any ParsableCommand.Type]

    package init(
        commandName: String, abstract: String, discussion: String = "", subcommands: [any ParsableCommand.Type] = []
    ) {
        (self.commandName, self.abstract, self.discussion) = (commandName, abstract, discussion)
        self.subcommands = subcommands
    }
}

/// A command line cannot be carried out as it is.
package struct ValidationError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
