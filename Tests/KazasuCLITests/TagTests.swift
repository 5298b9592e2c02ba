// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu tag", .waits)
struct TagTests {
    private static func tag(_ name: String) -> String { "virtual:\(TestFiles.root)/Fixtures/tags/\(name).json" }
    private static let type3 = Card.fixture("felica-lite-s")

    /// A tag, a command line, and the name of its answer.
    static let answers: [(tag: String, line: String, name: String)] =
        ["ntag213", "ntag213-locked", "type4"].flatMap { tag in
            [
                (tag, "tag info", "\(tag)-info.txt"), (tag, "tag info --lang ja", "\(tag)-info.ja.txt"),
                (tag, "tag info --json", "\(tag)-info.json"), (tag, "tag read", "\(tag)-read.txt"),
                (tag, "tag read --json", "\(tag)-read.json"), (tag, "dump", "\(tag)-dump.hex"),
                (tag, "dump --json", "\(tag)-dump.json"),
            ]
        } + [
            ("ntag213", "tag pages --pages 0-5,29 --hex-separator space", "ntag213-pages.txt"),
            ("ntag213", "tag pages --pages 3 --json", "ntag213-pages.json"),
            ("ntag213", "tag info --json --redact", "ntag213-info-redacted.json"),
            ("ntag213", "tag read --redact", "ntag213-read-redacted.txt"),
            ("lite-s-no-ndef", "tag info", "lite-s-info.txt"),
            ("lite-s-no-ndef", "tag info --json", "lite-s-info.json"),
            ("lite-s-no-ndef", "tag info --lang ja", "lite-s-info.ja.txt"),
            ("lite-no-ndef", "tag info", "lite-info.txt"), ("lite-no-ndef", "tag info --json", "lite-info.json"),
            ("no-ndef", "tag info", "no-ndef-info.txt"), ("no-ndef", "dump", "no-ndef-dump.hex"),
        ]

