// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Roots in which images are built often have no `/proc`, from which Swift takes the arguments of a program.
@Suite("A root without /proc", .waits)
struct NoProcTests {
    private static let unshare = ["-m"] + (geteuid() == 0 ? [] : ["-r"])
    private static let canHideIt: Bool =
        (try? ChildProcess.run("/usr/bin/unshare", unshare + ["sh", "-c", "mount -t tmpfs none /proc"]))?.hasEnded(0)
        ?? false

    private func run(_ program: String, _ arguments: [String]) throws -> ChildResult {
        let line = "mount -t tmpfs none /proc && test ! -e /proc/self && exec \"$@\""
        return try ChildProcess.run(
            "/usr/bin/unshare", Self.unshare + ["sh", "-c", line, "sh", program] + arguments,
            environment: Kazasu.environment, limit: .seconds(120))
    }

    @Test(
        "Commands are those that were typed",
        .enabled(if: canHideIt, "mounting needs root or user namespaces"), arguments: [Kazasu.path, Kazasu.service])
    func arguments(_ program: String) throws {
        let version = try run(program, ["--version"])
        #expect(version.hasEnded(0) && version.output.hasPrefix("0."), "\(version.output)\(version.errors)")
        try run(program, ["nonsense"]).expectError(64, "nonsense")
        try run(program, ["nonsense", "--lang", "ja"]).expectError(64, "nonsense")
        let balance = try run(program, ["balance", "-r", Card.fixture("suica-p1")])
        #expect(balance.hasEnded(0) && balance.output == "10\n", "\(balance.errors)")
    }
}
