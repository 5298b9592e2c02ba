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
        let forms: [IdentityForm?]
        /// The titles and the words of what a signature covers.
        let words: [LocalizedText]

        init<Document: IdentityDocument>(_: Document.Type) {
            schema = Document.kind.rawValue
            ids = Document.items.map(\.id)
            forms = Document.items.map(\.form)
            words = Document.items.flatMap { [$0.title, $0.coverage].compactMap(\.self) }
        }

        var testDescription: String { "\(schema): \(ids.count)" }
    }

    /// Members that no recorded answer has, and why.
    private static let unrecorded: [String: Set<String>] = [
        // The day of saved files that `--at` sets.
        "passport": ["at"]
    ]

    /// The recorded answers of the commands, each with the kind of its document.
    private static let answers: [(kind: String, members: [String])] = TestFiles.names(in: "Fixtures/cli/answers")
        .filter { $0.hasSuffix(".json") }.compactMap { name in
            guard let bytes = try? TestFiles.read("Fixtures/cli/answers/\(name)"),
                case .object(let document)? = try? JSONValue(parsing: bytes),
                case .string(let schema)? = document["schema"]
            else { return nil }
            return (String(schema.dropFirst("kazasu.".count).prefix { $0 != "/" }), document.members.map(\.key))
        }

    private static let tables = IdentityReport.kinds.map { kind in table(kind) }

    private static func table<Document: IdentityDocument>(_ kind: Document.Type) -> Table { Table(kind) }

    @Test(
        "Each item is a property of the schema, once and in both languages; a recorded answer has any other property",
        arguments: tables)
    func schema(_ table: Table) throws {
        let written = IdentitySchema(kind: table.schema, items: Array(zip(table.ids, table.forms)))
        try written.recordIfAsked()
        let document = try JSONValue(parsing: TestFiles.read("Docs/schemas/common.json"))
        guard case .object(let common) = document, case .object(let parts)? = common["$defs"],
            case .object(let members)? = parts["\(table.schema)Members"],
            case .object(let properties)? = members["properties"]
        else {
            Issue.record("\(table.schema) has no members in Docs/schemas/common.json")
            return
        }
        let known = Set(properties.members.map(\.key))
        #expect(Set(table.ids).subtracting(known) == [], "KAZASU_RECORD=1 writes texts and dates")
        for case (let id, .some(let form)) in written.items {
            guard case .object(let property)? = properties[id] else { continue }
            #expect(property["type"] == ["string", "null"], "\(id)")
            guard form == .date else { continue }
            guard case .string(let words)? = property["description"] else {
                Issue.record("\(id) says no form"); continue
            }
            #expect(words.hasPrefix("YYYY-MM-DD"), "\(id)")
        }
        let recorded = Set(Self.answers.filter { $0.kind == table.schema }.flatMap(\.members))
        #expect(known.subtracting(table.ids).subtracting(recorded) == Self.unrecorded[table.schema, default: []])
        #expect(Set(table.ids).count == table.ids.count)
        for words in table.words { #expect(!words.english.isEmpty && !words.japanese.isEmpty) }
    }

    @Test("A document has its items in their order", arguments: tables)
    func order(_ table: Table) throws {
        let answers = Self.answers.filter { $0.kind == table.schema }
        #expect(!answers.isEmpty, "no recorded answer is a document of \(table.schema)")
        for (_, members) in answers {
            #expect(members.filter(table.ids.contains) == table.ids.filter(members.contains))
        }
        // What is free can be without an item.
        #expect(answers.contains { !Set($0.members).isDisjoint(with: table.ids) })
    }

    @Test("A document's schema gets what its items say, and keeps what it has")
    func recording() throws {
        func common(_ properties: String...) -> String {
            ([
                "{", #"  "$defs": {"#, #"    "carMembers": {"#, #"      "type": "object","#, #"      "properties": {"#,
            ] + properties.map { "        " + $0 }
                + ["      },", #"      "required": ["owner"]"#, "    }", "  }", "}"]).joined(separator: "\n")
        }
        let owner = #""owner": {"type": ["string", "null"], "description": "of the car"},"#
        let faults = #""faults": {"type": "array"}"#
        let items: [(String, IdentityForm?)] = [("number", .text), ("owner", .text), ("until", .date), ("photo", nil)]
        let car = IdentitySchema(kind: "car", items: items).adding(to: common(owner, faults))
        #expect(
            car
                == common(
                    #""number": {"type": ["string", "null"]},"#, owner,
                    #""until": {"type": ["string", "null"], "description": "YYYY-MM-DD"},"#, faults))
        #expect(IdentitySchema(kind: "car", items: items).adding(to: car) == car)
        let new = try JSONValue(parsing: Array(IdentitySchema(kind: "bus", items: items).adding(to: car).utf8))
        guard case .object(let top) = new, case .object(let parts)? = top["$defs"],
            case .object(let bus)? = parts["busMembers"], case .object(let properties)? = bus["properties"]
        else {
            Issue.record("\(new.compactText)")
            return
        }
        #expect(parts["carMembers"] != nil)
        #expect(properties.members.map(\.key) == ["number", "owner", "until", "withheld", "faults"])
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
