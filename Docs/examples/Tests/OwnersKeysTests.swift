// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import Testing

/// What its owner's keys open: a wallet on MIFARE Classic, tags with a password, URLs that a tag signs.
struct OwnersKeysTests {
    private static let card = Array(
        """
        { "schema": "kazasu.card/1", "classic": { "size": "1K", "uid": "90d307c1",
          "blocks": { "13": "640000009bffffff640000000df20df2", "15": "11111111111108778f69222222222222" } } }
        """.utf8)

    @Test func wallet() throws {
        let keys = try ClassicKeys(reading: Array("3 A 111111111111\n3 B 222222222222".utf8))
        let reader = try virtualReader(cards: Self.card)
        let wallet = try reader.waitForCard(.classic).classic()
        #expect(try wallet.value(of: 13, keys).value == 100)
        #expect(try wallet.change(13, by: -30, keys).value == 70)
        let sectors = try wallet.information(keys).get()
        #expect(sectors.filter { !$0.keys.isEmpty }.map(\.number) == [3])
    }

    @Test func passwordOfATag() throws {
        let file = """
            { "schema": "kazasu.card/1", "type2": { "model": "ntag213", "uid": "04a8d862bc2b80",
              "pages": { "29": "04000004", "2A": "00050000" }, "password": "deadbeef", "passwordAnswer": "1234" } }
            """
        let reader = try virtualReader(cards: Array(file.utf8))
        let password = try #require(Type2Password([0xDE, 0xAD, 0xBE, 0xEF]))
        let tag = try reader.waitForCard(.tag).forumTag(.password(password, TagSecretRules(allowsLastTry: true)))
        try tag.writePages([1, 2, 3, 4], from: 8)
        #expect(try tag.information().product == "NTAG213")
        #expect(try tag.originality().state != .valid)
    }

    @Test func signedURL() throws {
        let url = "https://example.com/t?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086"
        let key = try #require(TagKey([UInt8](repeating: 0, count: 16)))
        #expect(try SUNMessage(url)?.verified(with: key)?.counter == 61)
    }
}
