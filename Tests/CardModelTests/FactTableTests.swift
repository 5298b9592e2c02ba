// SPDX-License-Identifier: Apache-2.0

import CardModel
import Testing

@Suite("Tables of facts")
struct FactTableTests {
    struct Fact: Equatable, Sendable {
        let code: UInt16
        let others: [UInt8]
        let count: Int?
        let kind: Language?
        let name: LocalizedText?
    }

    static let columns = ["code", "others", "count", "kind", "english", "japanese"]
    static let header = columns.joined(separator: "\t") + "\n"

    private func table(_ text: String) -> FactTable<Fact> {
        table(Array((Self.header + text).utf8))
    }

    private func table(_ bytes: [UInt8]) -> FactTable<Fact> {
        FactTable(bytes, columns: Self.columns, key: ["code"]) { (row) throws(FactTableError) in
            Fact(
                code: try row.hex("code"), others: try row.hexList("others"), count: try row.decimal("count"),
                kind: try row.word("kind"), name: try row.name())
        }
    }

    @Test("Every kind of field, comments, empty lines, fields left out, and both ends of line")
    func whole() {
        let read = table("# source\n090F\t01 ff\t20\tja\thistory\t利用履歴\r\n\n8\n")
        #expect(
            read.rows == [
                Fact(
                    code: 0x090F, others: [1, 255], count: 20, kind: .japanese,
                    name: LocalizedText("history", "利用履歴")),
                Fact(code: 8, others: [], count: nil, kind: nil, name: nil),
            ])
        #expect(read.faults.isEmpty)
    }

    @Test(
        "Skips and lists malformed lines",
        arguments: [
            ("XY", FactTableError(line: 3, column: "code", reason: .notANumber)),
            ("10000", FactTableError(line: 3, column: "code", reason: .notANumber)),
            ("-1", FactTableError(line: 3, column: "code", reason: .notANumber)),
            ("\t1", FactTableError(line: 3, column: "code", reason: .empty)),
            ("2\t100", FactTableError(line: 3, column: "others", reason: .notANumber)),
            ("2\t\t0x", FactTableError(line: 3, column: "count", reason: .notANumber)),
            ("2\t\t\tfr", FactTableError(line: 3, column: "kind", reason: .unknownWord)),
            ("2\t\t\t\tonly", FactTableError(line: 3, column: "japanese", reason: .empty)),
            ("2\t\t\t\t\t日本語", FactTableError(line: 3, column: "english", reason: .empty)),
            ("2\t\t\t\t\t\tmore", FactTableError(line: 3, reason: .tooManyFields)),
            ("1", FactTableError(line: 3, reason: .duplicate)),
        ])
    func faults(_ line: String, _ fault: FactTableError) {
        let read = table("1\n\(line)\n3\n")
        #expect(read.rows.map(\.code) == [1, 3])
        #expect(read.faults == [fault])
        #expect(fault.description.contains("line 3"))
    }

    @Test("A column that the table has not")
    func noSuchColumn() {
        let read = FactTable(Array("a\n1\n".utf8), columns: ["a"], key: ["a"]) { (row) throws(FactTableError) in
            try row.required("b")
        }
        #expect(read.rows.isEmpty)
        #expect(read.faults == [FactTableError(line: 2, column: "b", reason: .noSuchColumn)])
    }

    @Test("A header that is another, or none", arguments: ["", "# nothing\n", "code\tothers\n", "1\n"])
    func header(_ text: String) {
        #expect(table(Array(text.utf8)).faults.map(\.reason) == [.wrongHeader])
    }

    @Test("A line that is not UTF-8")
    func notUTF8() {
        let read = table(Array(Self.header.utf8) + [0x31, 0x09, 0xFF, 0x0A, 0x32, 0x0A])
        #expect(read.rows.map(\.code) == [2])
        #expect(read.faults == [FactTableError(line: 2, reason: .notUTF8)])
    }
}
