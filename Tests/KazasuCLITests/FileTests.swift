// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Files that cannot be used", .waits)
struct FileTests {
    /// A dump that is broken, and what the message says of the place.
    struct Broken: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let words: String
        let text: @Sendable (String) -> String

        init(_ name: String, _ words: String, _ text: @escaping @Sendable (String) -> String) {
            (testDescription, self.words, self.text) = (name, words, text)
        }
    }

    static let broken = [
        Broken("truncated", "the text ends too early") { _ in String(sample.utf8.prefix(900)) ?? "" },
        Broken("empty", "bad.json is empty") { _ in "" },
        Broken("not JSON", "bad.json") { _ in "hello\n" },
        Broken("a colon too few", "line 2, byte 11") { _ in "{\n\"schema\"  \"kazasu.dump/1\"}" },
        Broken("a list", "the document: expected an object") { _ in "[1]" },
        Broken("other schema", "unsupported schema kazasu.dump/2") {
            $0.replacing("kazasu.dump/1", with: "kazasu.dump/2")
        },
        Broken("no schema", "schema is missing") { $0.replacing("schema", with: "scheme") },
        Broken("odd hex", "felica.systems[0].services[3].blocks.0000: expected 32 hexadecimal digits") {
            $0.replacing("00001234567890123456178a00000000", with: "00001234567890123456178a0000000")
        },
        Broken("no hex", "felica.systems[0].services[3].blocks.0000") {
            $0.replacing("00001234567890123456178a00000000", with: "00001234567890123456178a000000zz")
        },
        Broken("a wrong code", "felica.systems[0].systemCode: expected 4 hexadecimal digits") {
            $0.replacing("\"systemCode\": \"FE00\"", with: "\"systemCode\": \"FE0G\"")
        },
        Broken("deep", "not JSON") { _ in String(repeating: "[", count: 100_000) },
    ]

    static let sample = String(
        decoding: (try? TestFiles.read("Fixtures/cards/edy/card.json")) ?? [], as: UTF8.self)

    @Test("A virtual card given as a dump is called what it is", arguments: ["decode", "balance", "history", "diff"])
    func cardFile(_ command: String) throws {
        let card = "\(TestFiles.root)/Fixtures/felica/two-purses.json"
        let words = [command, card] + (command == "diff" ? [card] : [])
        let result = try Kazasu.run(words)
        result.expectError(65, "two-purses.json is a virtual card, not a dump")
        #expect(result.errors.contains("--reader virtual:FILE"))
        try Kazasu.run(words + ["--lang", "ja"]).expectError(65, "仮想カードのファイルで、ダンプではありません")
    }

    @Test("The name of a dump that says no format is told one", arguments: ["x.bin", "x.txt", "x"])
    func unknownEnding(_ name: String) throws {
        let folder = try TemporaryFolder()
        for (option, words) in [([], "Kazasu JSON document, "), (["--lang", "ja"], "Kazasu の JSON 文書、")] {
            let result = try Kazasu.run(["dump", "-o", "\(folder.path)/\(name)", "-r", Card.fixture("edy")] + option)
            #expect(result.hasEnded(0) && result.errors.contains(words), "\(result.errors)")
        }
        let known = try Kazasu.run("dump", "-o", "\(folder.path)/x.json", "-r", Card.fixture("edy"))
        #expect(known.hasEnded(0) && !known.errors.contains("JSON document"), "\(known.errors)")
    }

    @Test("A dump that is not what it should be", arguments: broken)
    func badDump(_ broken: Broken) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(broken.text(Self.sample).utf8), as: "bad.json")
        for command in [
            ["decode", path], ["dump", "--resume", path, "-r", Card.fixture("edy")], ["poll", "-r", "virtual:\(path)"],
            ["simulate", path],
        ] {
            let result = try Kazasu.run(command)
            result.expectError(65, broken.words)
            #expect(result.errors.contains(path), "names the file")
            #expect(result.output.isEmpty)
            let japanese = try Kazasu.run(command + ["--lang", "ja"])
            japanese.expectError(65, "  ヒント: ")
            for english in [" the ", " is ", " than ", " not ", "hexadecimal", "object", "line "] {
                #expect(japanese.messages.first?.contains(english) == false, "\(japanese.errors)")
            }
        }
        let json = try Kazasu.run("decode", path, "--json")
        #expect(try json.errorDocument().required("reason").text() == "badFile")
    }

    @Test("A dump of 100 MB")
    func long() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([], as: "long.json")
        #expect(truncate(path, 100 << 20) == 0)
        for command in [["decode", path], ["poll", "-r", "virtual:\(path)"], ["poll", "-r", "replay:\(path)"]] {
            try Kazasu.run(command).expectError(65, "is longer than")
        }
        try Kazasu.shell("cat '\(path)' 2>/dev/null | kazasu decode -").expectError(65, "standard input is longer")
        let json = try Kazasu.run("decode", path, "--json", "--lang=ja")
        #expect(try json.errorDocument().required("message").text().contains("MiB を超え"))
    }

    @Test("A transcript that is none", arguments: ["", "{}\n", "hello\n"])
    func badTranscript(text: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(text.utf8), as: "trace")
        try Kazasu.run("poll", "-r", "replay:\(path)").expectError(65, path)
    }

    @Test("A file that is missing, and a folder in its place")
    func missing() throws {
        for (path, words) in [("/nowhere/card.json", "no such file"), ("/tmp", "it is a folder")] {
            for command in [
                ["simulate", path], ["poll", "-r", "virtual:\(path)"], ["poll", "-r", "replay:\(path)"],
                ["dump", "--resume", path], ["convert", path, "--to", "hex"], ["diff", path, path],
            ] {
                try Kazasu.run(command).expectError(66, words)
            }
        }
        try Kazasu.run("decode", "/nowhere/card.json", "--lang", "ja").expectError(66, "ありません")
        let json = try Kazasu.run("decode", "/nowhere", "--json")
        #expect(try json.errorDocument().required("status").integer() == 66)
    }

    @Test("Reports an unwritable output file before a card is needed")
    func unwritable() throws {
        let folder = try TemporaryFolder()
        let absent = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#))
        for path in ["/nowhere/card.json", folder.path] {
            try Kazasu.run("dump", "-o", path, "-r", absent, "-t", "forever").expectError(73, path)
            try Kazasu.run("poll", "--trace", path, "-r", absent, "-t", "forever").expectError(73, path)
            try Kazasu.run("simulate", Card.file("edy"), "--stats", path).expectError(73, path)
        }
        try Kazasu.run("simulate", Card.file("edy"), "--link", folder.path, "--lang=ja").expectError(73, folder.path)
    }

    @Test("A full disk")
    func full() throws {
        let dump = try Kazasu.run("dump", "-o", "/dev/full", "-r", Card.fixture("edy"))
        dump.expectError(73, "the disk is full")
        // The card may be gone by now.
        #expect(dump.errors.contains("the data read so far was written to standard output"))
        #expect(try CardDump(parsing: Array(dump.output.utf8)).system(.commonArea)?.services.isEmpty == false)
        try Kazasu.shell("kazasu decode '\(Card.file("edy"))' > /dev/full").expectError(73, "standard output")
        let json = try Kazasu.shell("kazasu decode --json '\(Card.file("edy"))' --lang ja > /dev/full")
        #expect(try json.errorDocument().required("reason").text() == "cannotWrite")
    }

    @Test("Devices and links are written to, not replaced; root follows no link")
    func specialOutput() throws {
        let folder = try TemporaryFolder()
        let target = try folder.write(Array("old".utf8), as: "target")
        #expect(symlink("target", "\(folder.path)/link") == 0)
        let linked = try Kazasu.run("dump", "-o", "\(folder.path)/link", "-r", Card.fixture("edy"))
        #expect(linked.hasEnded(geteuid() == 0 ? 73 : 0))
        #expect(try folder.text("target").hasPrefix(geteuid() == 0 ? "old" : "{\n  \"schema\": \"kazasu.dump/1\""))
        #expect(folder.names == ["link", "target"])
        var status = stat()
        #expect(stat(target, &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
        #expect(try Kazasu.run("dump", "-o", "/dev/null", "-r", Card.fixture("edy")).hasEnded(0))
        #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
        let output = try Kazasu.run("dump", "-o", "-", "-r", Card.fixture("edy"))
        #expect(output.output.hasPrefix("{\n  \"schema\": \"kazasu.dump/1\""))
    }

    @Test("A dump of a stranger stays as it was when writing fails")
    func privacy() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/card.json"
        #expect(try Kazasu.run("dump", "-o", path, "-r", Card.fixture("edy")).hasEnded(0))
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600, "numbers and names are nobody else's")
    }

    @Test("Nobody complains when the reader of a pipe has enough", arguments: [["dump"], ["dump", "--json"]])
    func closedPipe(command: [String]) throws {
        let folder = try TemporaryFolder()
        let card = try folder.card(Card.long())
        let child = try RunningChild(
            Kazasu.path, command + ["-r", card], environment: Kazasu.environment, pipeSize: 4096)
        #expect(try child.line(of: .output) != nil)
        child.closeOutput()
        let result = child.finish()
        #expect(result.end == .exited(141))
        #expect(result.errors.isEmpty)
    }
}
