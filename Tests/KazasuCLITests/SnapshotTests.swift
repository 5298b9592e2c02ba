// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("What people and scripts see", .waits)
struct SnapshotTests {
    /// The program itself and every command, as in `tag read`, by their own listing: a new command needs no line here.
    static let commands: [String] = {
        func names(_ command: JSONCursor, below path: [String]) throws -> [String] {
            let below = try command.optional("subcommands")?.list { subcommand throws(DocumentError) in subcommand }
            return try (below ?? []).reduce(into: [path.joined(separator: " ")]) { found, subcommand in
                let name = try subcommand.required("commandName").text()
                found += try names(subcommand, below: path + [name])
            }
        }
        return (try? names(Kazasu.listing(), below: [])) ?? []
    }()

    @Test("The list of commands is complete")
    func commandsAreListed() {
        #expect(["", "tag read", "ledger list"].allSatisfy(Self.commands.contains))
    }

    @Test("Help is an answer in the language of the user", arguments: commands)
    func help(command: String) throws {
        let arguments = command.isEmpty ? ["--help"] : command.split(separator: " ").map(String.init) + ["--help"]
        let pages = try ["en_US.UTF-8", "ja_JP.UTF-8"].map { language in
            let result = try Kazasu.run(arguments, environment: ["LC_ALL": language])
            #expect(result.end == .exited(0))
            #expect(result.errors.isEmpty)
            for line in result.output.split(separator: "\n") where !line.contains("kazasu ") {
                let width = line.unicodeScalars.reduce(0) { $0 + ((0x2E80...0xFF60).contains($1.value) ? 2 : 1) }
                #expect(width <= 80, "\(line)")
            }
            return result.output
        }
        try Snapshot.check(pages.joined(separator: Self.rule), Self.file(of: command))
    }

    /// What stands between the two languages of a command's recorded help.
    private static let rule = "\n" + String(repeating: "=", count: 80) + "\n\n"

    private static func file(of command: String) -> String {
        "help/\(command.isEmpty ? "kazasu" : command.replacing(" ", with: "-")).txt"
    }

    /// A command's help as it is recorded, which ``help(command:)`` compares with what the program prints.
    static func page(of command: String, _ language: String) throws -> String? {
        let pages = String(decoding: try TestFiles.read("Fixtures/cli/\(file(of: command))"), as: UTF8.self)
        guard let end = pages.firstRange(of: rule) else { return nil }
        return String(language == "ja" ? pages[end.upperBound...] : pages[..<end.lowerBound])
    }

    /// A card, a command line, and the name of its answer.
    struct Answer: CustomTestStringConvertible, Sendable {
        let card: String
        let arguments: String
        let name: String
        var testDescription: String { name }

        init(_ card: String, _ arguments: String, _ name: String) {
            (self.card, self.arguments, self.name) = (card, arguments, name)
        }
    }

