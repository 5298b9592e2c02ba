// SPDX-License-Identifier: Apache-2.0

import CArguments
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

    /// Adds a variable, unless there is one of this name, before any other thread runs.
    ///
    /// `nfc_init` of libnfc calls `setenv` on whatever thread opens a reader. If `setenv` had made the present array, glibc
    /// before 2.41 would free it then, although other threads may be reading it, in `getenv` for one. So it is made here,
    /// and nobody frees it.
    package static func add(_ name: String, _ value: String) {
        guard getenv(name) == nil, let text = strdup("\(name)=\(value)") else { return }
        var count = 0
        while environ[count] != nil { count += 1 }
        let array = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: count + 2)
        array.initialize(from: environ, count: count)
        (array + count).initialize(to: text)
        (array + count + 1).initialize(to: nil)
        kazasu_set_environment(array)
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
