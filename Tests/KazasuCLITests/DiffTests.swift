// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("Two dumps of a card", .waits)
struct DiffTests {
    private static func dump(
        _ attribute: String, _ history: [String], version: String, idm: String = Card.idm
    ) -> [UInt8] {
        let blocks = history.enumerated().map { #""000\#($0)": "\#($1)""# }.joined(separator: ",")
        return Array(
            """
            {"schema":"kazasu.dump/1","complete":true,"missing":[],
             "card":{"technology":"felica","idm":"\(idm)","pmm":"01368b868fbecbff"},
             "felica":{"systems":[{"systemCode":"0003","idm":"\(idm)","pmm":"01368b868fbecbff","areas":[],"services":[
              {"code":"0048","keyVersion":"\(version)","state":"keyRequired","blocks":{}},
              {"code":"008B","keyVersion":"0001","state":"read","blocks":{"0000":"\(attribute)"}},
              {"code":"090F","keyVersion":"0001","state":"read","blocks":{\(blocks)}}]}]}}
            """.utf8)
    }

    private static let ride = "16010002166ce33be6210a000001e300"
    private static let later = "16010002166de33be62105000001e500"
    private static let older = "16010002166be33be336aa000001e100"

    private func files(_ folder: TemporaryFolder) throws -> (old: String, new: String) {
        let old = Self.dump("00000000000000002000000a000001e3", [Self.ride, Self.older], version: "0001")
        let new = Self.dump("000000000000000020000005000001e5", [Self.later, Self.ride], version: "0002")
        return (try folder.write(old, as: "old.json"), try folder.write(new, as: "new.json"))
    }

    @Test("A history that turned, bytes, a key version and the balance, for people")
    func text() throws {
        let folder = try TemporaryFolder()
        let (old, new) = try files(folder)
        let english = try Kazasu.run("diff", old, new)
        #expect(english.end == .exited(0), "\(english.errors)")
        for words in [
            "0003 090F  1 new", "2011-03-13", "0003 008B 0000  bytes 11 15", "key version 0001 → 0002",
            "¥10 → ¥5",
        ] {
            #expect(english.output.contains(words), "\(words): \(english.output)")
        }
        let japanese = try Kazasu.run("diff", old, new, "--lang", "ja").output
        for words in ["0003 090F  追加 1", "鉄道", "バイト 11 15", "鍵バージョン 0001 → 0002", "残高 10円 → 5円"] {
            #expect(japanese.contains(words), "\(words): \(japanese)")
        }
        #expect(english.output.contains("-¥5  ¥5  "), "amount and balance have a currency: \(english.output)")
        #expect(japanese.contains("-5円  5円  "), "\(japanese)")
        #expect(try Kazasu.run("diff", old, old).output == "no difference\n")
        #expect(try Kazasu.run("diff", old, old, "--lang", "ja").output == "違いはありません\n")
    }

    @Test("The same as a document, whose keys do not change with the language")
    func json() throws {
        let folder = try TemporaryFolder()
        let (old, new) = try files(folder)
        for language in ["en", "ja"] {
            let text = try Kazasu.run("diff", old, new, "--json", "--lang", language).output
            let document = JSONCursor(try JSONValue(parsing: Array(text.utf8)))
            #expect(try document.required("schema").text() == "kazasu.diff/1")
            let turn = try #require(try document.required("rings").elements().first)
            let added = try turn.required("added").elements()
            #expect(try added.map { try $0.required("data").text() } == [Self.later])
            #expect(try added.first?.required("record").required("date").text() == "2011-03-13")
            let block = try #require(try document.required("blocks").elements().first)
            #expect(try block.required("bytes").elements().map { try $0.integer() } == [11, 15])
            let balance = try #require(try document.required("balances").elements().first)
            #expect(try balance.required("old").integer() == 10)
            #expect(try balance.required("new").integer() == 5)
            #expect(try balance.required("currency").text() == "JPY" && balance.required("exponent").integer() == 0)
            #expect(try added.first?.required("currency").text() == "JPY")
            let service = try #require(try document.required("services").elements().first)
            #expect(try service.required("newKeyVersion").text() == "0002")
        }
    }

    @Test("--exit-code tells a script, without a word more")
    func exitCode() throws {
        let folder = try TemporaryFolder()
        let (old, new) = try files(folder)
        for options in [[], ["--json"]] {
            let plain = try Kazasu.run(["diff", old, new] + options)
            let result = try Kazasu.run(["diff", "--exit-code", old, new] + options)
            #expect(plain.hasEnded(0) && result.hasEnded(1))
            #expect(result.output == plain.output && result.errors.isEmpty)
        }
        #expect(try Kazasu.run("diff", "--exit-code", old, old).hasEnded(0))
        try Kazasu.run("diff", "--exit-code", old, "\(folder.path)/none").expectError(66, "none")
    }

    @Test("Ignores key versions that another program does not write")
    func flipper() throws {
        let folder = try TemporaryFolder()
        let converted = "\(folder.path)/card.nfc"
        #expect(
            try Kazasu.run("convert", Card.file("suica-p1"), "--to", "flipper", "-o", converted).hasEnded(0))
        #expect(try Kazasu.run("diff", converted, Card.file("suica-p1")).output == "no difference\n")
    }

