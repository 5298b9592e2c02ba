// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Histories")
struct HistoryOptionTests {
    private func history(_ words: String...) throws -> ChildResult {
        try Kazasu.run(["history", "-r", Card.fixture("suica-p1"), "--format", "ndjson"] + words)
    }

    /// Options, and how many records are left.
    static let filters: [(options: String, count: Int)] = [
        ("", 20), ("--since 2011-03-11", 3), ("--until 2010-09-24", 2), ("--since 2011-03-09 --until 2011-03-10", 5),
        ("--kind charge,purchase", 2), ("--kind ticket --since 2011-01-01", 1), ("--since 2012-01-01", 0),
        ("--since 2011-03-10 --until 2011-03-09", 0), ("--kind bus", 0),
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

    @Test("A day or a kind that is none", arguments: ["--since=2011-02-30", "--until=today", "--kind=rial", "--kind="])
    func wrong(option: String) throws {
        #expect(try history(option).end == .exited(64))
    }

    /// The rows of a text as RFC 4180 has it, read by a parser that takes nothing else.
    private func rows(_ text: String) -> [[String]] {
        var rows: [[String]] = [[""]]
        var isQuoted = false
        var scalars = Array(text.unicodeScalars)[...]
        while let next = scalars.popFirst() {
            if isQuoted {
                if next != "\"" {
                    rows[rows.count - 1][rows[rows.count - 1].count - 1].unicodeScalars.append(next)
                } else if scalars.first == "\"" {
                    _ = scalars.popFirst()
                    rows[rows.count - 1][rows[rows.count - 1].count - 1] += "\""
                } else {
                    isQuoted = false
                }
            } else if next == "\"" {
                isQuoted = true
            } else if next == "," {
                rows[rows.count - 1].append("")
            } else if next == "\r", scalars.first == "\n" {
                _ = scalars.popFirst()
                rows.append([""])
            } else {
                rows[rows.count - 1][rows[rows.count - 1].count - 1].unicodeScalars.append(next)
            }
        }
        return rows
    }

    @Test("CSV opens in Excel: a byte order mark, CR LF, RFC 4180")
    func csv() throws {
        let folder = try TemporaryFolder()
        // A second station, whose place tells that the codes are decimal.
        let table =
            "area,line,station,company,line_name,station_name\n0,3,13,JR,中央,\"新宿, \"\"東口\"\"\"\n0,3,18,JR,中央,高円寺\n"
        let path = try folder.write(Array(table.utf8), as: "table.csv")
        let result = try Kazasu.run(
            "history", "-r", Card.fixture("suica-p1"), "--format", "csv", "--stations", path, "--lang", "ja")
        #expect(Array(result.output.utf8.prefix(3)) == [0xEF, 0xBB, 0xBF])
        let bare = result.output.unicodeScalars.filter { $0 == "\n" }.count
        #expect(bare == result.output.utf8.split(separator: 13, omittingEmptySubsequences: false).count - 1)
        let rows = rows(String(result.output.unicodeScalars.dropFirst()))
        #expect(rows.count == 22 && rows.last == [""])
        #expect(rows.dropLast().allSatisfy { $0.count == rows[0].count })
        #expect(rows.contains { $0.contains("新宿, \"東口\"") }, "\(result.output)")
    }
}
