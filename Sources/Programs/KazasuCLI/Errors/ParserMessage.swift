// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc

/// The message about unexpected arguments. One of them may be a PIN that was typed in the wrong
/// place, and messages end up in logs: such words are not repeated.
package struct ParserMessage {
    /// The words that must not appear in messages.
    private let secrets: [String]

    package init(_ arguments: [String]) {
        let commands = Set(RootCommand.configuration.subcommands.map { $0.configuration.commandName })
        let named = commands.intersection(arguments)
        // The unexpected arguments of a command that accepts PINs or keys are repeated only if they can be none. Where the command itself
        // is misspelt, and in the value of an option for something else, anything that looks like a PIN is not.
        let isSecret: (String) -> Bool =
            if named.contains(where: { CommandSpec.root.command([$0])?.acceptsSecrets ?? true }) {
                { [values = ParserMessage.openValues(arguments)] word in
                    !commands.contains(word) && !ParserMessage.isPlain(word)
                        && (!values.contains(word) || ParserMessage.mayBeSecret(word))
                }
            } else if named.isEmpty {
                ParserMessage.mayBeSecret
            } else {
                { _ in false }
            }
        secrets = arguments.flatMap(ParserMessage.values).filter { !$0.isEmpty && isSecret($0) }
    }

    /// The values of options that do not name a secret.
    private static func openValues(_ arguments: [String]) -> Set<String> {
        var command = CommandSpec.root
        var values: Set<String> = []
        var words = arguments[...]
        while let word = words.popFirst(), word != "--" {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if let name = parts.first, let option = command.option(name) {
                guard option.takesValue else { continue }
                let value = parts.count > 1 ? parts.last : words.popFirst()
                if option.reach != .secret, let value { values.formUnion([value, word]) }
            } else if let below = command.subcommand(word) {
                command = CommandSpec(below)
            }
        }
        return values
    }

    /// A message with `…` in place of the words that may be secrets.
    func withoutSecrets(_ message: String) -> String {
        secrets.reduce(message) { $0.replacing("'\($1)'", with: "'…'") }
    }

    /// The parts of an argument that are not the name of an option: all of it, or the text behind the name.
    private static func values(_ argument: String) -> [String] {
        guard argument.wholeMatch(of: /--?[A-Za-z][A-Za-z-]*[0-9]?(-[a-z]+)?/) == nil else { return [] }
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        // A value may be attached to a short option, as in `-t5`.
        let attached = argument.hasPrefix("-") && !argument.hasPrefix("--") ? [String(argument.dropFirst(2))] : []
        return [argument] + parts.dropFirst().map(String.init) + attached
    }

    /// Whether no PIN, password, number or key looks like it: a word without digits that is not hexadecimal, at most three
    /// letters, or a file.
    static func isPlain(_ text: String) -> Bool {
        text.count <= 3 || isFile(text)
            || !text.contains(/[0-9]/) && !text.allSatisfy(\.isHexDigit) && text.allSatisfy(\.isASCII)
                && text != text.uppercased()
    }

    /// Whether it is the path of a file, or ends like that of a dump.
    package static func isFile(_ text: String) -> Bool {
        text.contains(/[.\/]/) && access(text, F_OK) == 0
            || text.wholeMatch(of: /[^,;]*\.(json|ndjson|csv|hex|nfc|mfd|mct|eml|bin|xml|txt|log)/) != nil
    }

    /// Whether there are four digits in a row, as in a PIN, or many hexadecimal ones, as in a key.
    package static func mayBeSecret(_ text: String) -> Bool { text.contains(/[0-9]{4}|[0-9A-Fa-f]{16}/) }
}
