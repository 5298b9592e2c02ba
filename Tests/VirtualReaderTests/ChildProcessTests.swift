// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("Child processes of tests")
struct ChildProcessTests {
    @Test func outputErrorsAndStatus() throws {
        let result = try ChildProcess.run(
            "/bin/sh", ["-c", "echo $GREETING; echo bad >&2; exit 3"], environment: ["GREETING": "かざす"])
        #expect(result.end == .exited(3))
        #expect(result.output == "かざす\n")
        #expect(result.errors == "bad\n")
    }

    /// Signals that the threads of tests block end a child all the same.
    @Test(arguments: [SIGABRT, SIGTERM, SIGINT, SIGKILL])
    func signal(number: Int32) throws {
        #expect(try ChildProcess.run("/bin/sh", ["-c", "kill -\(number) $$"]).end == .signalled(number))
    }

    /// More than a pipe holds, on both outputs at once.
    @Test func muchOutput() throws {
        let result = try ChildProcess.run("/bin/sh", ["-c", "head -c 300000 /dev/zero | tee /dev/stderr"])
        #expect(result.end == .exited(0))
        #expect(result.output.utf8.count == 300_000)
        #expect(result.errors.utf8.count == 300_000)
    }

    /// A program that does not end, with its outputs open or closed.
    @Test(arguments: ["exec sleep 1000", "exec sleep 1000 >&- 2>&-"])
    func limit(script: String) throws {
        #expect(try ChildProcess.run("/bin/sh", ["-c", script], limit: .milliseconds(50)).end == .timedOut)
    }

    @Test func missingProgram() {
        #expect(throws: ChildProcess.NotStarted.self) { try ChildProcess.run("/nonexistent") }
    }
}
