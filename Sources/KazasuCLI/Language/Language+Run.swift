// SPDX-License-Identifier: Apache-2.0

package import CardModel
import Glibc

extension Language {
    /// The language of this run: `--lang`, else `LC_ALL`, `LC_MESSAGES`, `LANG`, the first that is set.
    package static let current = choose(arguments: CommandLine.arguments) { name in
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }

    /// The help texts are made before the command line is parsed, so `--lang` is looked up by hand.
    static func choose(arguments: [String], environment: (String) -> String?) -> Language {
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { break }
            if argument == "--lang", let next = arguments.dropFirst(index + 1).first,
                let language = Language(rawValue: next)
            {
                return language
            }
            if argument.hasPrefix("--lang="), let language = Language(rawValue: String(argument.dropFirst(7))) {
                return language
            }
        }
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            if let value = environment(name), !value.isEmpty { return value.hasPrefix("ja") ? .japanese : .english }
        }
        return .english
    }
}

extension Language {
    /// The arguments without `--lang`, which was already looked up and can be anywhere. An invalid value stays, for the
    /// parser to report.
    static func removed(from arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        var rest: [String] = []
        var index = 0
        while index < end {
            let (argument, next) = (arguments[index], index + 1 < end ? arguments[index + 1] : "")
            if argument == "--lang", Language(rawValue: next) != nil {
                index += 2
                continue
            }
            if !argument.hasPrefix("--lang=") || Language(rawValue: String(argument.dropFirst(7))) == nil {
                rest.append(argument)
            }
            index += 1
        }
        return rest + arguments[end...]
    }
}

/// The text in the language of this run.
package func tr(_ english: String, _ japanese: String) -> String {
    Language.current == .japanese ? japanese : english
}

/// The fixed texts of ArgumentParser's pages, in the language of this run. Its sentences about an invalid command line
/// stay in English, because they cannot be recognised by their text.
enum HelpText {
    /// The beginnings of lines of a page.
    private static let headings: [(String, String)] = [
        ("OVERVIEW: ", "概要: "), ("USAGE: ", "使い方: "), ("Usage: ", "使い方: "), ("ARGUMENTS:", "引数:"),
        ("OPTIONS:", "オプション:"), ("SUBCOMMANDS:", "コマンド:"), ("Help:  ", "説明: "), ("  See '", "  詳しくは '"),
    ]
    /// The ends of lines of a page.
    private static let endings: [(String, String)] = [
        ("' for more information.", "' を見てください。"), ("' for detailed help.", "' を見てください。"),
        ("Show the version.", "バージョンを表示する。"), ("Show help information.", "このヘルプを表示する。"),
    ]
    /// The text that ArgumentParser adds to the help of an option.
    private static let additions: [(String, String)] = [
        ("(default:", "(省略時:"), ("(values:", "(値:"), ("; default:", "、省略時:"),
    ]

    /// A page of help.
    static func page(_ text: String) -> String {
        guard Language.current == .japanese else { return text }
        return additions.reduce(layout(text)) { $0.replacing($1.0, with: $1.1) }
    }

    /// The message about an invalid command line.
    ///
    /// - Parameters:
    ///   - full: ArgumentParser's whole text: `Error: `, the sentence, and the usage.
    ///   - sentence: the sentence.
    static func usageError(_ full: String, sentence: String) -> String {
        guard Language.current == .japanese else { return full }
        let head = "Error: " + sentence
        guard full.hasPrefix(head) else { return layout(full) }
        return "コマンドラインの誤り: " + sentence + layout(String(full.dropFirst(head.count)))
    }

    /// Headings and endings of lines.
    private static func layout(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var line = String(line)
            if let (old, new) = headings.first(where: { line.hasPrefix($0.0) }) {
                line = new + line.dropFirst(old.count)
            }
            if let (old, new) = endings.first(where: { line.hasSuffix($0.0) }) { line = line.dropLast(old.count) + new }
            return line
        }.joined(separator: "\n")
    }
}
