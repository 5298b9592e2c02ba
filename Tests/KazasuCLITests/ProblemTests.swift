// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("kazasu contribute --problem", .waits)
struct ProblemTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var kept: String { "\(folder.path)/kazasu/problem.jsonl" }

    private func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildResult {
        try Kazasu.run(
            arguments, environment: ["XDG_STATE_HOME": folder.path].merging(environment) { $1 })
    }

    private func contribute(_ options: String...) throws -> ChildResult {
        try Kazasu.run(
            ["contribute", "--problem", "--yes", "-o", folder.path] + options,
            environment: ["XDG_STATE_HOME": folder.path])
    }

    @Test("A card that left: the failed command is kept, masked, and becomes a file that passes the check")
    func whole() throws {
        #expect(try run("balance", "-r", Card.fixture("edy")).hasEnded(0))
        #expect(access(kept, F_OK) != 0, "a command that succeeds is not kept")
        let leaving = try folder.card(Card.transit(faults: #"{"fault":"absent","from":12}"#))
        #expect(try run("dump", "-r", leaving).hasEnded(74))
        var status = stat()
        #expect(stat(kept, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let made = try contribute()
        #expect(made.hasEnded(0), "\(made.errors)")
        let path = String(made.output.dropLast())
        #expect(path.hasPrefix("\(folder.path)/virtual-"), "\(made.output)")
        let text = String(decoding: try TestFiles.read(path), as: UTF8.self)
        #expect(text.contains(#""course":"problem""#) && text.contains(#""command":"dump""#))
        #expect(text.contains(#""status":74,"reason":"cardLost""#) && text.contains(#""libnfc":"1."#))
        for secret in [Card.idm, folder.path, "2000000a"] { #expect(!text.contains(secret), "\(secret)") }
        #expect(try Kazasu.run("contribute", "--check", path).hasEnded(0))
        #expect(try Kazasu.run("dump", "-r", "replay:\(path)").hasEnded(74))
    }

    @Test("A reader that is absent, one without a card, a PIN that the card refuses")
    func others() throws {
        #expect(try run("poll", "-r", "rcs380:serial=1234567", "-t", "0").hasEnded(69))
        #expect(try folder.text("kazasu/problem.jsonl").contains(#""status":69,"reason":"absent""#))
        #expect(try !folder.text("kazasu/problem.jsonl").contains("1234567"))
        #expect(
            try run(
                "license", "-r", LicenseTests.reader("sample"), "--pin1-from", "env:P1",
                environment: ["P1": "7351"]
            ).hasEnded(77))
        let text = try folder.text("kazasu/problem.jsonl")
        #expect(text.contains(#""command":"license""#) && !text.contains("37333531"))
    }

    @Test("Nothing kept is 66: none failed, a day has passed, the variable forbids it, the file was changed")
    func nothing() throws {
        let license = ["license", "-r", Card.fixture("edy"), "-t", "0"]
        #expect(try contribute().hasEnded(66))
        let forbidden = ["XDG_STATE_HOME": folder.path, "KAZASU_NO_PROBLEM": "1"]
        #expect(try Kazasu.run(license, environment: forbidden).hasEnded(76))
        #expect(access(kept, F_OK) != 0)
        #expect(try Kazasu.run(license, environment: ["XDG_STATE_HOME": folder.path]).hasEnded(76))
        #expect(try contribute().hasEnded(0))
        let text = try folder.text("kazasu/problem.jsonl")
        _ = try folder.write(Array(text.replacing("license", with: "liceNse").utf8), as: "kazasu/problem.jsonl")
        #expect(try contribute().hasEnded(66))
        _ = try folder.write(Array(text.utf8), as: "kazasu/problem.jsonl")
        let old = timespec(tv_sec: time(nil) - 25 * 3600, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, kept, [old, old], 0) == 0)
        #expect(try contribute().hasEnded(66))
        // The next command that opens a reader removes it.
        #expect(try run("balance", "-r", Card.fixture("edy")).hasEnded(0))
        #expect(access(kept, F_OK) != 0)
    }

    @Test("It records nothing, so it takes no reader")
    func usage() throws {
        for option in ["-r=virtual:x", "--no-card", "--check", "--json"] {
            #expect(try contribute(option).hasEnded(64))
        }
    }

    @Test("A failure whose file cannot be written ends as it does without one")
    func fullDisk() throws {
        let result = try Kazasu.shell(
            "trap '' XFSZ; ulimit -f 0; kazasu license -t 0 -r '\(Card.fixture("edy"))'",
            environment: ["XDG_STATE_HOME": folder.path])
        #expect(result.hasEnded(76), "\(result.errors)")
        #expect(access(kept, F_OK) != 0)
    }
}