    static let answers = [
        Answer("suica-p1", "scan", "suica-scan.txt"), Answer("suica-p1", "scan --lang ja", "suica-scan.ja.txt"),
        Answer("edy", "scan --probe", "edy-scan-probe.txt"),
        Answer("edy", "scan --probe --lang ja", "edy-scan-probe.ja.txt"),
        Answer("edy", "scan --probe --json", "edy-scan-probe.json"),
        Answer("suica-p1", "scan --json", "suica-scan.json"), Answer("suica-p1", "dump", "suica-dump.hex"),
        Answer("suica-p1", "history -q", "suica-history.txt"),
        Answer("suica-p1", "history -q --lang ja", "suica-history.ja.txt"),
        Answer("suica-p1", "history -q --format csv", "suica-history.csv"),
        Answer("suica-p1", "history -q --format ndjson", "suica-history.ndjson"),
        Answer("rapica", "history -q --format csv", "rapica-history.csv"),
        Answer("dhaka", "history -q --format csv", "dhaka-history.csv"),
        Answer("suica-p1", "poll", "suica-poll.txt"), Answer("suica-p1", "poll --json", "suica-poll.json"),
        Answer("five-systems", "scan", "five-scan.txt"), Answer("five-systems", "scan --json", "five-scan.json"),
        Answer("five-systems", "history -q --lang ja", "five-history.ja.txt"),
        Answer("five-systems", "history -q --format csv", "five-history.csv"),
        Answer("five-systems", "history -q --format ndjson --lang ja", "five-history.ja.ndjson"),
        Answer("five-systems", "dump --system 0003,12FC --hex-separator colon", "five-dump.hex"),
        Answer("edy", "dump", "edy-dump.hex"), Answer("edy", "dump --json", "edy-dump.json"),
        Answer("edy", "dump --json --redact", "edy-dump-redacted.json"),
        Answer("edy", "history", "edy-history.txt"), Answer("edy", "balance --all --json", "edy-balance.json"),
        Answer("edy", "balance --all", "edy-balance.txt"),
        Answer("awkward", "scan", "awkward-scan.txt"), Answer("awkward", "scan --json", "awkward-scan.json"),
        Answer("felica-lite-s", "scan", "lite-scan.txt"), Answer("felica-lite-s", "scan --lang ja", "lite-scan.ja.txt"),
        Answer("felica-lite-s", "dump", "lite-dump.hex"),
        Answer("felica-lite-s", "read 000B --blocks 0,2-3 --json", "lite-read.json"),
    ]

    @Test("Answers from the fixtures, through libnfc", arguments: answers)
    func answer(_ answer: Answer) throws {
        let words = answer.arguments.split(separator: " ").map(String.init)
        let result = try Kazasu.run(words + ["--reader", Card.fixture(answer.card)])
        #expect(result.end == .exited(0))
        #expect(result.errors.isEmpty, "no progress, no note off a terminal")
        try Snapshot.check(result.output, "answers/\(answer.name)")
    }

    static let decoded = ["suica-p1", "suica-inside", "edy", "five-systems", "felica-lite-s", "rapica", "dhaka"]

    @Test("Decodes a dump without a reader", arguments: decoded)
    func decode(card: String) throws {
        for (option, name) in [("--lang=en", "txt"), ("--lang=ja", "ja.txt"), ("--json", "json")] {
            let result = try Kazasu.run("decode", Card.file(card), option)
            #expect(result.end == .exited(0))
            #expect(result.errors.isEmpty)
            try Snapshot.check(result.output, "answers/\(card)-decode.\(name)")
        }
    }

    /// The cards with a history that is open.
    static let histories = TestFiles.names(in: "Fixtures/cards").filter { card in
        TestFiles.names(in: "Fixtures/cards/\(card)").contains("history.json")
    }

    @Test("The history of every card, with the names of stations in the language of the reader", arguments: histories)
    func history(card: String) throws {
        #expect(Self.histories.count > 15)
        for language in ["en", "ja"] {
            let result = try Kazasu.run("history", "-q", Card.file(card), "--lang", language)
            #expect(result.end == .exited(0))
            try Snapshot.check(result.output, "histories/\(card).\(language).txt")
        }
    }

    @Test("The documents of the fixtures", arguments: ["suica-p1", "edy", "five-systems"], ["balance", "history"])
    func document(card: String, command: String) throws {
        let expected = String(decoding: try TestFiles.read("Fixtures/cards/\(card)/\(command).json"), as: UTF8.self)
        let file = try Kazasu.run(command, "--json", Card.file(card))
        #expect(file.end == .exited(0) && file.output == expected)
        let result = try Kazasu.run(command, "--json", "-r", Card.fixture(card))
        #expect(result.end == .exited(0))
        // The simulated reader uses a bit rate of its own.
        #expect(result.output == expected.replacing(#""bitRate": 424"#, with: #""bitRate": 212"#))
    }
}
