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
        ("--kind bus", 0), ("--kind top-up,purchase", 2), ("--kind チャージ,物販", 2),
    ]

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

    @Test("A day or a kind that is none", arguments: ["--since=2011-02-30", "--until=today", "--kind=rial", "--kind="])
    func wrong(option: String) throws {
        #expect(try history(option).end == .exited(64))
    }
}
