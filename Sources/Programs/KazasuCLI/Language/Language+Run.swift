// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Kazasu

extension Language {
    /// The language of this run: `--lang`, else `LC_ALL`, `LC_MESSAGES`, `LANG`, the first that is set.
    package static let current = choose(arguments: ProgramArguments.all) { name in
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }

    /// The language of `--lang`, or `nil` where it was not given.
    package static let asked = option(in: CommandLine.arguments)

    static func choose(arguments: [String], environment: (String) -> String?) -> Language {
        if let language = option(in: arguments) { return language }
        for name in ["LC_ALL", "LC_MESSAGES", "LANG"] {
            if let value = environment(name), !value.isEmpty { return value.hasPrefix("ja") ? .japanese : .english }
        }
        return .english
    }

    /// The help texts are made before the command line is parsed, so `--lang` is looked up by hand.
    private static func option(in arguments: [String]) -> Language? {
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
        return nil
    }
}

extension Language {
    /// The arguments without `--lang`, which was already looked up and can be anywhere. An invalid value stays, for the
    /// parser to report.
    package static func removed(from arguments: [String]) -> [String] {
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
