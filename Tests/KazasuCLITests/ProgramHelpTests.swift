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

    @Test("The version is an answer by three names", arguments: ["--version", "-V", "version"])
    func version(word: String) throws {
        let answer = try Kazasu.run(word)
        #expect(answer.hasEnded(0))
        #expect(answer.output.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+\n/) != nil, "\(answer.output)")
    }
}
