// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Histories", .waits)
struct HistoryOptionTests {
    private func history(_ words: String...) throws -> ChildResult {
        try Kazasu.run(["history", "-r", Card.fixture("suica-p1"), "--format", "ndjson"] + words)
    }

    /// Options, and how many records are left.
    static let filters: [(options: String, count: Int)] = [
        ("", 20), ("--since 2011-03-11", 3), ("--until 2010-09-24", 2), ("--since 2011-03-09 --until 2011-03-10", 5),
        ("--kind charge,purchase", 2), ("--kind ticket --since 2011-01-01", 1), ("--since 2012-01-01", 0),
        ("--kind bus", 0), ("--kind top-up,purchase", 2), ("--kind チャージ,物販", 2), ("-n 5", 5), ("-n5", 5),
        ("--limit 3 --until 2010-09-24", 2), ("--limit 100", 20), ("--since yesterday", 0), ("--until today", 20),
        ("--since 昨日 --until 今日", 0),
    ]

    @Test("--limit leaves the newest ones")
    func newest() throws {
        let whole = try history("-q").output.split(separator: "\n")
        #expect(try history("-q", "-n", "2").output.split(separator: "\n") == Array(whole.prefix(2)))
    }

    @Test("A value may be attached to the letter of its option")
    func attached() throws {
        let folder = try TemporaryFolder()
        let result = try Kazasu.run(
            "history", "-q", "-r\(Card.fixture("suica-p1"))", "-t0", "-o\(folder.path)/h.ndjson")
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(try folder.text("h.ndjson") == history().output)
    }

    @Test("The meaning of ? is explained where a ? is shown, and nowhere else")
    func doubt() throws {
        let folder = try TemporaryFolder()
        let note = "values marked ? are disputed"
        let card = Card.file("suica-p1")
        let table = try Kazasu.run("history", card)
        #expect(table.output.contains("?") && table.errors.contains(note), "\(table.errors)")
        let texts = [
            try Kazasu.run("history", card, "--json"), try Kazasu.run("history", card, "--format", "csv"),
            try Kazasu.run("history", card, "-o", "\(folder.path)/h.csv"),
            try Kazasu.run("history", card, "--kind", "bus"),
        ]
        for text in texts { #expect(!text.errors.contains(note), "\(text.errors)") }
        // At 60 columns there is no room for what is marked.
        let narrow = try ChildProcess.run(
            "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' history '\(card)'", "/dev/null"],
            environment: Kazasu.environment.merging(["COLUMNS": "60"]) { $1 })
        #expect(narrow.hasEnded(0) && !narrow.output.contains("?"), "\(narrow.output)")
    }

    @Test("An error says which variable its value came from")
    func variables() throws {
        let card = Card.file("suica-p1")
        try Kazasu.run(["balance"], environment: ["KAZASU_READER": "foo"])
            .expectError(64, "unknown reader ID 'foo' (from the variable KAZASU_READER)")
        try Kazasu.run(["balance", "--lang", "ja"], environment: ["KAZASU_READER": "virtual:/nosuch"])
            .expectError(66, "（環境変数 KAZASU_READER の値）")
        try Kazasu.run(["history", card], environment: ["KAZASU_STATIONS": "/nosuch"])
            .expectError(66, "/nosuch cannot be read: no such file or folder (from the variable KAZASU_STATIONS)")
        let named = try Kazasu.run(["balance", "-r", "bar"], environment: ["KAZASU_READER": "foo"])
        #expect(named.errors.contains("'bar'\n"), "\(named.errors)")
    }

    @Test("Records are chosen", arguments: filters)
    func chosen(_ row: (options: String, count: Int)) throws {
        let words = row.options.split(separator: " ").map(String.init)
        let result = try Kazasu.run(["history", "-r", Card.fixture("suica-p1"), "--format", "ndjson"] + words)
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.output.split(separator: "\n").count == row.count)
    }

    @Test("A period without records has no head, and says so")
    func nothing() throws {
        let line = ["history", "-r", Card.fixture("suica-p1"), "--since", "2030-01-01"]
        let result = try Kazasu.run(line)
        #expect(result.hasEnded(0) && result.output.isEmpty)
        #expect(result.errors == "kazasu: no records to show\n")
        #expect(try Kazasu.run(line + ["--lang", "ja"]).errors == "kazasu: 表示する履歴がありません\n")
    }

    @Test("A period that ends before it begins is a mistake, not an empty answer")
    func backwards() throws {
        for (language, words) in [("en", "--since is after --until"), ("ja", "--since")] {
            try history("--since", "2011-03-12", "--until", "2011-03-11", "--lang", language).expectError(64, words)
        }
    }

    @Test("A day or a kind that is none", arguments: ["--since=2011-02-30", "--until=heute", "--kind=rial", "--kind="])
    func wrong(option: String) throws {
        #expect(try history(option).end == .exited(64))
    }
}
