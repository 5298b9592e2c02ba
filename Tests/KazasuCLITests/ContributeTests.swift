// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("kazasu contribute", .waits)
struct ContributeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Records a virtual card into the folder.
    private func record(_ card: String, _ options: String...) throws -> ChildResult {
        try Kazasu.run(["contribute", "--yes", "-o", folder.path, "-r", card] + options)
    }

    @Test("One masked file, whose name is printed, which passes the check and is played by scan, poll and contribute")
    func whole() throws {
        let made = try record(Card.fixture("edy"))
        #expect(made.hasEnded(0) && made.errors.isEmpty, "\(made.errors)")
        let path = String(made.output.dropLast())
        #expect(path.hasPrefix("\(folder.path)/virtual-") && path.hasSuffix(".jsonl"), "\(made.output)")
        let text = String(decoding: try TestFiles.read(path), as: UTF8.self)
        #expect(text.hasPrefix(#"{"schema":"kazasu.recording/1","course":"reader","tool":"kazasu "#))
        #expect(text.contains(#""simulated":true"#) && text.contains(#"{"op":"end","complete":true"#))
        for number in ["0312abcd0042", Card.file("edy"), folder.path] { #expect(!text.contains(number)) }
        let check = try Kazasu.run("contribute", "--check", path)
        #expect(check.hasEnded(0) && check.output.isEmpty && check.errors.isEmpty, "\(check)")
        #expect(try Kazasu.run("contribute", "--row", path).output.isEmpty, "a simulated reader has no row")
        for command in ["scan", "poll"] {
            #expect(try Kazasu.run(command, "--timeout", "0", "-r", "replay:\(path)").hasEnded(0))
        }
        #expect(try Kazasu.run("contribute", "--yes", "-o", folder.path, "-r", "replay:\(path)").hasEnded(0))
    }

    @Test("A changed file is 65, with each fault on a line of its own and never its value")
    func faults() throws {
        let made = try record(Card.fixture("edy"))
        let path = String(made.output.dropLast())
        let text = String(decoding: try TestFiles.read(path), as: UTF8.self)
        let changed = text.replacing("\"idm\":\"0112000000000001\"", with: "\"idm\":\"01120312abcd0042\"")
        let bad = try folder.write(Array(changed.utf8), as: "bad.jsonl")
        let result = try Kazasu.run("contribute", "--check", path, bad)
        #expect(result.hasEnded(65))
        let lines = result.output.split(separator: "\n")
        #expect(lines.first == "\(bad):1: the digest in the name does not match")
        #expect(lines.dropFirst().contains { $0.hasSuffix(": a value is not masked") })
        #expect(!result.output.contains("abcd0042") && !result.errors.contains("abcd0042"))
        let document = try Kazasu.run("contribute", "--check", "--json", bad)
        #expect(document.hasEnded(65) && document.output.contains(#""fault": "unmasked""#), "\(document)")
        let newer = try folder.write(Array(text.replacing("recording/1", with: "recording/2").utf8), as: "newer.jsonl")
        #expect(try Kazasu.run("contribute", "--check", newer).output.contains("another version"))
        #expect(try Kazasu.run("scan", "-r", "replay:\(newer)").hasEnded(65))
    }

    @Test("Nobody to ask, no reader, no folder, no card, no file")
    func refusals() throws {
        #expect(try Kazasu.run("contribute", "-r", Card.fixture("edy")).hasEnded(64), "no terminal and no --yes")
        #expect(try Kazasu.run("contribute", "--yes", "-r", "rcs380:serial=none").hasEnded(69))
        #expect(
            try Kazasu.run("contribute", "--yes", "-o", "\(folder.path)/none", "-r", Card.fixture("edy")).hasEnded(73))
        for arguments in [["--check"], ["file.jsonl"], ["--json"], ["--check", "--yes", "file.jsonl"]] {
            #expect(try Kazasu.run(["contribute"] + arguments).hasEnded(64), "\(arguments)")
        }
        #expect(try Kazasu.run("contribute", "--check", "\(folder.path)/none.jsonl").hasEnded(66))
        let empty = try record(Card.fixture("edy"), "--no-card")
        #expect(empty.hasEnded(0) && empty.output.hasSuffix(".jsonl\n"), "\(empty)")
    }

    private static func names(in folder: String) throws -> [String] {
        try Kazasu.shell("ls -A '\(folder)'").output.split(separator: "\n").map { String($0) }
    }

    @Test("Two at once on one reader: one file, and 69 for the other")
    func twoAtOnce() throws {
        let reader = try SimulatedReader(Card.file("edy"), link: "\(folder.path)/pn532")
        let first = try Kazasu.start("contribute", "--yes", "-o", folder.path, "-r", reader.id)
        let second = try Kazasu.start("contribute", "--yes", "-o", folder.path, "-r", reader.id)
        let results = [first.finish(), second.finish()]
        #expect(results.contains { $0.hasEnded(0) }, "\(results)")
        for result in results {
            guard !result.hasEnded(69) else { continue }
            #expect(result.hasEnded(0), "\(result)")
            #expect(try Kazasu.run("contribute", "--check", String(result.output.dropLast())).hasEnded(0))
        }
        let files = try Self.names(in: folder.path).filter { $0.hasSuffix(".jsonl") }
        #expect(files.count == results.count { $0.hasEnded(0) })
        #expect(reader.interrupt().hasEnded(0))
    }

    @Test("A killed one leaves nothing behind, and one on a full disk nothing but 73")
    func noHalfFile() throws {
        let reader = try SimulatedReader(Card.file("edy"), link: "\(folder.path)/pn532")
        let output = "\(folder.path)/output"
        #expect(mkdir(output, 0o700) == 0)
        let killed = try Kazasu.start("contribute", "--yes", "-o", output, "-r", reader.id)
        killed.send(SIGKILL)
        _ = killed.finish()
        #expect(try Self.names(in: output) == [])
        #expect(reader.interrupt().hasEnded(0))
        // 8 blocks of 512 bytes.
        let full = try Kazasu.shell(
            "trap '' XFSZ; ulimit -f 8; kazasu contribute --yes -o '\(output)' -r '\(Card.fixture("edy"))'")
        #expect(full.hasEnded(73), "\(full)")
        #expect(try Self.names(in: output) == [])
    }

    @Test("Of a file of 100 MB no more is read than may be there")
    func longFile() throws {
        let path = try folder.write([], as: "long.jsonl")
        #expect(truncate(path, 100_000_000) == 0)
        let result = try Kazasu.run("contribute", "--check", path)
        #expect(result.hasEnded(65) && result.output == "\(path):1: longer than 4 MiB\n", "\(result)")
        #expect(try Kazasu.run("scan", "-r", "replay:\(path)").hasEnded(65))
    }
}
