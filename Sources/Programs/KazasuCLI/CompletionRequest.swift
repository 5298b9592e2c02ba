// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu

/// What a shell asks when somebody presses Tab: `---completion SHELL INDEX WORD...`, where the first word is the program.
struct CompletionRequest {
    private static let name = "---completion"

    /// A word that may stand there, and what it is.
    private struct Candidate {
        let word: String
        var words = ""
    }

    private let hasDescriptions: Bool
    private let words: [String]
    private let index: Int

    /// `nil` for a command line that asks something else.
    init?(_ arguments: [String]) {
        guard arguments.first == Self.name, arguments.count > 3, let index = Int(arguments[2]), index > 0 else {
            return nil
        }
        hasDescriptions = arguments[1] != "bash"
        var words = Array(arguments.dropFirst(3))
        var own = index
        // `help COMMAND` completes as `COMMAND` does.
        if own > 1, words.dropFirst().first == "help" {
            words.remove(at: 1)
            own -= 1
        }
        while words.count <= own { words.append("") }
        (self.words, self.index) = (words, own)
    }

    /// The words after the program's name; `nil` for a command line that asks something else.
    package static func words(_ arguments: [String]) -> ArraySlice<String>? {
        arguments.first == name ? arguments.dropFirst(4) : nil
    }

    /// One candidate a line; behind a tab, what it is. A file whose name has control characters is left out.
    package var answer: String {
        let current = words[index]
        return candidates.filter { candidate in
            candidate.word.hasPrefix(current)
                && !candidate.word.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
        }.map { candidate in
            candidate.word + (hasDescriptions && !candidate.words.isEmpty ? "\t" + candidate.words : "") + "\n"
        }.joined()
    }

    private var candidates: [Candidate] {
        var spec = CommandSpec.root
        // The option whose value follows, and how many arguments there were.
        var (open, arguments, isEnded) = (ArgumentDefinition?.none, 0, false)
        for word in words[1..<index] {
            if open != nil {
                open = nil
            } else if isEnded || word == "-" || !word.hasPrefix("-") {
                if !isEnded, arguments == 0, let below = spec.subcommand(word) {
                    spec = CommandSpec(below)
                } else {
                    arguments += 1
                }
            } else if word == "--" {
                isEnded = true
            } else if let option = spec.option(word), option.takesValue, option.flagValue == nil {
                open = option
            }
        }
        let current = words[index]
        if let open { return values(open, current, before: "") }
        guard !isEnded, current.hasPrefix("-") else {
            let positional = spec.positionals.dropFirst(max(0, min(arguments, spec.positionals.count - 1))).first
            let below = arguments == 0 ? subcommands(of: spec) : []
            return below + (positional.map { values($0, current, before: "") } ?? [])
        }
        guard let equals = current.firstIndex(of: "=") else { return options(of: spec) }
        let value = current.index(after: equals)
        return spec.option(current[..<equals]).map {
            values($0, String(current[value...]), before: String(current[..<value]))
        } ?? []
    }

    private func subcommands(of spec: CommandSpec) -> [Candidate] {
        let below = spec.subcommands.map {
            Candidate(word: $0.configuration.commandName, words: $0.configuration.abstract)
        }
        return below
            + (index == 1 ? [Candidate(word: "help", words: tr("Show the help of a command.", "コマンドのヘルプを表示する。"))] : [])
    }

    private func options(of spec: CommandSpec) -> [Candidate] {
        let own = spec.shownOptions.flatMap { option in
            option.names.map { Candidate(word: $0, words: option.words[Language.current]) }
        }
        return own + HelpPage.usual.flatMap { names, words in names.map { Candidate(word: $0, words: words) } }
    }

    /// - Parameter name: what stands before the value in the same word.
    private func values(_ argument: ArgumentDefinition, _ prefix: String, before name: String) -> [Candidate] {
        let found: [String] =
            switch argument.completion {
            case .default: []
            case .list(let values): values
            case .file: FileCompletion.files(prefix[...])
            case .directory: FileCompletion.files(prefix[...], onlyFolders: true)
            case .custom(let values): values(words, index, prefix)
            }
        return found.map { Candidate(word: name + $0) }
    }
}
