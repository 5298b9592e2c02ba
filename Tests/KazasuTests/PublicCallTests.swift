// SPDX-License-Identifier: Apache-2.0

// Imported as a stranger does: only public names.
import KazasuTesting
import TestSupport
import Testing

/// MIFARE Classic, secrets of tags, signatures and phones by public calls.
struct PublicCallTests {
    private static func card(_ file: String, _ query: CardQuery) throws -> Card {
        try virtualReader(cards: TestFiles.read("Fixtures/\(file)")).waitForCard(query)
    }

    private static func made(_ text: String, _ query: CardQuery) throws -> Card {
        try virtualReader(cards: Array(text.utf8)).waitForCard(query)
    }

    // MARK: MIFARE Classic

    private static let classic = "virtual/classic-1k.json"
    private static let keys = """
        * A FFFFFFFFFFFF
        1 A D3F7D3F7D3F7
        3 A 111111111111
        3 B 222222222222
        """

    private static func opened() throws -> (card: ClassicCard, keys: ClassicKeys) {
        let found: ClassicCard = try card(classic, .classic).classic()
        var all = try ClassicKeys(reading: Array(keys.utf8))
        all.merge(.published)
        return (found, all)
    }

    @Test func sectorsThatOpen() throws {
        let (card, keys) = try Self.opened()
        #expect(card.kind == .k1 && card.identity.uid == [0x90, 0xD3, 0x07, 0xC1])
        let closed = try card.information().sectors[3]
        #expect(closed.keys.isEmpty && closed.blocks.isEmpty)
        let sectors = try card.information(keys).get()
        #expect(sectors.count == 16 && sectors[3].keys == [.a, .b])
        #expect(sectors.map(\.application).prefix(3) == [nil, 0xE103, 0xE103])
        let dump = try card.dump(keys).sectors
        #expect(dump == sectors)
        // No trailer has a key.
        for sector in dump {
            let trailer = try #require(sector.blocks[ClassicKind.trailer(of: sector.number)])
            #expect(trailer[..<6].allSatisfy { $0 == nil } && trailer[10...].allSatisfy { $0 == nil })
        }
    }

    @Test func blocksAndMessage() throws {
        let (card, keys) = try Self.opened()
        #expect(try card.readNDEF().records.first?.uri == "https://kazasu.example")
        #expect(try card.read(5, keys).compactMap { $0 }.prefix(8) == [0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 0xFE])
        let bytes = (0..<16).map { UInt8($0) }
        try card.write(bytes, to: 20, keys)
        #expect(try card.read(20, keys) == bytes)
    }

    @Test func values() throws {
        let (card, keys) = try Self.opened()
        #expect(try card.value(of: 13, keys).value == 100)
        #expect(try card.change(13, by: 5, keys).value == 105)
        #expect(try card.change(13, by: -25, keys).value == 80)
        #expect(try card.value(of: 13, keys).value == 80)
        #expect(throws: KazasuError.classic(.notAValue(block: 20))) { try card.value(of: 20, keys) }
    }

    @Test func newKeysOfASector() throws {
        let (card, keys) = try Self.opened()
        let (keyA, keyB) = (
            try #require(ClassicKey([1, 2, 3, 4, 5, 6])), try #require(ClassicKey([6, 5, 4, 3, 2, 1]))
        )
        var both = keys
        both.add(try #require(ClassicKey([UInt8](repeating: 0xFF, count: 6))), sector: 9)
        try card.writeTrailer(keyA: keyA, access: [0xFF, 0x07, 0x80, 0x69], keyB: keyB, of: 9, both)
        #expect(throws: KazasuError.classic(.noKey(sector: 9))) { try card.read(36, .published) }
        var new = ClassicKeys()
        new.add(keyA, sector: 9, type: .a)
        #expect(try card.read(36, new).count == 16)
        // Access bits of which nobody could change any more.
        #expect { try card.writeTrailer(keyA: keyA, access: [0, 0, 0, 0], keyB: keyB, of: 9, new) } throws: { error in
            if case KazasuError.classic(.notWritable) = error { true } else { false }
        }
        #expect("\(keyA) \(String(reflecting: keyB))" == "Redacted Redacted")
    }

