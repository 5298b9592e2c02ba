// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// How long tests look: few random values in `make test`, many in `make nightly`, which sets `KAZASU_EFFORT`.
package enum TestEffort {
    /// How many times more than in `make test`.
    package static let factor = getenv("KAZASU_EFFORT").flatMap { Int(String(cString: $0)) }.map { max($0, 1) } ?? 1

    /// Rounds of a property test.
    ///
    /// - Parameter count: how many there are in `make test`.
    package static func rounds(_ count: Int) -> Range<Int> { 0..<count * factor }

    /// Prints what a long run looked at; a short one prints nothing.
    package static func report(_ line: @autoclosure () -> String) {
        guard factor > 1 else { return }
        print(line())
    }
}
