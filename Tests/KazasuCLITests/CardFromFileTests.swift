// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("Balance and history of a dump, and the card in every answer", .waits)
struct CardFromFileTests {
    private func document(_ arguments: String...) throws -> JSONCursor {
        let result = try Kazasu.run(arguments)
        #expect(result.hasEnded(0), "\(result.errors)")
        return JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
    }

    static let cards = ["suica-p1", "edy", "dhaka", "waon", "nicepass"]

    @Test("A dump gives what its card gives", arguments: cards, ["balance --json", "history --json", "history"])
    func sameAsCard(card: String, command: String) throws {
        let words = command.split(separator: " ").map(String.init) + ["-q"]
        let file = try Kazasu.run(words + [Card.file(card)])
        #expect(file.hasEnded(0) && file.errors.isEmpty, "\(file.errors)")
        #expect(try file.output == Kazasu.run(words + ["-r", Card.fixture(card)]).output)
    }

    @Test("Dumps of other programs, and standard input")
    func otherFormats() throws {
        let folder = try TemporaryFolder()
        let suica = Card.file("suica-p1")
        for format in ["flipper", "proxmark"] {
            let path = "\(folder.path)/card.\(format)"
            #expect(try Kazasu.run("convert", suica, "--to", format, "-o", path).hasEnded(0))
            #expect(try Kazasu.run("balance", path).output == "10\n")
        }
        #expect(try Kazasu.shell("kazasu balance - < '\(suica)'").output == "10\n")
        let piped = try Kazasu.shell("kazasu history - --format ndjson < '\(suica)'").output
        #expect(try piped == Kazasu.run("history", "--format", "ndjson", suica).output)
    }

    @Test("A dump and a reader exclude each other", arguments: ["-r", "--trace"])
    func exclusive(option: String) throws {
        for command in ["balance", "history"] {
            let result = try Kazasu.run(command, Card.file("edy"), option, Card.fixture("edy"), "--json")
            #expect(result.hasEnded(64) && result.output.isEmpty)
            #expect(try result.errorDocument().required("reason").text() == "usage")
        }
        let fromEnvironment = try Kazasu.run(
            ["balance", Card.file("edy")], environment: ["KAZASU_READER": "virtual:/nowhere"])
        #expect(fromEnvironment.output == "10814\n", "a setting of the environment does not count")
    }

    @Test("A dump without money, of another kind of card, or that is none")
    func others() throws {
        for command in ["balance", "history"] {
            try Kazasu.run(command, Card.file("felica-lite-s")).expectError(76, "no card with a supported balance")
            try Kazasu.run(command, Card.file("edy"), "--card", "transit").expectError(76, "contains no Transit IC")
            try Kazasu.run(command, "--lang=ja", Card.file("edy"), "--card", "waon").expectError(76, "のダンプではありません")
            try Kazasu.run(command, "/nowhere/card.json").expectError(66, "/nowhere/card.json")
            try Kazasu.run(command, "\(TestFiles.root)/Package.swift").expectError(65)
        }
    }

    @Test(
        "Options that exclude each other, with the error as JSON",
        arguments: [
            "history FILE --json --format csv", "history FILE --json --format table",
            "convert FILE --to flipper --json",
            "decode FILE --json --format text", "decode FILE --json --format csv",
            "dump -r virtual:FILE --json --format hex",
        ])
    func formats(line: String) throws {
        let words = line.replacing("FILE", with: Card.file("edy")).split(separator: " ").map(String.init)
        let result = try Kazasu.run(words)
        #expect(result.hasEnded(64) && result.output.isEmpty, "\(result.errors)")
        #expect(try result.errorDocument().required("message").text().contains("--json"))
    }

    @Test("JSON may be asked for twice", arguments: ["history FILE", "decode FILE"], ["json", "ndjson"])
    func twice(line: String, format: String) throws {
        let words = line.replacing("FILE", with: Card.file("edy")).split(separator: " ").map(String.init)
        let result = try Kazasu.run(words + ["--json", "--format", format])
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(try result.output == Kazasu.run(words + ["--format", format]).output)
    }

