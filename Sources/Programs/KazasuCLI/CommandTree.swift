// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Kazasu

/// A command as the argument parser lists it: its options, its arguments and the commands below it.
///
/// The listing takes longer to make than most commands run, so it is for mistakes and settings only.
package struct CommandTree {
    /// An option, a flag or an argument.
    package struct Option {
        package var takesValue: Bool
        /// Whether it must be given.
        package var isRequired: Bool
        /// Whether it names a file or folder.
        package var namesFile: Bool
        /// Whether it names where a secret is.
        package var namesSecret: Bool { valueName == "source" }
        /// Whether help shows it.
        package var isShown: Bool
        package var isRepeating: Bool
        /// Its line of help, without the texts that the parser adds.
        package var help: String?
        /// The values that it may have, where they are a list.
        package var values: [String]
        /// The name of its value, as in `date`.
        package var valueName: String?
        /// Whether one value of it may be a list with commas.
        package var takesList: Bool { Self.lists.contains(valueName ?? "") }
        /// How its help writes a value, as in `mon-fri or sat,sun`.
        var example: String? {
            let help = help ?? ""
            return (help.firstMatch(of: /as in (.+?)[.;]?$/) ?? help.firstMatch(of: /例: (.+?)）/)).map { String($0.1) }
        }

        private static let lists: Set<String> = ["kinds", "codes", "numbers", "pages", "weekdays", "a,b"]
    }

    /// By name, with the hyphens; arguments by the name of their value in angle brackets, as in `<file>`.
    package private(set) var options: [String: Option] = [:]
    /// By name.
    package private(set) var below: [String: CommandTree] = [:]

    /// The whole program; `nil` if the parser's listing cannot be read.
    static let root = CommandTree(RootCommand.self)

    /// Lists a command; `nil` if the parser's listing cannot be read.
    package init?(_ command: any ParsableCommand.Type) {
        guard let listing = try? JSONValue(parsing: Array(command._dumpHelp().utf8)),
            let tree = try? CommandTree(JSONCursor(listing).required("command"))
        else { return nil }
        self = tree
    }

    private init(_ command: JSONCursor) throws(DocumentError) {
        for argument in try command.optional("arguments")?.elements() ?? [] {
            let kind = try argument.required("kind").text()
            var values: [String] = []
            for value in try argument.optional("allValues")?.elements() ?? [] { values.append(try value.text()) }
            let completion = try argument.optional("completionKind")
            let (file, folder) = (try completion?.optional("file"), try completion?.optional("directory"))
            let option = Option(
                takesValue: kind == "option",
                isRequired: try argument.optional("isOptional")?.bool() == false,
                namesFile: file != nil || folder != nil,
                isShown: try argument.optional("shouldDisplay")?.bool() ?? true,
                isRepeating: try argument.required("isRepeating").bool(),
                help: try argument.optional("abstract")?.text(), values: values,
                valueName: try argument.optional("valueName")?.text())
            if kind == "positional", let name = option.valueName { options["<\(name)>"] = option }
            for name in try argument.optional("names")?.elements() ?? [] {
                let hyphens = try name.required("kind").text() == "long" ? "--" : "-"
                options[try hyphens + name.required("name").text()] = option
            }
        }
        for one in try command.optional("subcommands")?.elements() ?? [] {
            below[try one.required("commandName").text()] = try CommandTree(one)
        }
    }

    /// Whether an option of the command, or of one below it, names where a secret is.
    var acceptsSecrets: Bool {
        options.values.contains(where: \.namesSecret) || below.values.contains(where: \.acceptsSecrets)
    }

    /// The command of these names.
    func command(_ names: some Sequence<String>) -> CommandTree? {
        var current = self
        for name in names {
            guard let next = current.below[name] else { return nil }
            current = next
        }
        return current
    }
}
