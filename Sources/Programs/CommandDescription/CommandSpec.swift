// SPDX-License-Identifier: Apache-2.0

/// A command as it describes itself. Parsing, help, man pages, completions and the parameters of methods are functions of it.
package struct CommandSpec {
    package let type: any ParsableArguments.Type
    /// In the order in which the command declares them.
    package let arguments: [ArgumentDefinition]
    /// The commands below it.
    package let subcommands: [any ParsableCommand.Type]

    package init(_ type: any ParsableArguments.Type) { self.init(of: type.init()) }

    /// - Parameter instance: that whose properties are set by what the definitions take.
    init(of instance: any ParsableArguments) {
        type = Swift.type(of: instance)
        subcommands = (type as? any ParsableCommand.Type)?.configuration.subcommands ?? []
        arguments = Self.arguments(of: instance, section: nil)
    }

    private static func arguments(of instance: Any, section: String?) -> [ArgumentDefinition] {
        Mirror(reflecting: instance).children.flatMap { label, value -> [ArgumentDefinition] in
            if let group = value as? any DescribedGroup {
                return arguments(of: group.arguments, section: group.heading ?? section)
            }
            guard let property = value as? any DescribedProperty else { return [] }
            var definition = property.definition(String(label?.drop { $0 == "_" } ?? ""))
            definition.section = section
            return [definition]
        }
    }

    /// Calls `validate()` of each group, then of the command itself.
    static func validate(_ instance: any ParsableArguments) throws {
        for child in Mirror(reflecting: instance).children {
            if let group = child.value as? any DescribedGroup { try validate(group.arguments) }
        }
        try instance.validate()
    }

    /// Whether the command does something itself.
    package var runs: Bool { !arguments.isEmpty || subcommands.isEmpty }

    package var options: [ArgumentDefinition] { arguments.filter { $0.form != .positional } }
    /// The options that help shows.
    package var shownOptions: [ArgumentDefinition] { options.filter { !$0.isHidden } }
    package var positionals: [ArgumentDefinition] { arguments.filter { $0.form == .positional } }

    /// The option of this name, with its hyphens.
    package func option(_ name: some StringProtocol) -> ArgumentDefinition? {
        arguments.first { $0.names.contains { $0 == name } }
    }

    /// The command of this name below it.
    package func subcommand(_ name: some StringProtocol) -> (any ParsableCommand.Type)? {
        subcommands.first { $0.configuration.commandName == name }
    }

    /// An option or argument as messages call it: `--reader`, or `<file>`.
    package func named(_ name: String) -> ArgumentDefinition? {
        name.hasPrefix("<") ? positionals.first { "<\($0.valueName)>" == name } : option(name)
    }

    /// The command of these names below it.
    package func command(_ names: some Sequence<String>) -> CommandSpec? {
        var current = self
        for name in names {
            guard let next = current.subcommand(name) else { return nil }
            current = CommandSpec(next)
        }
        return current
    }
}
