// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Glibc

/// The colors of verdicts, amounts and warnings, by their codes of ECMA-48 (SGR).
package enum Color: String, CaseIterable, Sendable {
    case red = "31"
    case green = "32"
    case yellow = "33"

    /// The text in this color.
    package func applied(to text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }

    /// The text in this color, for standard error where it shows colors.
    package func message(_ text: String) -> String { Color.isOnMessages ? applied(to: text) : text }

    /// Whether standard output shows colors.
    package static let isOnOutput = isOn(STDOUT_FILENO)
    /// Whether standard error shows colors.
    package static let isOnMessages = isOn(STDERR_FILENO)

    /// The values of `--color`.
    package enum Choice: String, CaseIterable, ExpressibleByArgument, Sendable {
        /// On a terminal.
        case auto
        /// Into a file or a pipe as well.
        case always
        case never
    }

    /// Neither a document nor a user who set `NO_COLOR` ever gets colors.
    private static func isOn(_ descriptor: Int32) -> Bool {
        let arguments = ProgramArguments.all.prefix { $0 != "--" }
        guard !arguments.contains("--json"), variable("NO_COLOR").isEmpty else { return false }
        return switch choice(Array(arguments)) {
        case .always: true
        case .never: false
        case .auto: isatty(descriptor) == 1 && !["", "dumb"].contains(variable("TERM"))
        }
    }

    /// Messages about the command line need the choice before the line is parsed, so it is looked up by hand.
    private static func choice(_ arguments: [String]) -> Choice {
        let option = "--color"
        for (argument, next) in zip(arguments, arguments.dropFirst() + [""]).reversed() {
            let value = argument.hasPrefix(option + "=") ? String(argument.dropFirst(option.count + 1)) : next
            if argument == option || argument.hasPrefix(option + "=") { return Choice(rawValue: value) ?? .auto }
        }
        return .auto
    }

    private static func variable(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}