    /// A command line with an output file, and the beginning of that file.
    static let endings: [(line: String, start: String)] = [
        ("history FILE -o out.csv", "\u{FEFF}cardId,"), ("history FILE -o out.NDJSON", #"{"schema":"kazasu.record/1""#),
        ("history FILE -o out.json", "{\n  \"schema\": \"kazasu.history/1\""), ("history FILE -o out.txt", "DATE  "),
        ("history FILE -o out.log", "DATE  "), ("history FILE -o out.d/plain", "DATE  "),
        ("convert FILE -o out.nfc", "Filetype: Flipper"), ("convert FILE -o out.hex", "#"),
        ("convert FILE -o out.json", "{\n  \"schema\": \"kazasu.dump/1\""),
        ("convert FILE --format proxmark -o out.json", "{"),
        ("dump -r virtual:FILE -o out.nfc", "Filetype: Flipper"), ("dump -r virtual:FILE -o out.hex", "#"),
        ("dump -r virtual:FILE -o out.bin", "{"),
    ]

    @Test("The ending of an output file decides its format", arguments: endings)
    func ending(_ row: (line: String, start: String)) throws {
        let folder = try TemporaryFolder()
        let line = row.line.replacing("FILE", with: "'\(Card.file("edy"))'")
        let result = try Kazasu.shell("cd '\(folder.path)' && mkdir out.d && kazasu \(line)")
        #expect(result.hasEnded(0), "\(result.errors)")
        let output = String(row.line.split(separator: " ").last ?? "")
        let text = String(decoding: try TestFiles.read("\(folder.path)/\(output)"), as: UTF8.self)
        #expect(text.hasPrefix(row.start), "\(text.prefix(80))")
    }

    @Test(
        "An ending that says another format than an option is a mistake",
        arguments: [
            "history FILE --format table -o out.csv", "history FILE --json -o out.csv",
            "convert FILE --to hex -o out.nfc",
            "dump -r virtual:FILE --format hex -o out.json", "dump -r virtual:FILE --json -o out.nfc", "convert FILE",
            "convert FILE -o out.bin", "history FILE -o out.xlsx", "history FILE -o out.nfc",
            "dump -r virtual:FILE -o out.csv", "license -r virtual:FILE --free -o out.csv",
            "mynumber -r virtual:FILE --free -o out.hex",
        ])
    func contradiction(line: String) throws {
        let folder = try TemporaryFolder()
        let line = line.replacing("FILE", with: "'\(Card.file("edy"))'")
        for language in ["en", "ja"] {
            let result = try Kazasu.shell("cd '\(folder.path)' && kazasu \(line) --lang \(language)")
            #expect(result.end == .exited(64), "\(result.errors)")
        }
        #expect(folder.names.isEmpty)
    }

    @Test("history -o writes every format")
    func output() throws {
        let folder = try TemporaryFolder()
        for format in ["table", "json", "ndjson"] {
            let path = "\(folder.path)/history.\(format)"
            let result = try Kazasu.run("history", Card.file("edy"), "--format", format, "-o", path)
            #expect(result.hasEnded(0) && result.output.isEmpty && result.errors.hasSuffix(": 6 records\n"))
            #expect(
                try folder.text("history.\(format)")
                    == Kazasu.run("history", Card.file("edy"), "--format", format).output)
        }
        try Kazasu.run("history", Card.file("edy"), "-o", "/nowhere/x").expectError(73, "/nowhere/x")
    }

    // MARK: The card

    /// What makes an answer with a card, `FILE` for the dump.
    static let documents = [
        "balance FILE --json", "history FILE --json", "history FILE --format ndjson --since 2011-03-12",
        "decode FILE --json", "decode FILE --format ndjson", "balance -r virtual:FILE --json",
        "history -r virtual:FILE --json", "history -r virtual:FILE --format ndjson --since 2011-03-12",
    ]

    @Test("Identity, kind and brand are in every answer, masked on demand", arguments: documents)
    func card(line: String) throws {
        let words = line.replacing("FILE", with: Card.file("suica-p1")).split(separator: " ").map(String.init)
        for (options, idm) in [([], "0101031234567890"), (["--redact"], "0101000000000000")] {
            let result = try Kazasu.run(words + options)
            #expect(result.hasEnded(0), "\(result.errors)")
            let card = try JSONCursor(JSONValue(parsing: Array(result.output.utf8))).required("card")
            #expect(try card.required("technology").text() == "felica" && card.required("idm").text() == idm)
            #expect(try card.required("kind").text() == "transit" && card.required("brand").text() == "suica")
        }
    }

    /// A dump, its kind, and its brand.
    static let brands: [(file: String, kind: String, brand: String?)] = [
        ("cards/ecomyca", "toyama", "ecomyca"), ("cards/rapica", "rapica", "rapica"), ("cards/edy", "edy", "edy"),
        ("cards/felica-lite-s", "felica-lite", nil), ("cards/quicpay", "quicpay", nil),
    ]

    @Test("The brand of other cards; null when it is unknown", arguments: brands)
    func brand(row: (file: String, kind: String, brand: String?)) throws {
        let file = "\(TestFiles.root)/Fixtures/\(row.file)/card.json"
        let card = try document("decode", "--json", file).required("card").object()
        #expect(card["kind"] == .string(row.kind), "\(card)")
        #expect(card["brand"] == row.brand.map { .string($0) } ?? .null)
    }

    @Test("A card on a reader whose services tell no brand")
    func noBrand() throws {
        let folder = try TemporaryFolder()
        let plain = try folder.card(Card.transit())
        let card = try document("balance", "--json", "-r", plain).required("card").object()
        #expect(card["kind"] == "transit" && card["brand"] == .null)
    }

    @Test("A card of another brand than was named is refused, with its own", arguments: ["balance", "history"])
    func otherBrand(command: String) throws {
        for source in [[Card.file("suica-p1")], ["-r", Card.fixture("suica-p1")]] {
            let words = [command] + source + ["--card", "PASMO"]
            try Kazasu.run(words).expectError(76, "wrong kind of card (Suica): it is not PASMO")
            try Kazasu.run(words + ["--lang=ja"]).expectError(76, "このカード（Suica）は PASMO ではありません")
            #expect(try Kazasu.run([command] + source + ["--card", "transit"]).hasEnded(0))
        }
    }

    @Test("A card of unknown brand is taken with a note")
    func unknownBrand() throws {
        let folder = try TemporaryFolder()
        let plain = try folder.card(Card.transit())
        let result = try Kazasu.run("balance", "--card", "icoca", "-r", plain)
        #expect(result.hasEnded(0) && result.errors.contains("treated as ICOCA"), "\(result.errors)")
    }

    @Test("A card has the name that people use, in any case", arguments: ["suica", "Suica", "SUICA", "transit"])
    func names(_ name: String) throws {
        #expect(try Kazasu.run("balance", Card.file("suica-p1"), "--card", name).output == "10\n")
        try Kazasu.run("balance", Card.file("edy"), "--card", name).expectError(76, "contains no Transit IC")
    }
}
