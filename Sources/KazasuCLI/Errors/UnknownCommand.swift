// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

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

/// The known name that somebody probably meant.
enum NearestName {
    /// Returns the name that begins with the word or differs from it in the fewest letters: one in three at most.
    static func of(_ word: String, among names: [String]) -> String? {
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
