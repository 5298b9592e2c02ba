// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("kazasu doctor --report", .waits)
struct ReportTests {
    private let folder: TemporaryFolder
    private let system: FileTree

    init() throws {
        folder = try TemporaryFolder()
        system = try FileTree()
    }

    private var path: String { "\(folder.path)/report.jsonl" }

    private func report(
        _ card: String, _ options: String..., environment: [String: String] = [:]
    ) throws -> ChildResult {
        try Kazasu.run(
            ["doctor", "--root", system.root, "--report", path, "-r", card] + options, environment: environment)
    }

    @Test("It is the file of contribute under another name, and says that it will go")
    func whole() throws {
        let result = try report(Card.fixture("edy"), "--yes")
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.output.contains("virtual:\(Card.file("edy")) answers"))
        #expect(result.errors.contains("--report will be removed"))
        let text = try folder.text("report.jsonl")
        #expect(text.hasPrefix(#"{"schema":"kazasu.recording/1","course":"reader""#))
        #expect(text.contains(#"{"op":"end","complete":true"#))
        for number in ["0312abcd0042", Card.file("edy"), folder.path] { #expect(!text.contains(number)) }
        let check = try Kazasu.run("contribute", "--check", path)
        #expect(check.output == "\(path):1: the digest in the name does not match\n")
        #expect(try Kazasu.run("scan", "-r", "replay:\(path)").hasEnded(0))
    }

    @Test("The user sees the whole file, and is asked", arguments: [("y", true), ("n", false)])
    func asked(answer: String, writes: Bool) throws {
        let result = try Typist.run(
            [Kazasu.path, "doctor", "--root", system.root, "--report", path, "-r", Card.fixture("edy")],
            typing: ["? [y/N] =\(answer)"], environment: ["PAGER": "cat"])
        #expect(result.end == .exited(0), "\(result.output)")
        #expect((access(path, F_OK) == 0) == writes)
        #expect(result.output.contains("kazasu.recording/1"))
    }

    @Test("Where nobody can be asked nothing is read, and nothing is written")
    func unasked() throws {
        try report(Card.fixture("edy")).expectError(64, "cannot ask for confirmation: no terminal", after: 1)
        #expect(access(path, F_OK) != 0)
        #expect(try Kazasu.run("doctor", "--report", "-", "--yes").hasEnded(64))
        try Kazasu.run("doctor", "--root", system.root, "--report", "/dev/null/x", "--yes").expectError(73, after: 1)
    }

    @Test("No reader, and one that does not open: the findings are worth a report")
    func noReader() throws {
        let none = try Kazasu.run("doctor", "--root", system.root, "--report", path, "--yes")
        #expect(none.hasEnded(69))
        #expect(try folder.text("report.jsonl").contains(#""command":"doctor""#))
        for reader in ["pn532_uart:/dev/nowhere", "virtual:\(folder.path)/none.json", "rcs380:serial=1234567"] {
            let result = try report(reader, "--yes")
            #expect(result.hasEnded(69) && result.output.contains("\(reader) cannot be used"), "\(result.output)")
            let text = try folder.text("report.jsonl")
            #expect(text.contains(#"{"op":"end","complete":false,"sections":["doctor"]}"#))
            #expect(!text.contains(folder.path) && !text.contains("1234567"))
        }
    }
}
