// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The help of the program itself", .waits)
struct ProgramHelpTests {
    @Test("It fits a screen, has examples of watch and ledger, and points to the man page", arguments: ["en", "ja"])
    func fits(language: String) throws {
        let page = try Kazasu.run("--help", "--lang", language)
        #expect(page.hasEnded(0) && page.errors.isEmpty)
        let lines = page.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 40)
        for line in lines {
            let width = line.unicodeScalars.reduce(0) { $0 + ((0x2E80...0xFF60).contains($1.value) ? 2 : 1) }
            #expect(width <= 80, "\(line)")
        }
        for part in ["\n  kazasu watch ", "\n  kazasu ledger ", "man kazasu\n"] {
            let isThere = page.output.contains(part)
            #expect(isThere, "\(part)")
        }
    }

    @Test("Every command is in one of the groups, once", arguments: ["en", "ja"])
    func groups(language: String) throws {
        let page = try Kazasu.run("--help", "--lang", language).output
        let labels = page.matches(of: #/(?m)^  ([a-z]+(?:, [a-z]+)*)  /#).flatMap { $0.1.split(separator: ", ") }
        let commands = SnapshotTests.commands.filter { !$0.isEmpty && !$0.contains(" ") }
        #expect(labels.map(String.init).sorted() == commands.sorted())
    }

    @Test(
        "The same for every way to ask", arguments: [[], ["help"], ["-h"], ["--help", "--help"], ["help", "--help"]])
    func ways(arguments: [String]) throws {
        let page = try Kazasu.run(arguments)
        #expect(page.hasEnded(0))
        #expect(try page.output == Kazasu.run("--help").output)
    }

    /// Other ways to ask for the help of a command, and the usual one.
    static let questions = [
        ("--help balance", "balance --help"), ("-h tag read", "tag read --help"), ("balance help", "balance --help"),
        ("tag help", "tag --help"), ("tag help read", "tag read --help"), ("ledger help", "ledger --help"),
        ("ledger help sum", "ledger sum --help"), ("ledger sum help", "ledger sum --help"),
        ("--help ledger sum", "ledger sum --help"), ("help watch", "watch --help"),
    ]

    @Test("The help of a command, whichever way it is asked for", arguments: questions, ["en", "ja"])
    func question(_ row: (line: String, usual: String), language: String) throws {
        let words = row.line.split(separator: " ").map(String.init)
        let page = try Kazasu.run(words + ["--lang", language])
        #expect(page.hasEnded(0) && page.errors.isEmpty, "\(page.errors)")
        let usual = try Kazasu.run(row.usual.split(separator: " ").map(String.init) + ["--lang", language])
        #expect(page.output == usual.output && !usual.output.isEmpty)
    }

    @Test("A dump that is called help is a dump")
    func file() throws {
        let folder = try TemporaryFolder()
        let line = "cp '\(Card.file("edy"))' '\(folder.path)/help' && cd '\(folder.path)' && kazasu balance help"
        #expect(try Kazasu.shell(line).output == "10814\n")
    }

    @Test(
        "The version is an answer by three names, also behind a command",
        arguments: ["--version", "-V", "version", "balance -V", "ledger -V", "ledger sum --version"])
    func version(line: String) throws {
        let answer = try Kazasu.run(line.split(separator: " ").map(String.init))
        #expect(answer.hasEnded(0))
        #expect(answer.output.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+\n/) != nil, "\(answer.output)")
    }
}
