// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("Two dumps of a card")
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
            "10 JPY → 5 JPY",
        ] {
            #expect(english.output.contains(words), "\(words): \(english.output)")
        }
        let japanese = try Kazasu.run("diff", old, new, "--lang", "ja").output
        for words in ["0003 090F  追加 1", "鉄道", "バイト 11 15", "鍵バージョン 0001 → 0002", "残高 10 JPY → 5 JPY"] {
            #expect(japanese.contains(words), "\(words): \(japanese)")
        }
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
            let service = try #require(try document.required("services").elements().first)
            #expect(try service.required("newKeyVersion").text() == "0002")
        }
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
        try Kazasu.run("diff", old, "\(folder.path)/none").expectFailure(66, "none")
    }
}
