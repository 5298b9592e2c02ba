// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("Messages of errors")
struct MessageTests {
    private enum Kind: CaseIterable {
        case notJSON, missing, malformed, unknownSchema, unknownFormat, notImported, tooLong, malformedLine
    }

    @Test("Every document error describes itself")
    func documentErrors() {
        let reasons: [DocumentError.Reason] = [
            .syntax, .endsEarly, .notUTF8, .tooDeep, .tooManyValues, .numberTooLarge,
        ]
        let errors: [DocumentError] =
            reasons.map { .notJSON($0, line: 3, byte: 7) } + [
                .missing(key: "card.idm"), .malformed(key: "", expected: .init(.object)),
                .malformed(key: "card", expected: .init(.bytes, "4", "7", "10")),
                .unknownSchema(found: "kazasu.scan/1", supported: "kazasu.dump/1"), .unknownFormat,
                .notImported(kind: "Mifare Classic"), .tooLong(bytes: 9, limit: 8),
                .malformedLine(line: 2, expected: .init(.hex)),
            ]
        checkSentences(errors) { error -> Kind in
            switch error {
            case .notJSON: .notJSON
            case .missing: .missing
            case .malformed: .malformed
            case .unknownSchema: .unknownSchema
            case .unknownFormat: .unknownFormat
            case .notImported: .notImported
            case .tooLong: .tooLong
            case .malformedLine: .malformedLine
            }
        }
        #expect(Set(errors.map(\.description)).count == errors.count)
    }

    @Test("Every code of an expectation has a row")
    func expectations() {
        checkMessages(DocumentError.Expectation.messages)
        for code in DocumentError.Expectation.Code.allCases {
            checkSentence(DocumentError.Expectation(code, values: ["16", "12"], key: "blocks"))
        }
    }

    @Test("An expectation shows its values, and a list as a choice")
    func values() {
        typealias Expectation = DocumentError.Expectation
        let error = DocumentError.malformed(key: "uid", expected: Expectation(.bytes, "4", "7", "10"))
        #expect(error.description == "uid: expected 4, 7 or 10 bytes")
        #expect(error.message.japanese == "uid の値が正しくありません（4、7、10 バイトである必要があります）")
        #expect(Expectation(.bytes, "4").description == "4 bytes")
        #expect(
            Expectation(.areasBefore, values: ["2", "1"], key: "area").description
                == "area: 2 areas before this line, not 1")
    }

    @Test("Values are inserted once, and missing ones are empty")
    func filling() {
        let text = LocalizedText("{1}-{0}-{2}-{x}-{", "{0}。{*}")
        let filled = text.filled(
            [LocalizedText("{1}", "あ"), LocalizedText("b", "い")], all: LocalizedText("all", "全部"))
        #expect(filled == LocalizedText("b-{1}--{x}-{", "あ。全部"))
    }

    @Test("A table without a row for a code shows the code")
    func missingRow() {
        let table = MessageTable<DocumentError.Reason>(Array("code\tenglish\tjapanese\nsyntax\ta\nnone\ta\tb\n".utf8))
        #expect(table.faults.map(\.line) == [2, 3])
        #expect(table.message(.syntax) == LocalizedText("syntax", "syntax"))
    }

    @Test("Messages of the system, in both languages where Kazasu has its own", arguments: [0, 2, 13, 28, 110, 9_999])
    func system(_ number: Int32) {
        let message = SystemMessage.of(number)
        #expect(!message.english.isEmpty && !message.japanese.isEmpty)
    }
}
