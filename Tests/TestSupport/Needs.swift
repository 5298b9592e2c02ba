// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test where programs of other projects are missing, and names them; `make test` lists what it skipped.
    ///
    /// - Parameter programs: their paths.
    package static func needs(_ programs: String...) -> Self {
        let missing = programs.filter { access($0, X_OK) != 0 }
        return .enabled(if: missing.isEmpty || mustRunAll, "needs \(missing.joined(separator: ", "))")
    }

    /// Skips a test where `KAZASU_PYTHON` names no Python with a package from PyPI.
    ///
    /// - Parameter module: what it imports.
    package static func needs(python module: String) -> Self {
        .enabled(if: mustRunAll || hasPython(module), "needs Python with \(module)")
    }

    /// Skips a test where a library that a program loads by itself is missing, and names it.
    ///
    /// - Parameter library: its name for the loader, such as `libpcsclite.so.1`.
    package static func needs(library: String) -> Self {
        .enabled(if: mustRunAll || dlopen(library, RTLD_LAZY) != nil, "needs \(library)")
    }

    /// `make check` installs everything: there, a test fails for what is missing.
    private static var mustRunAll: Bool { getenv("KAZASU_ALL_TESTS") != nil }

    private static func hasPython(_ module: String) -> Bool {
        guard let python = getenv("KAZASU_PYTHON").map({ String(cString: $0) }), !python.isEmpty else { return false }
        return (try? ChildProcess.run(python, ["-c", "import \(module)"]))?.end == .exited(0)
    }
}