    @Test("Two cards are compared, and it is said that they are two")
    func otherCard() throws {
        let folder = try TemporaryFolder()
        let (old, _) = try files(folder)
        let other = try folder.write(
            Self.dump("00000000000000002000000a000001e3", [Self.ride], version: "0001", idm: "0109090909090909"),
            as: "other.json")
        let result = try Kazasu.run("diff", old, other)
        #expect(result.end == .exited(0))
        #expect(result.errors == "kazasu: these are dumps of two different cards\n")
        try Kazasu.run("diff", old, "\(folder.path)/none").expectError(66, "none")
    }

    @Test("Gate log, entry record, tickets and fields say what they mean on both sides")
    func meanings() throws {
        let (old, new) = (Card.file("suica-p1"), Card.file("suica-inside"))
        let english = try Kazasu.run("diff", old, new).output
        for words in [
            "+ A000E63B2101166C1315000000000000  2011-03-12  13:15  entry  230-59",
            "- E33B0000000000000000000000000000  last station entered  227-59",
            "+ 0103E63B166C50A00133123401035280  2011-03-12  01  0103  E63B  ¥510",
        ] {
            #expect(english.contains(words), "\(words): \(english)")
        }
        let document = try Kazasu.run("diff", old, new, "--json").output
        #expect(document.contains(#""meaning": "2011-03-12  13:15  entry  230-59""#), "\(document)")
        let folder = try TemporaryFolder()
        let waon = String(decoding: try TestFiles.read(Card.file("waon")), as: UTF8.self)
        let points = try #require(waon.firstMatch(of: /0004d2/)).output
        let later = try folder.write(Array(waon.replacing(points, with: "0004d8").utf8), as: "later.json")
        let fields = try Kazasu.run("diff", Card.file("waon"), later)
        #expect(
            fields.output.contains("WAON  points 1234 → 1240\n") || fields.output.contains("WAON  Points 1234 → 1240\n")
        )
        let json = try Kazasu.run("diff", Card.file("waon"), later, "--json").output
        #expect(json.contains(#"{"kind": "waon", "key": "points", "old": "1234", "new": "1240"}"#), "\(json)")
    }

    @Test("Tags and cards of files are compared, too")
    func otherTechnologies() throws {
        let folder = try TemporaryFolder()
        func dump(_ name: String, _ card: String) throws -> String {
            let path = "\(folder.path)/\(name).json"
            let result = try Kazasu.run(
                "dump", "-t", "0", "-r", "virtual:\(TestFiles.root)/Fixtures/\(card)", "-o", path)
            #expect(result.end == .exited(0), "\(result.errors)")
            return path
        }
        let (tag, other) = (try dump("tag", "virtual/ntag213.json"), try dump("other", "tags/ntag213.json"))
        let pages = try Kazasu.run("diff", tag, other)
        #expect(pages.output.contains("page 05  bytes 2\n  - 34033191\n  + 34032591\n"), "\(pages.output)")
        #expect(try Kazasu.run("diff", tag, other, "--lang", "ja").output.contains("ページ 05  バイト 2\n"))
        #expect(try Kazasu.run("diff", tag, other, "--json").output.contains(#""page": "05""#))
        let redacted = try Kazasu.run("diff", "--redact", tag, other).output
        #expect(!redacted.contains("34033191"))
        let (first, second) = (try dump("first", "virtual/type4.json"), try dump("second", "tags/type4.json"))
        let files = try Kazasu.run("diff", first, second).output
        #expect(files.contains("D2760000850101 E104 0000  bytes 1-2 4"), "\(files)")
        #expect(try Kazasu.run("diff", first, first).output == "no difference\n")
        #expect(try Kazasu.run("diff", tag, first).errors.contains("two different cards"))
    }
}
