// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Testing
import VirtualReader

/// Sessions, MACs, counters and restrictions of FeliCa Lite-S, command by command.
///
/// Vectors: nfcpy's tests (`test_tag_tt3_sony.py`), a real card from proxmark3's PR 2953, and values that pycryptodome
/// calculates.
struct LiteSecurityTests {
    /// CK of nfcpy's password "0123456789abcdef", in the order of block 87.
    private static let key = "37363534333231306665646362613938"
    private static let challenge = "07060504030201000F0E0D0C0B0A0908"
    private static let factoryCount = "00FEFF"

    private static func card(_ blocks: [String: String] = [:], kind: String = "liteS") throws -> VirtualFeliCaCard {
        let given = ["87": key, "82": LiteTests.zeros].merging(blocks) { $1 }
        let text = given.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \"\($0.value)\"" }.joined(separator: ", ")
        return try .from(LiteTests.text(kind: kind, blocks: text))
    }

    @Test func macOfNfcpysWrites() throws {
        let card = try Self.card()
        try card.start()
        #expect(
            try card.write("92", "01" + Self.rest(15), mac: "17C19E3BBDC3E8BD" + Self.factoryCount + Self.rest(5))
                == "0000")
        #expect(card.lite?.isAuthenticated == true)
        #expect(try card.read("9281").suffix(64) == "01" + Self.rest(15) + "BD73EB7294A00279" + Self.rest(8))
        #expect(try card.read("90").hasPrefix("0000" + "01" + "01FEFF"))
    }

    struct Read: Sendable {
        var key = LiteSecurityTests.key
        var challenge = LiteSecurityTests.challenge
        var blocks: [String: String] = [:]
        let list: String
        let mac: String
    }

    private static let reads = [
        Read(list: "8281", mac: "CC97F1B97B8BBC79"),
        Read(blocks: ["82": "01020304050607080000000000000000"], list: "8281", mac: "91AEC5B6D9B3B12D"),
        Read(blocks: ["00": "10040100030000000000010000270040"], list: "0081", mac: "AF36B1F1524E3EB9"),
        Read(
            key: "74657374746573747465737474657374", challenge: LiteTests.zeros, list: "8291", mac: "BF4EB60BA1DBDF9F"),
        Read(blocks: ["82": "01020304050607080000000000000000"], list: "8291", mac: "6A9C1CA386DE4213"),
    ]

    @Test(arguments: reads) func macOfReads(_ read: Read) throws {
        let card = try Self.card(read.blocks.merging(["87": read.key]) { $1 })
        try card.start(read.challenge)
        #expect(try card.read(read.list).suffix(32) == read.mac + Self.rest(8))
    }

    @Test func liteHasOnlyTheOlderMAC() throws {
        let card = try Self.card(kind: "lite")
        try card.start()
        #expect(try card.read("8281").suffix(32) == "CC97F1B97B8BBC79" + Self.rest(8))
        #expect(try card.read("8291") == "02A8")
        #expect(try card.write("82", LiteTests.zeros, mac: LiteTests.zeros) == "FFA2")
    }

    /// A MAC that is wrong, of another count, without RC, or at the end of the counter; nothing is written.
    @Test func wrongMACs() throws {
        let card = try Self.card()
        let right = "17C19E3BBDC3E8BD" + Self.factoryCount + Self.rest(5)
        let state = "01" + Self.rest(15)
        #expect(try card.write("92", state, mac: right) == "02B2")
        try card.start()
        #expect(try card.write("92", state, mac: "18C19E3BBDC3E8BD" + Self.factoryCount + Self.rest(5)) == "02B2")
        #expect(try card.write("92", state, mac: "17C19E3BBDC3E8BD01FEFF" + Self.rest(5)) == "02B2")
        #expect(try card.write("92", "02" + Self.rest(15), mac: right) == "02B2")
        #expect(card.lite?.isAuthenticated == false)
        #expect(try card.write("92", state, mac: right) == "0000")
        // The same once more: a replayed command.
        #expect(try card.write("92", state, mac: right) == "02B2")
        card.losePower()
        #expect(card.lite?.isAuthenticated == false)
        #expect(try card.read("92") == "000001" + LiteTests.zeros)
    }

    @Test func writesAreCounted() throws {
        let card = try Self.card(["90": LiteTests.zeros])
        for block in ["00", "0E", "80", "82", "84", "86", "87", "88", "83"] {
            _ = try card.write(block, block == "88" ? "FFFFFF01070000000000000000000000" : LiteTests.zeros)
        }
        #expect(try card.read("90") == "000001" + "070000" + Self.rest(13))
    }

    @Test(arguments: [
        ("000000", "00", "0000", "010000"), ("261000", "00", "0000", "271000"), ("271000", "00", "FF71", "281000"),
        ("271000", "FF", "0000", "281000"), ("FFFDFF", "00", "FF71", "00FEFF"), ("00FEFF", "00", "FF71", "00FEFF"),
        ("00FEFF", "FF", "0000", "01FEFF"), ("FFFFFF", "FF", "0000", "FFFFFF"), ("01FEFF", "00", "0000", "010000"),
    ])
    func wornMemory(_ count: String, _ all: String, _ flags: String, _ next: String) throws {
        let card = try Self.card(["90": count + Self.rest(13), "88": "FFFF\(all)0107" + Self.rest(11)])
        #expect(try card.write("00", LiteTests.zeros) == flags)
        #expect(try card.read("90") == "000001" + next + Self.rest(13))
    }

    /// The write of the first vector, on a card that is locked.
    @Test func countersThatAreUsedUpEndWritesWithMAC() throws {
        let card = try Self.card(["90": Self.factoryCount + Self.rest(13), "88": "FFFF000107" + Self.rest(11)])
        try card.start()
        #expect(
            try card.write("92", "01" + Self.rest(15), mac: "17C19E3BBDC3E8BD" + Self.factoryCount + Self.rest(5))
                == "02B2")
    }

    @Test func theIDOfTheMakerStays() throws {
        let card = try Self.card(["82": "01020304050607080000000000000000"])
        #expect(try card.write("82", String(repeating: "AA", count: 16)) == "0000")
        #expect(try card.read("82") == "000001" + "0102030405060708" + String(repeating: "AA", count: 8))
    }

    @Test(arguments: [
        ("05000000" + "07000000" + "0102030405060708", "0000"), ("06000000" + "07000000" + "0102030405060708", "0101"),
        ("05000000" + "08000000" + "0102030405060708", "0101"), ("04000000" + "00000000" + "FFFFFFFFFFFFFFFF", "0000"),
    ])
    func registersOnlyDecrease(_ block: String, _ flags: String) throws {
        let card = try Self.card(["0E": "05000000" + "07000000" + "0000000000000000"])
        #expect(try card.write("0E", block) == flags)
    }

    @Test func configurationOnlyRestricts() throws {
        let card = try Self.card()
        #expect(try card.write("88", "FE80FF0007010100000000000001AABB") == "0000")
        // Not before the card loses its power.
        #expect(try card.ask("0012FC0000") != nil)
        #expect(try card.write("00", LiteTests.zeros) == "0000")
        #expect(try card.write("88", "FFFFFF0107000201000000000000AABB") == "0000")
        card.losePower()
        #expect(try card.read("88") == "000001" + "FE80FF01070003010000000000000000")
        #expect(try card.write("00", LiteTests.zeros) == "01A5")
        #expect(try card.write("88", "FE800001070000000000000000000000") == "0000")
        card.losePower()
        #expect(try card.write("86", LiteTests.zeros) == "01A5")
        // Bit 15 still allows restrictions, but nothing else.
        #expect(try card.write("88", "8000FF00000101000000000000000000") == "0000")
        card.losePower()
        #expect(try card.read("88") == "000001" + "80000001070003010000000000000000")
        #expect(try card.write("88", LiteTests.zeros) == "01A5")
    }

    @Test func lockingStartsTheCounter() throws {
        let card = try Self.card()
        #expect(try card.write("88", "FFFF000107" + Self.rest(11)) == "0000")
        card.losePower()
        #expect(try card.read("90") == "000001" + LiteTests.zeros)
    }

    /// Reading and writing after authentication, and a key that can be changed with a MAC after locking.
    @Test func restrictionsEndWithAuthentication() throws {
        let card = try Self.card(["88": "FFFF000107010200020002000000" + "0000", "90": LiteTests.zeros])
        #expect(try card.read("01") == "01B1")
        #expect(try card.write("01", LiteTests.zeros) == "01B1")
        #expect(try card.write("87", LiteTests.zeros) == "01A5")
        try card.start()
        // pycryptodome: STATE with WCNT 0.
        #expect(try card.write("92", "01" + Self.rest(15), mac: "A700B1809EFD0126000000" + Self.rest(5)) == "0000")
        #expect(try card.read("01") == "000001" + LiteTests.zeros)
        #expect(try card.write("01", LiteTests.zeros) == "01B2")
        #expect(try card.write("01", LiteTests.zeros, mac: "DF90BEABC4A29F7E010000" + Self.rest(5)) == "0000")
        #expect(try card.write("87", LiteTests.zeros, mac: "01FC5C850ACD81E0020000" + Self.rest(5)) == "0000")
        #expect(card.lite?[0x87] == .zero)
    }

    private static func rest(_ count: Int) -> String { String(repeating: "00", count: count) }
}

extension VirtualFeliCaCard {
    /// Writes RC.
    fileprivate func start(_ challenge: String = "07060504030201000F0E0D0C0B0A0908") throws {
        #expect(try write("80", challenge) == "0000")
    }

    /// Reads blocks of a list of numbers of two digits.
    ///
    /// - Returns: the status flags and what follows them.
    fileprivate func read(_ list: String) throws -> String {
        let numbers = stride(from: 0, to: list.count, by: 2).map { "80" + list.dropFirst($0).prefix(2) }
        let answer = try ask("06\(LiteTests.idm)010B000\(numbers.count)" + numbers.joined())
        return try #require(answer).dropFirst(18).uppercased()
    }

    fileprivate func write(_ block: String, _ data: String, mac: String? = nil) throws -> String {
        let list = mac == nil ? "0180" + block : "0280" + block + "8091"
        return try #require(try ask("08\(LiteTests.idm)010900\(list)\(data)\(mac ?? "")")).dropFirst(18).uppercased()
    }
}
