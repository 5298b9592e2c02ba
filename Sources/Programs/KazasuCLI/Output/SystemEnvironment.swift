// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The variables of this process's environment.
package enum SystemEnvironment {
    /// Every variable; invalid UTF-8 is replaced.
    package static var all: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let pair = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let name = pair.first, let value = pair.dropFirst().first { variables[String(name)] = String(value) }
            entry += 1
        }
        return variables
    }

    /// The folder that a variable such as `XDG_DATA_HOME` names, else the usual one below the home directory; `nil` when
    /// there is none.
    package static func folder(_ variable: String, usual: String) -> String? {
        func path(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return path(variable) ?? path("HOME").map { "\($0)/\(usual)" }
    }
}
