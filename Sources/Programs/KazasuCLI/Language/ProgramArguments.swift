// SPDX-License-Identifier: Apache-2.0

import CArguments

/// The words of this process's command line.
package enum ProgramArguments {
    /// The words after the program's name; `nil` if they are unknown: then no command may be run, since it would not be
    /// the one that was typed.
    package static let given: [String]? = whole.map { Array($0.dropFirst()) }

    /// The words after the program's name.
    package static var all: [String] { given ?? [] }

    private static let whole: [String]? = {
        let count = Int(kazasu_argument_count())
        guard count > 0, let values = kazasu_arguments() else {
            let words = CommandLine.arguments
            return words.isEmpty ? nil : words
        }
        return (0..<count).compactMap { index in values[index].map { String(cString: $0) } }
    }()
}
