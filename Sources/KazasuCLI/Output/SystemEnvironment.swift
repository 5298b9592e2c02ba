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
}
