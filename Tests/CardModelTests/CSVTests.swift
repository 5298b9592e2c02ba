// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("The writer of CSV")
struct CSVTests {
    /// A text and its cell.
    static let cells: [(text: String, cell: String)] = [
        ("", ""), ("a", "a"), ("1=", "1="), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "a\\u{A}b"),
        ("=1", "'=1"), ("+1", "'+1"), ("-1", "'-1"), ("@1", "'@1"), ("\t1", "'\\u{9}1"),
        // Japanese spreadsheets take the full-width forms for the others.
        ("＝1", "'＝1"), ("＋1", "'＋1"), ("－1", "'－1"), ("＠1", "'＠1"),
        // A combining character makes one letter of itself and what stands before it, not for the program that reads the file.
        ("=\u{301}1", "'=\u{301}1"), ("a,\u{301}b", "\"a,\u{301}b\""), ("\"\u{301}", "\"\"\"\u{301}\""),
        ("x\"\u{301},=1+1,\"\u{301}y", "\"x\"\"\u{301},=1+1,\"\"\u{301}y\""),
    ]

    @Test("Text is quoted where needed, and never a formula", arguments: cells)
    func text(_ row: (text: String, cell: String)) {
        #expect(Array(CSV().row([.text(row.text)]).unicodeScalars) == Array((row.cell + "\r\n").unicodeScalars))
    }

    @Test("Numbers and the words of a format are written as they are")
    func numbers() {
        #expect(
            CSV().row([.number("-1.50"), .number(-7), .number(nil as Int?), "-", .text(nil)]) == "-1.50,-7,,-,\r\n")
    }

    @Test("Other separators, line ends and quotation marks")
    func forms() {
        var csv = CSV()
        (csv.separator, csv.newline) = (";", "\n")
        #expect(csv.row([.text("a,b"), .text("c;\u{301}d")]) == "a,b;\"c;\u{301}d\"\n")
        csv.separator = "\t"
        #expect(csv.row([.text("a;b"), "c"]) == "a;b\tc\n")
        csv.quotesAll = true
        #expect(csv.row([.text("a"), .number(1)]) == "\"a\"\t\"1\"\n")
    }
}