    @Test("Answers from the fixtures, through libnfc", arguments: answers)
    func answer(_ row: (tag: String, line: String, name: String)) throws {
        let words = row.line.split(separator: " ").map(String.init)
        let result = try Kazasu.run(words + ["-r", Self.tag(row.tag)])
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.errors.isEmpty)
        try Snapshot.check(result.output, "answers/tag-\(row.name)")
    }

    @Test("A dump says what the tag says", arguments: ["ntag213", "type4"])
    func decode(tag: String) throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/card.json"
        #expect(try Kazasu.run("dump", "-r", Self.tag(tag), "-o", file).end == .exited(0))
        for (option, name) in [("--lang=en", "txt"), ("--lang=ja", "ja.txt"), ("--json", "json")] {
            let result = try Kazasu.run("decode", file, option)
            #expect(result.end == .exited(0))
            try Snapshot.check(result.output, "answers/tag-\(tag)-decode.\(name)")
        }
        let again = try Kazasu.run("dump", "-r", "virtual:\(file)")
        #expect(again.output == (try Kazasu.run("dump", "-r", Self.tag(tag))).output, "a dump is a card")
    }

    /// Command lines that write, and what 'tag read' would show; each on every type of tag.
    static let writes: [(line: String, records: [String])] = [
        ("--uri https://kazasu.example/x", ["uri https://kazasu.example/x"]),
        ("--text hello --language en", ["text hello"]),
        ("--uri tel:110 --title Police --language en", ["smartPoster tel:110"]),
        (
            "--uri http://a.example --text b --external android.com:pkg=c",
            ["uri http://a.example", "text b", "external"]
        ),
        ("--mime text/plain=hi", ["mime hi"]), ("--empty", []),
    ]

    @Test("Written, read back and compared", arguments: writes, [tag("ntag213"), tag("type4"), type3])
    func write(_ row: (line: String, records: [String]), reader: String) throws {
        let words = row.line.split(separator: " ").map(String.init)
        let result = try Kazasu.run(["tag", "write", "-r", reader, "--yes", "--json"] + words)
        #expect(result.end == .exited(0), "\(result.errors)")
        let document = JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
        #expect(try document.required("verified").bool())
        #expect(try document.required("overwritten").integer() > 0)
        #expect(try (document.required("written").integer() == 0) == row.records.isEmpty)
    }

    @Test("A URI without a scheme is written, with a warning")
    func noScheme() throws {
        for (uri, warns) in [
            ("example.com", true), ("//example.com", true), ("http://example.com", false), ("tel:110", false),
            ("urn:nfc:x", false), ("", true),
        ] {
            let result = try Kazasu.run(
                "tag", "write", "-r", Self.tag("ntag213"), "--yes", "--uri", uri, "--uri", "https://kazasu.example")
            #expect(result.hasEnded(0), "\(result.errors)")
            #expect(result.errors.contains("'\(uri)' has no scheme") == warns, "\(result.errors)")
            #expect(!result.errors.contains("'https://kazasu.example'"))
        }
        let japanese = try Kazasu.run(
            "tag", "write", "-r", Self.tag("ntag213"), "--yes", "--uri", "example.com", "--lang", "ja")
        #expect(japanese.errors.contains("https://example.com のことですか？"), "\(japanese.errors)")
    }

    @Test("The bytes of a message go out and in as they are")
    func raw() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/message"
        #expect(try Kazasu.run("tag", "read", "-r", Self.tag("type4"), "--raw", file).end == .exited(0))
        let bytes = try TestFiles.read(file)
        #expect(bytes.count == 14 && bytes.starts(with: [0xD1, 0x01, 0x0A, 0x55]))
        let document = try Kazasu.run("tag", "read", "-r", Self.tag("type4"), "--raw", file, "--json")
        #expect(document.hasEnded(0) && document.output.contains("\"schema\": \"kazasu.tagMessage/1\""))
        let written = try Kazasu.run("tag", "write", "-r", Self.tag("ntag213"), "--yes", "--raw", file)
        #expect(written.end == .exited(0))
        #expect(written.messages.last == "kazasu: 14 bytes written and read back")
        let broken = try folder.write([0x91, 0, 0], as: "broken")
        try Kazasu.run("tag", "write", "-r", Self.tag("ntag213"), "--yes", "--raw", broken)
            .expectError(65, "no NDEF message: ")
    }

    @Test("Raw pages: user pages at once, others only with --permanent")
    func rawPages() throws {
        let reader = Self.tag("ntag213")
        #expect(try Kazasu.run("tag", "write", "-r", reader, "--yes", "--page", "8", "DE AD BE EF").end == .exited(0))
        for page in ["0", "2", "3", "28", "2A", "FFFF"] {
            let result = try Kazasu.run("tag", "write", "-r", reader, "--yes", "--page", page, "00000000")
            result.expectError(77, "nothing was written")
            #expect(
                try Kazasu.run("tag", "write", "-r", reader, "--page", page, "00000000", "--yes", "--lang=ja").errors
                    .contains("--permanent"))
        }
        #expect(
            try Kazasu.run("tag", "write", "-r", reader, "--yes", "--permanent", "--page", "3", "E1101200").end
                == .exited(0))
        try Kazasu.run("tag", "pages", "-r", reader, "--pages", "40").expectError(77, "the tag refused page 40")
    }

    @Test("Nobody is overwritten without a yes")
    func confirmation() throws {
        let asked = try Kazasu.shell("setsid \"$KAZASU\" tag write --text x -r '\(Self.tag("ntag213"))'")
        asked.expectError(64, "cannot ask for confirmation without a terminal: the tag contains a message of 37 bytes")
        let json = try Kazasu.shell("setsid \"$KAZASU\" tag write --json --text x -r '\(Self.tag("type4"))'")
        #expect(try json.errorDocument().required("reason").text() == "confirmationNeeded")
    }

    @Test("The question on a terminal: only yes is yes", arguments: ["yes", "はい", "n", ""])
    func typed(answer: String) throws {
        let isYes = answer == "yes" || answer == "はい"
        for (what, question, done) in [
            (["--text", "hi"], "The tag contains a message of 37 bytes.", "9 bytes written and read back"),
            (["--page", "8", "00112233"], "1 page will be overwritten.", "1 page written"),
        ] {
            let result = try Typist.run(
                ["tag", "write", "-r", Self.tag("ntag213")] + what, typing: ["continue: =\(answer)"])
            #expect(result.hasEnded(isYes ? 0 : 77), "\(result.output)")
            #expect(result.output.contains(question) && result.output.contains(isYes ? done : "nothing was written"))
        }
    }

    @Test("Reports obstacles before it asks for confirmation, and writes nothing")
    func checkedBeforeAsking() throws {
        let folder = try TemporaryFolder()
        // The first dynamic lock bit locks pages 10 and 11.
        let tag = try folder.card(
            #"{"schema":"kazasu.card/1","type2":{"model":"ntag213","uid":"04a8d862bc2b80","#
                + #""data":"0103a00c340303d00000fe","pages":{"28":"010000bd"}}}"#)
        let long = String(repeating: "x", count: 80)
        let command = "setsid -w \"$KAZASU\" tag write -r '\(tag)' --trace '\(folder.path)/trace'"
        for line in ["--text \(long)", "--page F 0011223344556677", "--page 11 00000000 --permanent"] {
            let page = line.contains("11 ") ? "11" : "10"
            try Kazasu.shell("\(command) \(line)").expectError(77, "page \(page) is locked")
            #expect(try !folder.text("trace").contains(#""tx":"a2"#))
        }
        try Kazasu.shell("\(command) --text x").expectError(64, "the tag contains a message of 3 bytes")
        #expect(try Kazasu.run("tag", "write", "-r", tag, "--page", "F", "00112233", "--yes").hasEnded(0))
    }

    /// What tags refuse, with status and words.
    static let refusals: [(reader: String, line: String, status: Int32, words: String)] = [
        (tag("ntag213-locked"), "tag write --text x --yes", 77, "the tag is read-only"),
        (tag("type4"), "tag write --yes --mime a/b=\(String(repeating: "x", count: 60))", 77, "room for 62"),
        (tag("no-ndef"), "tag read", 76, "not formatted for NDEF"),
        (tag("lite-s-no-ndef"), "tag read", 76, "not formatted for NDEF"),
        (tag("lite-no-ndef"), "tag write --text x --yes", 76, "not formatted for NDEF"),
        (tag("no-ndef"), "tag write --text x --yes", 76, "not formatted for NDEF"),
        (Card.fixture("suica-p1"), "tag info", 76, "expected an NFC Forum tag"),
        (tag("type4"), "tag pages", 76, "not a Type 2 Tag"), (type3, "tag pages", 76, "not a Type 2 Tag"),
    ]

    @Test("Commands that tags refuse", arguments: refusals)
    func refused(_ row: (reader: String, line: String, status: Int32, words: String)) throws {
        let words = row.line.split(separator: " ").map(String.init)
        try Kazasu.run(words + ["-r", row.reader]).expectError(row.status, row.words)
        let json = try Kazasu.run(words + ["-r", row.reader, "--json"])
        #expect(try json.errorDocument().required("status").integer() == Int(row.status))
    }

    /// Wrong command lines.
    static let wrongLines = [
        "tag write", "tag write --text a --empty", "tag write --raw x --uri y", "tag write --title x",
        "tag write --uri a --uri b --title x", "tag write 00", "tag write --page 4", "tag write --page 4 000000",
        "tag write --page 4 00000000 --text x", "tag write --page 4G 00000000", "tag write --mime text/plain",
        "tag write --external =x", "tag pages --pages 5-2", "tag pages --pages x",
    ]

    @Test("A wrong command line", arguments: wrongLines)
    func usage(line: String) throws {
        let result = try Kazasu.run(line.split(separator: " ").map(String.init))
        #expect(result.end == .exited(64), "\(result.errors)")
        #expect(result.output.isEmpty)
    }

    @Test("A tag that leaves: what was read is kept, and the dump is gone on with")
    func resume() throws {
        let folder = try TemporaryFolder()
        let text = String(decoding: try TestFiles.read("Fixtures/tags/ntag213.json"), as: UTF8.self)
        // From the third READ on; the first REQA found it.
        let rules = [("30", 3), ("26", 2)].map { #"{ "fault": "absent", "command": "\#($0)", "from": \#($1) }"# }
            .joined(separator: ", ")
        let faults = #", "virtual": { "faults": [ \#(rules) ] } }"#
        let leaving = try folder.card(String(text.trimmingSuffix { $0 != "}" }.dropLast()) + faults)
        let file = "\(folder.path)/part.json"
        let part = try Kazasu.run("dump", "-r", leaving, "-o", file)
        part.expectError(74, "the card left")
        let dump = try CardDump(parsing: TestFiles.read(file))
        #expect(!dump.isComplete && dump.missing.first?.fromPage != nil)
        let whole = try Kazasu.run("dump", "-r", Self.tag("ntag213"), "--resume", file)
        #expect(whole.output == (try Kazasu.run("dump", "-r", Self.tag("ntag213"))).output)
        try Kazasu.run("dump", "-r", Self.tag("ntag213-locked"), "--resume", file).expectError(
            76, "this is not the card")
    }
}

extension String {
    /// The text without the end for which a condition holds.
    fileprivate func trimmingSuffix(_ isUnwanted: (Character) -> Bool) -> Substring {
        var rest = self[...]
        while let last = rest.last, isUnwanted(last) { rest.removeLast() }
        return rest
    }
}
