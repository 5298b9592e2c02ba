// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Glibc
import TestSupport
import Testing

/// Every document that a test of this target prints is checked as well: see `SchemaCheck`.
@Suite("Schemas of the documents", .waits)
struct SchemaTests {
    /// The ids of recordings, cards, journals and the cache, which are not answers; other pages describe them.
    private static let others: Set<Substring> = [
        "trace", "card", "liteJournal", "standardJournal", "tagJournal", "layouts",
    ]

    private static func sources(_ folder: String) -> [String] {
        TestFiles.names(in: folder).flatMap { name in
            name.hasSuffix(".swift") ? ["\(folder)/\(name)"] : name.contains(".") ? [] : sources("\(folder)/\(name)")
        }
    }

    @Test("Each id has a schema, and each schema an id")
    func complete() throws {
        var ids: Set<Substring> = []
        for path in Self.sources("Sources") {
            let text = String(decoding: try TestFiles.read(path), as: UTF8.self)
            for match in text.matches(of: /"kazasu\.([A-Za-z]+)\/[0-9]+"/) { ids.insert(match.output.1) }
        }
        // An identity document's schema has the name of its kind.
        for kind in IdentityReport.kinds { ids.insert(Substring(kind.kind.rawValue)) }
        let files = TestFiles.names(in: "Docs/schemas").filter { $0.hasSuffix(".json") && $0 != "common.json" }
        #expect(Set(files.map { $0.dropLast(5) }) == ids.subtracting(Self.others))
        for file in files {
            let schema = JSONCursor(try JSONValue(parsing: try TestFiles.read("Docs/schemas/\(file)")))
            let id = try schema.required("properties").required("schema").required("const").text()
            #expect(id == "kazasu.\(file.dropLast(5))/1")
            #expect(try schema.required("$schema").text() == "https://json-schema.org/draft/2020-12/schema")
        }
    }

    /// Generators make a class of each title, and resolve references against `$id`.
    @Test("Each file is a schema, with a class name of its own as title")
    func titles() throws {
        var titles: [String: String] = [:]
        for file in TestFiles.names(in: "Docs/schemas") {
            let schema = JSONCursor(try JSONValue(parsing: try TestFiles.read("Docs/schemas/\(file)")))
            let title = try schema.required("title").text()
            #expect(title.wholeMatch(of: /[A-Z][A-Za-z0-9]+/) != nil, "\(file): \(title)")
            #expect(titles[title] == nil, "\(title) is in \(file) and \(titles[title] ?? "")")
            titles[title] = file
            #expect(try schema.required("description").text().hasSuffix("."), "\(file)")
            #expect(try schema.required("$id").text() == file)
        }
        let common = JSONCursor(try JSONValue(parsing: try TestFiles.read("Docs/schemas/common.json")))
        let shared = try common.required("$defs").object().members.map {
            $0.key.prefix(1).uppercased() + $0.key.dropFirst()
        }
        #expect(titles.keys.filter(shared.contains).isEmpty, "a class of common.json has this name")
    }

    // MARK: With jsonschema

    private static let isPython = getenv("KAZASU_PYTHON") != nil

    private func problem(_ document: String) -> String? {
        SchemaCheck.shared?.problem(arguments: ["--json"], output: document, errors: "")
    }

    static let kept =
        TestFiles.names(in: "Fixtures/cli/answers").filter { $0.hasSuffix("json") }.map {
            "Fixtures/cli/answers/\($0)"
        }
        + TestFiles.names(in: "Fixtures/cards").flatMap { card in
            TestFiles.names(in: "Fixtures/cards/\(card)").filter { ["balance.json", "history.json"].contains($0) }.map {
                "Fixtures/cards/\(card)/\($0)"
            }
        }

    /// The names of members anywhere in a schema.
    private static func members(_ schema: JSONCursor) throws -> [String] {
        if let members = try? schema.members() {
            return try members.flatMap { name, value in
                let own = name == "properties" ? (try? value.members())?.map { $0.0 } ?? [] : []
                return try own + Self.members(value)
            }
        }
        return try (try? schema.elements())?.flatMap { try Self.members($0) } ?? []
    }

