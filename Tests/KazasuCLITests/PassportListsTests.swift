// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu passport lists", .waits)
struct PassportListsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let lists = "\(TestFiles.root)/Fixtures/ids/passports/lists"

    private func run(_ arguments: String...) throws -> ChildResult {
        try Kazasu.run(["passport", "lists"] + arguments)
    }

    @Test("By country, in both languages and as a document")
    func answers() throws {
        let files = ["list.ml", "certs.ldif", "certs.p7c"].map { "\(Self.lists)/\($0)" }
        let text = try run(files[0], files[1])
        #expect(text.end == .exited(0) && text.errors.isEmpty, "\(text)")
        for country in ["UA", "UB", "UC", "UT"] { #expect(text.output.contains("\n\(country) "), "\(text.output)") }
        let japanese = try run("--lang", "ja", files[0])
        #expect(japanese.output.contains("マスターリスト") && japanese.output.contains("有効期限"), "\(japanese)")
        let document = try run("--json", "--country", "ut,JP", files[0], files[1], files[2])
        #expect(document.end == .exited(0) && document.errors.isEmpty, "\(document)")
        let json = JSONCursor(try JSONValue(parsing: Array(document.output.utf8)))
        #expect(try json.required("schema").text() == "kazasu.certificateLists/1")
        let read = try json.required("files").elements()
        #expect(try read.map { try $0.required("kind").text() } == ["masterList", "ldif", "pkcs7"])
        #expect(try read.map { try $0.required("path").text() } == files)
        #expect(try read[0].required("signature").text() == "valid")
        let countries = try json.required("countries").elements()
        #expect(try countries.map { try $0.required("code").text() } == ["UT"])
        #expect(try countries[0].required("until").text() == "2038-01-01")
    }

    @Test(
        "Holes are counted on standard error, and with --ca; a file without certificates is 65, among others a warning")
    func holes() throws {
        let hole = "\(Self.lists)/hole.pem"
        let found = try run(hole)
        #expect(
            found.end == .exited(0) && found.errors.contains("unreadable entries left out: 1 (number 2)"), "\(found)")
        #expect(try run("-q", hole).errors.isEmpty)
        let words = try folder.write(Array("hello".utf8), as: "words")
        let none = try run("--json", words)
        #expect(none.end == .exited(65) && none.errors.contains(#""reason":"notACertificate""#), "\(none)")
        let both = try run(words, hole)
        #expect(both.end == .exited(0) && both.errors.contains("contains no certificate"), "\(both)")
        let archive = try folder.write([0x50, 0x4B, 0x03, 0x04, 0, 0], as: "list.zip")
        try run(archive).expectError(65, "zip archive")
        #expect(try run("\(folder.path)/missing").end == .exited(66))
        for country in ["Japan", "J", "JP,", "J1"] { #expect(try run("--country", country, hole).end == .exited(64)) }
        #expect(try run().end == .exited(64))
        let card = "\(TestFiles.root)/Fixtures/iso7816/passport/card.json"
        let mrz = try folder.write(Array("SP1234567,800405,360614\n".utf8), as: "mrz")
        let own = "\(TestFiles.root)/Fixtures/iso7816/passport/authority.der"
        let checked = try Kazasu.run([
            "passport", "-r", "virtual:\(card)", "--mrz-from", "file:\(mrz)", "--ca", hole, "--ca", own, "--check",
        ])
        #expect(checked.end == .exited(0) && checked.errors.contains("left out"), "\(checked)")
    }
}
