// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Many dumps at once", .waits)
struct ManyDumpsTests {
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for card in ["edy", "suica-p1"] { _ = try folder.write(TestFiles.read(Card.file(card)), as: "\(card).json") }
        return folder
    }

    private func documents(_ text: String) throws -> [JSONCursor] {
        try text.split(separator: "\n").map { JSONCursor(try JSONValue(parsing: Array($0.utf8))) }
    }

    @Test("One bad file is named, the rest is decoded")
    func badFile() throws {
        let folder = try folder()
        let bad = try folder.write(Array("hello\n".utf8), as: "middle.txt")
        let result = try Kazasu.run("decode", "--format", "ndjson", folder.path)
        #expect(result.end == .exited(65))
        #expect(result.messages.count == 3 && result.messages[0].contains(bad), "\(result.errors)")
        #expect(result.errors.contains("1 file could not be read; the others were"))
        let documents = try documents(result.output)
        let files = try documents.map { try $0.required("file").text() }
        #expect(files == ["\(folder.path)/edy.json", "\(folder.path)/suica-p1.json"])
        #expect(try documents.allSatisfy { try $0.required("schema").text() == "kazasu.decode/1" })
        let quiet = try Kazasu.run("decode", "-q", "--format=ndjson", folder.path)
        #expect(quiet.errors == result.errors, "an error is not a note")
        let json = try Kazasu.run("decode", "--json", folder.path)
        #expect(json.output == result.output)
        #expect(try self.documents(json.errors).count == 2)
    }

    @Test("Where every file is bad, nothing is said of others")
    func allBad() throws {
        let folder = try TemporaryFolder()
        for name in ["a.txt", "b.txt"] { _ = try folder.write(Array("hello\n".utf8), as: name) }
        let result = try Kazasu.run("decode", "\(folder.path)/a.txt", "\(folder.path)/b.txt")
        #expect(result.end == .exited(65) && result.output.isEmpty)
        #expect(result.errors.contains("none of the 2 files could be read"), "\(result.errors)")
    }

    @Test("People get a heading for each dump; ndjson always names the file")
    func headings() throws {
        let folder = try folder()
        let files = ["edy", "suica-p1"].map { "\(folder.path)/\($0).json" }
        let result = try Kazasu.run(["decode"] + files)
        #expect(result.hasEnded(0) && result.errors.isEmpty)
        let alone = try files.map { try Kazasu.run("decode", $0).output }
        #expect(result.output == "==> \(files[0]) <==\n\(alone[0])\n==> \(files[1]) <==\n\(alone[1])")
        let line = try Kazasu.run("decode", "--format", "ndjson", files[0]).output
        #expect(try documents(line).map { try $0.required("file").text() } == [files[0]])
    }

    @Test("A missing file among several is 66, as alone; with --json, too")
    func missing() throws {
        let edy = Card.file("edy")
        for options in [[], ["--json"], ["--format", "csv"]] {
            let result = try Kazasu.run(["decode", edy, "/nowhere/card.json"] + options)
            #expect(result.hasEnded(66), "\(result.errors)")
            #expect(result.errors.contains("/nowhere/card.json") && !result.output.isEmpty)
        }
    }

    @Test("CSV has one head and the records of all dumps, each with its card")
    func csv() throws {
        let folder = try folder()
        let result = try Kazasu.run("decode", "--format", "csv", folder.path)
        #expect(result.hasEnded(0), "\(result.errors)")
        let rows = CSVText.rows(result.output)
        #expect(
            rows.map(\.[1]) == ["card"] + .init(repeating: "edy", count: 6) + .init(repeating: "transit", count: 20))
        let alone = try Kazasu.run("history", "\(folder.path)/suica-p1.json", "--format", "csv").output
        #expect(rows.suffix(20) == CSVText.rows(alone).dropFirst())
        #expect(try Kazasu.run("decode", "--format=csv", Card.file("quicpay")).output.hasPrefix("cardId,"))
    }

    @Test("Links that lead back, FIFOs and devices in a folder: each folder once, nothing but files")
    func oddFolder() throws {
        let folder = try folder()
        let inner = "\(folder.path)/inner"
        #expect(mkdir(inner, 0o700) == 0)
        _ = try folder.write(TestFiles.read(Card.file("waon")), as: "inner/waon.json")
        // Back to the folder itself, to the one above, to each other, and to a file.
        for (target, name) in [
            (".", "loop"), ("..", "inner/up"), ("inner", "again"), ("../loop", "inner/round"), ("/dev/zero", "zero"),
            ("edy.json", "linked.json"), ("pipe", "pipe-link"),
        ] {
            #expect(symlink(target, "\(folder.path)/\(name)") == 0)
        }
        #expect(mkfifo("\(folder.path)/pipe", 0o600) == 0)
        let result = try Kazasu.run("decode", "--format", "ndjson", folder.path, "\(folder.path)/loop")
        #expect(result.hasEnded(0), "\(result.errors)")
        let files = try documents(result.output).map { try $0.required("file").text().dropFirst(folder.path.count + 1) }
        #expect(files == ["again/waon.json", "edy.json", "linked.json", "suica-p1.json"], "\(files)")
    }

    @Test("A name that is not UTF-8 is opened as it is")
    func oddName() throws {
        let folder = try folder()
        var name = Array("\(folder.path)/caf".utf8CString.dropLast()) + [CChar(bitPattern: 0xE9), 0]
        #expect(rename("\(folder.path)/edy.json", &name) == 0)
        let result = try Kazasu.run("decode", "--json", folder.path)
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(try documents(result.output).count == 2)
    }

    @Test("Where one card is wanted, several are refused")
    func oneIsWanted() throws {
        let folder = try folder()
        // An export of Metrodroid's, with its card twice.
        let export = String(decoding: try TestFiles.read("Fixtures/formats/metrodroid-xml/card.xml"), as: UTF8.self)
        let card = try #require(export.firstMatch(of: /(?s)<card .*<\/card>/)).output
        let file = try folder.write(Array("<cards>\(card)\(card)</cards>".utf8), as: "both.xml")
        for command in [["convert", "--to", "hex", file], ["diff", file, "\(folder.path)/edy.json"]] {
            try Kazasu.run(command).expectError(65, "contains 2 cards; exactly one is needed")
            try Kazasu.run(command + ["--lang", "ja"]).expectError(65, "には 2 枚分のカードがあります")
        }
        // As the hint says.
        let decoded = try Kazasu.run("decode", "--json", file)
        #expect(decoded.hasEnded(0))
        #expect(try documents(decoded.output).count == 2)
    }

    @Test("A file with one dump a line")
    func lines() throws {
        let folder = try TemporaryFolder()
        var text = ""
        for card in ["edy", "suica-p1", "edy"] {
            text += try JSONValue(parsing: TestFiles.read(Card.file(card))).compactText + "\n"
        }
        let path = try folder.write(Array((text + "{\n").utf8), as: "cards.ndjson")
        let result = try Kazasu.run("decode", "--format", "ndjson", path)
        #expect(result.end == .exited(65))
        #expect(result.errors.contains("\(path):4"))
        let cards = try documents(result.output).map { try $0.required("file").text() }
        #expect(cards == (1...3).map { "\(path):\($0)" })
    }

    @Test("Reports the faulty first line and decodes the others")
    func firstLine() throws {
        let folder = try TemporaryFolder()
        let edy = try JSONValue(parsing: TestFiles.read(Card.file("edy"))).compactText
        for bad in [#"{"schema":"kazasu.dump/1","card":{}}"#, #"{"schema": kazasu}"#] {
            let path = try folder.write(Array("\(bad)\n\(edy)\n\(edy)\n".utf8), as: "cards.ndjson")
            let result = try Kazasu.run("decode", "--format", "ndjson", path)
            #expect(result.hasEnded(65))
            #expect(result.messages.first?.contains("\(path):1: ") == true, "\(result.errors)")
            #expect(try documents(result.output).map { try $0.required("file").text() } == ["\(path):2", "\(path):3"])
        }
    }

    @Test("A kind of card that is not imported is named, without a hint to fix the file")
    func notImported() throws {
        let folder = try TemporaryFolder()
        let text = "Filetype: Flipper NFC device\nVersion: 4\nDevice type: Mifare DESFire\nUID: 01 02 03 04\n"
        let path = try folder.write(Array(text.utf8), as: "classic.nfc")
        let result = try Kazasu.run("decode", path)
        result.expectError(65, "importing this kind of card is not supported (Mifare DESFire)")
        #expect(!result.errors.contains("fix the file"))
        try Kazasu.run("decode", path, "--lang", "ja").expectError(65, "取り込みには対応していません（Mifare DESFire）")
    }

    @Test("Reports records that share a label")
    func sharedLabel() throws {
        let file = "\(TestFiles.root)/Fixtures/formats/metroflip/label-twice.txt"
        let result = try Kazasu.run("decode", file)
        #expect(result.hasEnded(0) && result.errors.contains("the file labels two records alike"), "\(result.errors)")
        #expect(try !Kazasu.run("decode", file.replacing("label-twice", with: "log")).errors.contains("alike"))
    }
}
