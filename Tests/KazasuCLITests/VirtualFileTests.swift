// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Files of virtual cards", .waits)
struct VirtualFileTests {
    private static let fixtures = "\(TestFiles.root)/Fixtures"

    // MARK: Formats

    @Test("A dump of another program is a virtual card, too", arguments: ["flipper", "proxmark", "metrodroid"])
    func otherFormats(format: String) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/card"
        let converted = try Kazasu.run("convert", Card.file("suica-p1"), "--to", format, "-o", path)
        #expect(converted.hasEnded(0), "\(converted.errors)")
        #expect(try Kazasu.run("balance", "-r", "virtual:\(path)").output == "10\n")
        let reader = try SimulatedReader(path, link: "\(folder.path)/pn532")
        #expect(try Kazasu.run("balance", "-r", reader.id).output == "10\n")
        #expect(reader.interrupt().hasEnded(0))
    }

    @Test("An empty name is called so")
    func emptyNames() throws {
        for (line, words) in [
            (["poll", "-r", "virtual:"], "virtual:: the file name is empty"),
            (["poll", "-r", "replay:"], "replay:: the file name is empty"),
            (["decode", ""], "input: the file name is empty"),
            (["convert", Card.file("edy"), "--to", "hex", "-o", ""], "output: the file name is empty"),
            (["dump", "-r", Card.fixture("edy"), "-o", ""], "output: the file name is empty"),
        ] {
            try Kazasu.run(line).expectError(64, words)
            try Kazasu.run(line + ["--lang", "ja"]).expectError(64, "ファイル名が空です")
        }
        try Kazasu.shell("kazasu decode - < /dev/null").expectError(65, "standard input is empty")
        try Kazasu.run("doctor", "--root", "/nonexistent").expectError(66, "/nonexistent cannot be read")
        try Kazasu.run("doctor", "--root", Card.file("edy")).expectError(66, "is not a folder")
    }

    // MARK: Writes

    /// Cards of each kind, and how `tag write` writes to them.
    static let writable = [
        "virtual/ntag213.json", "tags/ntag213.json", "virtual/type4.json", "tags/type4.json", "virtual/type4-b.json",
        "cards/felica-lite-s/card.json",
    ]

    @Test("Keeps writes to a virtual card in the named file", arguments: writable)
    func writes(name: String) throws {
        let folder = try TemporaryFolder()
        let card = "\(Self.fixtures)/\(name)"
        let line = ["tag", "write", "--uri", "https://kazasu.example/w", "--yes", "-r", "virtual:\(card)"]
        let before = try TestFiles.read(card)
        let (first, second) = ("\(folder.path)/first.json", "\(folder.path)/second.json")
        let written = try Kazasu.run(line + ["--virtual-writes", first])
        #expect(written.hasEnded(0), "\(written.errors)")
        #expect(written.messages.count == 1, "\(written.errors)")
        #expect(try TestFiles.read(card) == before)
        // A card that was only read is the same card.
        let read = try Kazasu.run("tag", "read", "-r", "virtual:\(first)", "--virtual-writes", second)
        #expect(read.output.contains("https://kazasu.example/w"), "\(read.errors)")
        #expect(try folder.text("first.json") == folder.text("second.json"))
        // The file may be the card's own.
        let again = try Kazasu.run(
            "tag", "write", "--text", "own", "--yes", "-r", "virtual:\(first)", "--virtual-writes", first)
        #expect(again.hasEnded(0))
        #expect(try Kazasu.run("tag", "read", "-r", "virtual:\(first)").output.contains("own"))
    }

    @Test("Without a file it is said that a write is lost, and only then", arguments: ["en", "ja"])
    func lost(language: String) throws {
        let reader = "virtual:\(Self.fixtures)/virtual/ntag213.json"
        let options = ["-r", reader, "--lang", language]
        let words = language == "en" ? "--virtual-writes FILE keeps them" : "--virtual-writes ファイル で保存できます"
        let written = try Kazasu.run(["tag", "write", "--text", "x", "--yes"] + options)
        #expect(written.hasEnded(0) && written.errors.contains(words), "\(written.errors)")
        #expect(try !Kazasu.run(["tag", "read"] + options).errors.contains("--virtual-writes"))
        let quiet = try Kazasu.run(["tag", "write", "--text", "x", "--yes", "-q"] + options)
        #expect(quiet.hasEnded(0) && quiet.errors.isEmpty)
    }

    @Test("Blocks that a raw command wrote are kept, and a PIN's tries")
    func rawWrites() throws {
        let folder = try TemporaryFolder()
        let card = Card.transit(extra: #""1009":2"#)
        let (reader, path) = (try folder.card(card), "\(folder.path)/after.json")
        let data = "00112233445566778899AABBCCDDEEFF"
        let line = ["felica", "--system", "0003", "08IDM0109100180 01\(data)".replacing(" ", with: ""), "-r", reader]
        let result = try Kazasu.run(line + ["--virtual-writes", path])
        #expect(result.output.hasSuffix("0000\n"), "\(result.output) \(result.errors)")
        let read = try Kazasu.run("read", "1009", "-r", "virtual:\(path)")
        #expect(read.output == "0003 1009 0000 00000000000000000000000000000000\n0003 1009 0001 \(data)\n")
        #expect(try folder.text("after.json").contains(#""900B""#) == false)

        let license = LicenseTests.reader("sample")
        let wrong = try Kazasu.run(
            ["license", "-r", license, "--pin1-from", "env:P1", "--virtual-writes", path], environment: ["P1": "9999"])
        #expect(wrong.hasEnded(77) && !wrong.errors.contains("--virtual-writes"), "\(wrong.errors)")
        let left = try Kazasu.run("license", "--free", "--json", "-r", "virtual:\(path)")
        #expect(left.output.contains(#""pin1TriesLeft": 2"#), "\(left.output) \(left.errors)")
    }

    @Test("Only a virtual card takes the option")
    func realReader() throws {
        let folder = try TemporaryFolder()
        let line = ["poll", "-r", "replay:\(Self.fixtures)/recordings/pn532.jsonl"]
        try Kazasu.run(line + ["--virtual-writes", "\(folder.path)/x"]).expectError(64, "virtual:FILE")
        #expect(folder.names.isEmpty)
    }

    // MARK: Dumps

    @Test("dump -o says what it wrote", arguments: ["en", "ja"])
    func summary(language: String) throws {
        let folder = try TemporaryFolder()
        let out = "\(folder.path)/card.json"
        for (reader, english, japanese) in [
            (
                Card.fixture("suica-p1"), "3 systems, 67 services, 138 blocks, complete",
                "システム 3、サービス 67、ブロック 138、完全"
            ),
            ("virtual:\(Self.fixtures)/virtual/ntag213.json", "45 pages, complete", "ページ 45、完全"),
            ("virtual:\(Self.fixtures)/tags/type4.json", "1 application, 2 files, complete", "アプリケーション 1、ファイル 2、完全"),
        ] {
            let line = ["dump", "-o", out, "-r", reader, "--lang", language]
            let result = try Kazasu.run(line)
            #expect(result.hasEnded(0) && result.output.isEmpty)
            #expect(result.errors == "\(out): \(language == "en" ? english : japanese)\n")
            #expect(try Kazasu.run(line + ["-q"]).errors.isEmpty)
            #expect(try Kazasu.run("dump", "-o", "-", "-r", reader).errors.isEmpty)
        }
    }
}
