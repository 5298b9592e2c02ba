// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc

extension Language {
    /// The language of this run: `--lang`, else `LC_ALL`, `LC_MESSAGES`, `LANG`, the first that is set.
    static let current = choose(arguments: CommandLine.arguments) { name in
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }

    /// The help texts are made before the command line is parsed, so `--lang` is looked up here by hand.
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
    /// The arguments without `--lang`, which was looked up before and may stand anywhere; one with a wrong value stays,
    /// for the parser to complain of.
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
func tr(_ english: String, _ japanese: String) -> String {
    Language.current == .japanese ? japanese : english
}

/// The words that ArgumentParser itself puts into help and error texts, in the language of this run.
enum HelpText {
    private static let words: [(String, String)] = [
        ("OVERVIEW: ", "概要: "), ("USAGE: ", "使い方: "), ("Usage: ", "使い方: "), ("ARGUMENTS:", "引数:"),
        ("OPTIONS:", "オプション:"), ("SUBCOMMANDS:", "コマンド:"), ("Error: ", "エラー: "), ("Help:  ", "説明: "),
        ("  See '", "  詳しくは '"), ("' for more information.", "' を見てください。"),
        ("' for detailed help.", "' を見てください。"), ("Show the version.", "版を表示する。"),
        ("Show help information.", "このヘルプを表示する。"), ("Unknown option", "知らないオプション"),
        ("Unexpected argument", "余分な引数"), ("Missing expected argument", "引数が足りません:"),
        ("Missing value for", "値がありません:"), ("(default: ", "(省略時: "), ("(values: ", "(値: "),
        ("is invalid for", "は次の値として正しくありません:"), ("The value ", "値 "), ("; default: ", "、省略時: "),
        ("Please provide one of ", "次のいずれかにしてください: "), ("' and '", "'、'"), ("', or '", "'、'"),
        ("Did you mean ", "もしかして "), ("' should only be used once", "' は 1 回だけ指定できます"),
    ]

    static func localised(_ text: String) -> String {
        guard Language.current == .japanese else { return text }
        return words.reduce(text) { text, word in replace(word.0, in: text, with: word.1) }
    }

    /// Foundation's `replacingOccurrences` for UTF-8 texts, without Foundation.
    private static func replace(_ old: String, in text: String, with new: String) -> String {
        let (source, pattern) = (Array(text.utf8), Array(old.utf8))
        guard !pattern.isEmpty, source.count >= pattern.count else { return text }
        var result: [UInt8] = []
        var index = 0
        while index < source.count {
            if source[index...].starts(with: pattern) {
                result += Array(new.utf8)
                index += pattern.count
            } else {
                result.append(source[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
