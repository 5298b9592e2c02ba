// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `kazasu simulate` in a process of its own.
final class SimulatedReader {
    /// What it printed: its connection string.
    let id: String
    private let child: RunningChild

    init(_ file: String, link: String, options: [String] = []) throws {
        child = try RunningChild(
            Kazasu.path, ["simulate", file, "--link", link] + options, environment: Kazasu.environment)
        id = try #require(try child.line(of: .output))
    }

    func send(_ signal: Int32) { child.send(signal) }

    func finish() -> ChildResult { child.finish() }

    /// Ctrl-C.
    func interrupt() -> ChildResult {
        send(SIGINT)
        return finish()
    }
}
