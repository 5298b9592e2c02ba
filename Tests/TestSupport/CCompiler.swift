// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The system's C compiler, for tests that need another program's view of a header, or a library of their own.
package enum CCompiler {
    /// Where it is; `nil` if there is none.
    package static let path: String? = {
        let places: [String] = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"]
        return places.first { access($0, X_OK) == 0 }
    }()
}