    /// Classes of every client have a property for each; other names belong under `patternProperties`.
    @Test("Members are named as properties of a class can be")
    func names() throws {
        for file in TestFiles.names(in: "Docs/schemas") {
            let schema = JSONCursor(try JSONValue(parsing: try TestFiles.read("Docs/schemas/\(file)")))
            let names = try Self.members(schema)
            #expect(names.isEmpty == false, "\(file)")
            for name in names { #expect(name.wholeMatch(of: /[A-Za-z][A-Za-z0-9]*/) != nil, "\(file): \(name)") }
        }
    }

    @Test("The answers that are kept", .enabled(if: isPython, "KAZASU_PYTHON names no Python"), arguments: kept)
    func answers(path: String) throws {
        let text = String(decoding: try TestFiles.read(path), as: UTF8.self)
        #expect(problem(text) == nil)
    }

    @Test("The first line of each recording", .enabled(if: isPython, "KAZASU_PYTHON names no Python"))
    func recordings() throws {
        for file in TestFiles.names(in: "Fixtures/recordings") where file.hasSuffix(".jsonl") {
            let text = String(decoding: try TestFiles.read("Fixtures/recordings/\(file)"), as: UTF8.self)
            let line = String(text.prefix { $0 != "\n" })
            if line.contains("kazasu.recording/1") { #expect(problem(line + "\n") == nil, "\(file)") }
        }
    }

    @Test("Files that are written", .enabled(if: isPython, "KAZASU_PYTHON names no Python"))
    func files() throws {
        let folder = try TemporaryFolder()
        for reader in [
            Card.fixture("suica-p1"), LicenseTests.reader("sample"),
            "virtual:\(TestFiles.root)/Fixtures/virtual/ntag213.json",
        ] {
            #expect(try Kazasu.run("dump", "-q", "-o", "\(folder.path)/dump.json", "-r", reader).hasEnded(0))
            #expect(problem(try folder.text("dump.json")) == nil)
        }
        let reader = try SimulatedReader(
            Card.file("edy"), link: "\(folder.path)/pn532", options: ["--stats", "\(folder.path)/stats.json", "--json"])
        #expect(problem(reader.id) == nil, "the line that it printed")
        #expect(reader.interrupt().hasEnded(0))
        #expect(problem(try folder.text("stats.json")) == nil)
    }

    /// Changes that make a good document a bad one, and what is said.
    static let wrong: [(file: String, old: String, new: String, words: String)] = [
        ("Fixtures/cards/edy/balance.json", #""amount": 10814"#, #""amount": "10814""#, "amount"),
        ("Fixtures/cards/edy/balance.json", #""amount""#, #""amuont""#, "'amount' is a required property"),
        ("Fixtures/cards/edy/balance.json", "kazasu.balance/1", "kazasu.balance/2", "no schema for kazasu.balance/2"),
        ("Fixtures/cards/edy/balance.json", #""exponent": 0"#, #""exponent": 0, "exponent": 0"#, "twice"),
        ("Fixtures/cli/answers/suica-scan.json", #""idm": "01"#, #""idm": "0x01"#, "idm"),
        ("Fixtures/cli/answers/suica-poll.json", #""technology": "felica""#, #""technology": "nfc""#, "nfc"),
    ]

    @Test("A wrong document is refused", .enabled(if: isPython, "KAZASU_PYTHON names no Python"), arguments: wrong)
    func refused(_ row: (file: String, old: String, new: String, words: String)) throws {
        let text = String(decoding: try TestFiles.read(row.file), as: UTF8.self)
        #expect(problem(text) == nil)
        let changed = text.replacing(row.old, with: row.new)
        #expect(changed != text)
        #expect(problem(changed)?.contains(row.words) == true, "\(problem(changed) ?? "nothing")")
    }
}