    @Test(arguments: ["virtual/ntag213.json", "virtual/type4.json", "cards/suica-p1/card.json"])
    func noClassic(_ file: String) throws {
        #expect {
            let _: ClassicCard = try Self.card(file, .any).classic()
        } throws: { error in
            if case KazasuError.wrongCard = error { true } else { false }
        }
    }

    @Test func classicErrors() throws {
        let (card, keys) = try Self.opened()
        let wrong = try ClassicKeys(reading: Array("* A 999999999999".utf8))
        #expect(throws: KazasuError.classic(.noKey(sector: 0))) { try card.dump(wrong) }
        #expect(throws: KazasuError.classic(.noKey(sector: 3))) { try card.read(13, wrong) }
        #expect(throws: KazasuError.classic(.notWritable(block: 0, .manufacturer))) {
            try card.write([UInt8](repeating: 0, count: 16), to: 0, keys)
        }
        #expect(throws: KazasuError.self) { try card.read(64, keys) }
        #expect(KazasuError.classic(.noKey(sector: 3)).description == ClassicError.noKey(sector: 3).description)
    }

    // MARK: Secrets of tags

    /// An NTAG213 whose pages from 4 on need its password.
    private static func tag(_ bytes: [UInt8], _ rules: TagSecretRules) throws -> ForumTag {
        let password = try #require(Type2Password(bytes))
        return try made(
            """
            { "schema": "kazasu.card/1", "type2": { "model": "ntag213", "uid": "04a8d862bc2b80",
              "pages": { "29": "04000004", "2A": "80050000" }, "password": "deadbeef", "passwordAnswer": "1234" } }
            """, .tag
        ).forumTag(.password(password, rules))
    }

    @Test func passwords() throws {
        let rules = TagSecretRules(allowsLastTry: true)
        let tag = try Self.tag([0xDE, 0xAD, 0xBE, 0xEF], rules)
        try tag.writePages([1, 2, 3, 4], from: 8)
        #expect(try tag.readPages([8]).get().type2?.pages[8] == [1, 2, 3, 4])
        #expect(throws: KazasuError.tag(.password(.wrong))) { try Self.tag([0, 0, 0, 0], rules) }
        // It is not sent again to the same tag.
        #expect(throws: KazasuError.tag(.password(.failedBefore))) { try Self.tag([0, 0, 0, 0], rules) }
        #expect(throws: KazasuError.tag(.password(.lastTry(limit: nil)))) {
            try Self.tag([0xDE, 0xAD, 0xBE, 0xEF], TagSecretRules())
        }
        #expect(Type2Password([1, 2, 3]) == nil && Type2Password([1, 2, 3, 4, 5, 6]) != nil)
    }

    @Test func keyOfNTAG424() throws {
        let key = try #require(
            TagKey(
                [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF],
                number: 2))
        let tag = try Self.card("virtual/ntag424.json", .tag).forumTag(.key(key, TagSecretRules()))
        #expect(try !tag.readNDEF().message.isEmpty)
        let information = try tag.information()
        #expect(information.keyed?.key == 2 && information.keyed?.uid == [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40])
        #expect(information.keyed?.files.map(\.number) == [1, 2, 3])
        #expect("\(key) \(TagKey([1], number: 0) == nil)" == "Redacted true")
    }

    // MARK: What a tag and a phone say of themselves

    @Test func tagInformation() throws {
        let tag = try Self.card("virtual/ntag213-signed.json", .tag).forumTag()
        let information = try tag.information()
        #expect(try information.type == 2 && information.product == tag.product())
        #expect(information.originality?.state == .valid && information.error == nil)
        #expect(try tag.originality() == information.originality)
        #expect(try information.get().type2 != nil)
        #expect((information.message == nil) == (information.absence != nil))
        #expect(try Self.card("virtual/ultralight-c.json", .tag).forumTag().originality().state == .absent)
    }

    @Test func phoneModel() throws {
        let issue = "00010000683030373031370000000000"
        let phone = try Self.made(
            """
            { "schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01188b868fbecbff",
              "systems": [{ "code": "0003", "blocks": { "008B": 1 } }], "virtual": { "containerIssue": "\(issue)" } }
            """, .feliCa)
        #expect(phone.phoneModel()?.name == "Google Pixel 7a")
        #expect(try Self.card("cards/suica-p1/card.json", .feliCa).phoneModel() == nil)
    }

    @Test func dynamicURLs() throws {
        let url = "https://example.com/t?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086"
        let key = try #require(TagKey([UInt8](repeating: 0, count: 16)))
        let other = try #require(TagKey([UInt8](repeating: 1, count: 16)))
        let message = try #require(SUNMessage(url))
        let contents = try message.verified(with: key)
        #expect(contents?.uid == [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40] && contents?.counter == 61)
        #expect(try message.verified(with: other) == nil && message.verified(with: key, metaKey: other) == nil)
        #expect(SUNMessage("https://example.com") == nil)
    }

    // MARK: Dumps, readers and bytes

    @Test func differences() throws {
        let before = try Self.card("cards/suica-p1/card.json", .feliCa).dump().get()
        #expect(DumpDiff(before, before).isEmpty)
        let after = try Self.card("cards/edy/card.json", .feliCa).dump().get()
        #expect(!DumpDiff(before, after).services.isEmpty)
    }

    @Test("Findings say what to do about a fault")
    func findings() {
        let findings = examineReaders()
        #expect(!findings.isEmpty && findings.allSatisfy { !$0.message.english.isEmpty && !$0.code.isEmpty })
        #expect(findings.allSatisfy { $0.severity != .fault || $0.remedy != nil })
    }

    @Test(arguments: [("0A0b0C", [10, 11, 12]), ("0x0A:0b-0C", [10, 11, 12]), ("", []), ("0", nil), ("0G", nil)])
    func hexadecimal(_ text: String, _ bytes: [UInt8]?) {
        #expect([UInt8](hexadecimal: text) == bytes)
        if let bytes { #expect([UInt8](hexadecimal: bytes.hexadecimal) == bytes) }
    }

    // MARK: Partial results

    @Test("A partial result has the reason, and get() throws it")
    func partialResults() throws {
        let (attributes, other) = (ServiceCode(rawValue: 0x008B), ServiceCode(rawValue: 0x7F0F))
        let card = try Self.card("cards/suica-p1/card.json", .feliCa(systems: [.transit]))
        #expect(try card.read([attributes]).get().services.count == 1)
        let result = try card.read([attributes, other])
        #expect(result.error == nil && !result.isComplete && !result.system.services.isEmpty)
        #expect {
            try result.get()
        } throws: { error in
            if case KazasuError.refused(let service, _) = error { service == other } else { false }
        }
        #expect(try !card.probeCommands().get().isEmpty)
    }
}
