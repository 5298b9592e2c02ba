// SPDX-License-Identifier: Apache-2.0

import NDEF
import Testing

@Suite("Records for display")
struct SummaryTests {
    /// Contents and their line.
    static let lines: [(content: NDEFContent, line: String)] = [
        (.empty, "-"), (.text(NDEFText("a\nb")), "a⏎b"), (.uri(NDEFURI("tel:110")), "tel:110"),
        (.smartPoster(NDEFSmartPoster(NDEFURI("http://a"))), "http://a"),
        (
            .smartPoster(NDEFSmartPoster(NDEFURI("http://a"), titles: [NDEFText("x"), NDEFText("y", language: "ja")])),
            "http://a (x, y)"
        ),
        (.mime(type: "text/plain", data: [0x68, 0x69]), "text/plain: hi"),
        (.mime(type: "a/b", data: [0x00, 0xFF]), "a/b: 00FF"), (.external(type: "a:b", data: [0x1B]), "a:b: 1B"),
        (.wellKnown(type: "Hr", data: []), "Hr: "), (.absoluteURI("http://a/", data: []), "http://a/"),
        (.absoluteURI("http://a/", data: [0x78]), "http://a/: x"), (.unknown(data: [1, 2]), "0102"),
    ]

    @Test("One line for each record", arguments: lines)
    func line(_ row: (content: NDEFContent, line: String)) throws {
        #expect(try NDEFRecord(row.content).summary == row.line)
    }

    @Test func brokenRecords() {
        #expect(NDEFRecord(format: .wellKnown, type: "T", payload: [0x00]).summary == "T: 00")
    }

    @Test("Nothing from a tag changes a terminal")
    func harmless() {
        #expect(DisplayText.harmless("\u{1B}[31mred\u{07}\t\u{9B}") == "\u{FFFD}[31mred\u{FFFD} \u{FFFD}")
        #expect(DisplayText.harmless("abc\u{202E}def\u{2028}\u{E000}") == "abc\u{FFFD}def\u{FFFD}\u{FFFD}")
        #expect(DisplayText.harmless("漢字 👨\u{200D}👩 é") == "漢字 👨\u{200D}👩 é")
    }
}
