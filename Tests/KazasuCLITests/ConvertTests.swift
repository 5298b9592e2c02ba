// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("Formats of other tools", .waits)
struct ConvertTests {
    static let writable = ["json", "hex", "proxmark", "flipper", "metrodroid", "libpafe"]

    /// The blocks of a dump in any format, in order of their codes.
    private func blocks(_ path: String) throws -> [Substring] {
        let listing = try Kazasu.run("convert", path, "--to", "hex")
        #expect(listing.end == .exited(0), "\(listing.errors)")
        return listing.output.split(separator: "\n").filter { $0.first != "#" }.sorted()
    }

    @Test("There and back no block is lost", arguments: writable)
    func thereAndBack(format: String) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/card"
        let result = try Kazasu.run("convert", Card.file("suica-p1"), "--to", format, "-o", path)
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.errors == "kazasu: wrote \(path) (\(format))\n")
        #expect(try blocks(path) == blocks(Card.file("suica-p1")))
        #expect(try Kazasu.run("decode", path).output.contains("¥10"))
    }

    @Test("A card is read into any format", arguments: writable)
    func dump(format: String) throws {
        let folder = try TemporaryFolder()
        let result = try Kazasu.run("dump", "--format", format, "-r", Card.fixture("edy"))
        #expect(result.end == .exited(0) && result.errors.isEmpty, "\(result.errors)")
        let path = try folder.write(Array(result.output.utf8), as: "card")
        #expect(try Kazasu.run("decode", path).output.contains("¥10,814"))
    }

    @Test("Writes no file when the dump cannot be converted", arguments: ["en", "ja"])
    func notWritable(language: String) throws {
        let folder = try TemporaryFolder()
        let kept = try folder.write(Array("kept\n".utf8), as: "kept")
        let bad = try folder.write(Array("hello\n".utf8), as: "bad")
        let page = "\(TestFiles.root)/Fixtures/formats/proxmark-memory/mfu.json"
        for (source, words) in [
            (page, language == "en" ? "cannot store this kind of card" : "この種類のカードは保存できない"),
            (bad, language == "en" ? "not a dump in any known format" : "対応している形式"),
        ] {
            let result = try Kazasu.run("convert", source, "--to", "flipper", "-o", kept, "--lang", language)
            result.expectError(65, words)
            #expect(try folder.text("kept") == "kept\n")
            #expect(folder.names == ["bad", "kept"])
        }
    }

    @Test("--redact masks what is converted", arguments: ["json", "hex", "flipper"])
    func redacted(format: String) throws {
        let result = try Kazasu.run("convert", Card.file("edy"), "--to", format, "--redact")
        let digits = result.output.lowercased().filter { !$0.isWhitespace }
        #expect(result.end == .exited(0))
        #expect(!digits.contains("0312abcd0042") && !digits.contains("1234567890123456"))
        #expect(result.output.contains("\"redacted\": true") == (format == "json"))
    }

    @Test("--redact drops what nobody knows, at every level")
    func redactedUnknownMembers() throws {
        let note = #""x-owner":"TARO""#
        let text =
            #"{"schema":"kazasu.dump/1","card":{"technology":"felica",\#(note)},"felica":{"systems":[{"systemCode":"0003","#
            + #""idm":"0101031234567890","pmm":"0120220427674eff","areas":[{"start":"0000","end":"FFFE",\#(note)}],"#
            + #""services":[{"code":"090D","state":"skipped","sameAs":"090F",\#(note)}],\#(note)}]},"iso7816":"#
            + #"{"applications":[{"aid":null,"files":[{"id":"0001","state":"read","data":"",\#(note)}],\#(note)}]},\#(note)}"#
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(text.utf8), as: "card.json")
        let shown = try Kazasu.run("convert", path, "--to", "json")
        #expect(shown.output.split(separator: "TARO").count == 8)
        let masked = try Kazasu.run("convert", path, "--to", "json", "--redact")
        #expect(masked.end == .exited(0) && !masked.output.contains("TARO"), "\(masked.output)\(masked.errors)")
        #expect(masked.output.contains(#""sameAs": "090F""#))
    }

    static let foreign = TestFiles.names(in: "Fixtures/formats").flatMap { folder in
        TestFiles.names(in: "Fixtures/formats/\(folder)").filter { !$0.hasSuffix(".expected") }.map {
            "\(folder)/\($0)"
        }
    }

    @Test("A file of another tool is decoded", arguments: foreign)
    func decoded(file: String) throws {
        let path = "\(TestFiles.root)/Fixtures/formats/\(file)"
        let result = try Kazasu.run("decode", path, "--json")
        #expect(result.end == .exited(0), "\(result.errors)")
        let expected = String(decoding: try TestFiles.read("\(path).expected"), as: UTF8.self)
        if expected.contains("0003 008B 0000 00000000000000002000000A000001E3") {
            #expect(result.output.replacing(" ", with: "").contains(#""amount":10,"#))
        }
        let report = try JSONCursor(JSONValue(parsing: Array(result.output.utf8))).required("reports").elements()
        let records = try report.flatMap { try $0.optional("records")?.elements() ?? [] }
        let lines = expected.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.count == 4 }
        // The first unused block ends a history.
        let blocks = ["090F", "170F"].flatMap { code in lines.filter { $0[1] == code }.prefix { !$0[3].hasPrefix("00") }
        }
        #expect(try records.map { try $0.required("raw").text().uppercased() } == blocks.map { String($0[3]) })
        for record in records {
            let known = try #require(Self.known[try record.required("raw").text().uppercased()])
            #expect(try record.required("date").text() == known.date)
            #expect(try record.required("kind").text() == known.kind)
            #expect(try record.required("balance").integer() == known.balance)
        }
    }

    /// What the published blocks in the fixtures say.
    static let known: [String: (date: String, kind: String, balance: Int)] = [
        "16010002166CE33BE6210A000001E300": ("2011-03-12", "rail", 10),
        "16010002166BE336E338AA000001E100": ("2011-03-11", "rail", 170),
        "16010002166BE33BE3364A010001DF00": ("2011-03-11", "rail", 330),
        "C846000016647B802740B8060001D000": ("2011-03-04", "purchase", 1720),
        "2000006617FA2061000007D000002E26": ("2008-05-27", "purchase", 11814),
    ]
}
