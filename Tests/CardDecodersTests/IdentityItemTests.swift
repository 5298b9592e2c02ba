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
        /// The members of a document with nothing in it, in order.
        let members: [String]

        init<Report>(_ schema: String, _ items: [IdentityItem<Report>], frame: Set<String>, _ empty: JSONObject) {
            (self.schema, self.frame) = (schema, frame.union(["pictures", "signature", "withheld", "faults"]))
            ids = items.map(\.id)
            words = items.flatMap { [$0.title, $0.coverage].compactMap(\.self) }
            members = empty.members.map(\.key)
        }

        var testDescription: String { "\(schema): \(ids.count)" }
    }

    private static let tables = [
        Table(
            "residence", ResidenceReport.items, frame: ["generation", "kind", "type", "version"],
            ResidenceReport(type: .residence2).json(.english)),
        Table("passport", PassportReport.items, frame: ["chip", "source", "at"], PassportReport().json(.english)),
        Table(
            "mynumber", MyNumberReport.attributeItems + [MyNumberReport.faceItems[2]],
            frame: ["token", "kind", "pins", "certificates", "withheldReason"], JSONObject()),
    ]

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

    @Test("A document has its items in their order", arguments: tables.prefix(2))
    func order(_ table: Table) {
        #expect(table.members.filter(table.ids.contains) == table.ids)
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
