// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@testable import CardDecoders

/// The items of identity documents, of which documents, texts and masks are functions.
@Suite("Items of identity documents")
struct IdentityItemTests {
    /// A table of items: its schema, and what a test looks at.
    struct Table: Sendable, CustomTestStringConvertible {
        let schema: String
        let ids: [String]
        /// The titles and the words of what a signature covers.
        let words: [LocalizedText]
        /// Members of the document beside the items.
        let frame: Set<String>

        init<Document: IdentityDocument>(_: Document.Type) {
            schema = Document.kind.rawValue
            frame = IdentityItemTests.frames[Document.kind, default: []].union(["withheld", "faults"])
            ids = Document.items.map(\.id)
            words = Document.items.flatMap { [$0.title, $0.coverage].compactMap(\.self) }
        }

        var testDescription: String { "\(schema): \(ids.count)" }
    }

    private static let frames: [CardKind: Set<String>] = [
        .license: ["kind", "pin1TriesLeft", "pin2TriesLeft", "withheldReason"],
        .myNumber: ["token", "kind", "pins", "certificates", "pictures", "signature", "withheldReason"],
        .residence: ["generation", "kind", "type", "version", "pictures", "signature"],
        .passport: ["chip", "source", "at", "pictures", "signature"],
    ]

    private static let tables = IdentityReport.kinds.map { kind in table(kind) }

    private static func table<Document: IdentityDocument>(_ kind: Document.Type) -> Table { Table(kind) }

    @Test(
        "Each item is a property of the schema, once and in both languages; any other property is of the frame",
        arguments: tables)
    func schema(_ table: Table) throws {
        let document = try JSONValue(parsing: TestFiles.read("Docs/schemas/common.json"))
        guard case .object(let common) = document, case .object(let parts)? = common["$defs"],
            case .object(let members)? = parts["\(table.schema)Members"],
            case .object(let properties)? = members["properties"]
        else {
            Issue.record("\(table.schema) has no members in Docs/schemas/common.json")
            return
        }
        let known = Set(properties.members.map(\.key))
        #expect(Set(table.ids).subtracting(known) == [])
        #expect(known.subtracting(table.ids).subtracting(table.frame) == [])
        #expect(Set(table.ids).count == table.ids.count)
        for words in table.words { #expect(!words.english.isEmpty && !words.japanese.isEmpty) }
    }

    @Test("A document has its items in their order")
    func order() throws {
        func compare<Document: IdentityDocument>(_ report: Document) {
            let ids = Document.items.map(\.id)
            let members = report.json(.english).members.map(\.key)
            #expect(members.filter(ids.contains) == ids.filter(members.contains) && members.contains(ids[0]))
        }
        compare(ResidenceReport(type: .residence2))
        compare(PassportReport())
        compare(try #require(LicenseDecoder.decode(LicenseVectors.wholeCard())))
    }

    private static let items: [IdentityItem<String?>] = [
        .text("number", LocalizedText("Card number", "番号"), \.self),
        .text("version", isPersonal: false, \.self),
        .value("sex", LocalizedText("Sex", "性別"), coverage: "its sex") {
            $0.map { .code($0, LocalizedText("male", "男")) }
        },
    ]

    @Test("A personal value is masked in documents and texts, with the meaning of its code; other values are shown")
    func masking() {
        let (number, version, sex) = (Self.items[0], Self.items[1], Self.items[2])
        let mask: (String) -> String = { _ in "*" }
        #expect(number.words(of: "1", .english, mask) == "*")
        #expect(version.words(of: "1", .english, mask) == "1")
        #expect(sex.words(of: "1", .english, mask) == "*")
        #expect(sex.words(of: "1", .english) { $0 } == "1 (male)")
        #expect(sex.words(of: "1", .japanese) { $0 } == "1（男）")
        #expect(sex.words(of: nil, .english, mask) == nil)
    }

    @Test("A signature's items have their titles in lower case, or words of their own")
    func coverage() {
        #expect(["number", "sex", "other"].coverage(Self.items).map(\.english) == ["card number", "its sex", "other"])
    }
}
