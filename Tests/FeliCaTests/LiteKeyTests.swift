// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import FeliCa
import Testing

/// The client's own keys and MACs of FeliCa Lite-S, with vectors of nfcpy's tests and of pycryptodome.
struct LiteKeyTests {
    private static func block(_ hex: String) throws -> Block { try #require(Block(Hex.decode(hex))) }

    private static func session(_ key: String, _ challenge: String) throws -> LiteSessionKey {
        let key = try #require(LiteKey(Hex.decode(key)))
        return try #require(LiteSessionKey(key, challenge: block(challenge)))
    }

    private static let nfcpy = ("37363534333231306665646362613938", "07060504030201000F0E0D0C0B0A0908")
    private static let zeros = String(repeating: "00", count: 16)
    private static let id = "01020304050607080000000000000000"

    @Test(arguments: [
        (zeros, "CC97F1B97B8BBC79"), (id, "91AEC5B6D9B3B12D"), ("10040100030000000000010000270040", "AF36B1F1524E3EB9"),
        ("01" + String(repeating: "00", count: 15), "BD73EB7294A00279"),
    ])
    func mac(_ data: String, _ mac: String) throws {
        let session = try Self.session(Self.nfcpy.0, Self.nfcpy.1)
        #expect(try Hex.encode(session.mac(of: [Self.block(data)])) == mac.lowercased())
    }

    @Test(arguments: [
        (("74657374746573747465737474657374", zeros), zeros, "BF4EB60BA1DBDF9F"),
        (nfcpy, id, "6A9C1CA386DE4213"),
    ])
    func macA(_ keys: (String, String), _ data: String, _ mac: String) throws {
        let session = try Self.session(keys.0, keys.1)
        #expect(try Hex.encode(session.macA(of: [Self.block(data)], list: [0x82, 0x91])) == mac.lowercased())
    }

    @Test func macOfAWrite() throws {
        let session = try Self.session(Self.nfcpy.0, Self.nfcpy.1)
        let state = try Self.block("01" + String(repeating: "00", count: 15))
        #expect(
            session.macA(writing: state, to: 0x92, count: 0xFFFE00).description == "17C19E3BBDC3E8BD00FEFF0000000000")
        #expect(session.macA(writing: state, to: 0x92, count: 0).description.hasPrefix("A700B1809EFD0126000000"))
    }

    /// The first half is CMAC of pycryptodome.
    @Test func keyOfACardFromAMasterKey() throws {
        let master = try #require(LiteMasterKey((0..<24).map { UInt8($0) }))
        let key = try #require(try master.key(id: Self.block("012E34E829CE1E710000000000000000")))
        key.withBlock { #expect($0.description == "6C3F113DF131C0D4922757FD113F093A") }
    }

    @Test func factoryKey() throws {
        #expect(try #require(LiteKey([UInt8](repeating: 0, count: 16))).isFactoryKey)
        #expect(try #require(LiteKey([UInt8](repeating: 1, count: 16))).isFactoryKey)
        #expect(try !#require(LiteKey([UInt8](repeating: 2, count: 16))).isFactoryKey)
        for count in [0, 8, 15, 17, 24] { #expect(LiteKey([UInt8](repeating: 7, count: count)) == nil) }
        for count in [0, 16, 23, 25] { #expect(LiteMasterKey([UInt8](repeating: 7, count: count)) == nil) }
    }

    @Test func keysDoNotShow() throws {
        let key = try #require(LiteKey((1...16).map { UInt8($0) }))
        let master = try #require(LiteMasterKey((1...24).map { UInt8($0) }))
        for text in ["\(key)", "\(master)", String(reflecting: key), "\(LiteKeySource.card(key))"] {
            #expect(text.contains("Redacted"))
        }
        var dumped = ""
        dump(LiteKeySource.master(master), to: &dumped)
        #expect(!dumped.contains("DESKey"))
    }
}
