// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Testing
import VirtualReader

/// FeliCa Lite and Lite-S.
struct LiteTests {
    static func text(kind: String = "liteS", blocks: String = "", pmm: String = "00F1000000014300") -> String {
        """
        {"schema": "kazasu.card/1", "idm": "012E4CE445055B87", "pmm": "\(pmm)",
         "lite": {"kind": "\(kind)", "blocks": {\(blocks)}}}
        """
    }

    static let idm = "012E4CE445055B87"
    static let zeros = String(repeating: "00", count: 16)

    static let commands: [Vector] = [
        Vector("0600FFFF0000", "1201<I>00F1000000014300"),
        Vector("0600FFFF0100", "1401<I>00F100000001430088B4"),
        Vector("060088B40000", "1201<I>00F1000000014300"),
        Vector("060012FC0100", "1401<I>00F100000001430012FC"),
        Vector("06000003000000", nil),
        Vector("0A04<I>", nil),
        Vector("0A0C<I>", nil),
        Vector("0D02<I>010B00", nil),
        Vector("0C0A<I>0000", nil),
        Vector("1006<I>010B00018088", "1D07<I>000001FFFFFF01070000000000000000000000"),
        Vector("1006<I>010B00018083", "1D07<I>000001<I>00F1000000014300"),
        Vector("1006<I>010B0001808F", "0C07<I>01A8"),
        Vector("1206<I>010B000280008010", "0C07<I>02A8"),
        Vector("1006<I>010D00018000", "0C07<I>01A6"),
        Vector("1806<I>010B00058000800180028003 8004", "0C07<I>FFA2"),
        Vector("2008<I>0109000180800706050403020100 0F0E0D0C0B0A0908", "0C09<I>0000"),
        Vector("2008<I>010900018087 37363534333231306665646362613938", "0C09<I>0000"),
        Vector("2008<I>010B00018000\(zeros)", "0C09<I>01A6"),
        Vector("2008<I>010900018083\(zeros)", "0C09<I>01A5"),
        Vector("2008<I>010900018092\(zeros)", "0C09<I>01B2"),
        Vector("2008<I>010900018089\(zeros)", "0C09<I>01A8"),
        Vector("3208<I>01090002 80008091\(zeros)\(zeros)", "0C09<I>02B2"),
        Vector("3208<I>01090002 80008001\(zeros)\(zeros)", "0C09<I>02B2"),
        Vector("4208<I>01090003 800080018091\(zeros)\(zeros)\(zeros)", nil),
        Vector("4408<I>01090003 800080018091\(zeros)\(zeros)\(zeros)", "0C09<I>FFA2"),
        Vector("1206<I>020B00090001 8000", "0C07<I>FFA1"),
        Vector("1206<I>010B000280818091", "0C07<I>02B0"),
    ]

    @Test(arguments: commands) func command(_ vector: Vector) throws {
        try vector.check(.from(Self.text()), idm: Self.idm)
    }

    @Test func bit0OfByte3OfMCMakesATag() throws {
        let blocks = "\"88\": \"FFFFFF00070000000000000000000000\""
        let card = try VirtualFeliCaCard.from(Self.text(blocks: blocks))
        #expect(try card.ask("0012FC0000") == nil)
        #expect(try card.ask("0088B40000") != nil)
        #expect(card.systems.map(\.code) == [.lite])
    }

    @Test func writtenKeysReadAsZeros() throws {
        let card = try VirtualFeliCaCard.from(Self.text())
        let data = "000102030405060708090a0b0c0d0e0f"
        for block in ["05", "80", "87"] {
            #expect(try card.ask("08\(Self.idm)0109000180\(block)\(data)") == "09\(Self.idm.lowercased())0000")
        }
        let head = "07\(Self.idm.lowercased())000003"
        #expect(
            try card.ask("06\(Self.idm)010B00038005 80808087") == head + data + Self.zeros + Self.zeros)
        #expect(card.lite?[0x87].map { Hex.encode($0.bytes) } == data)
        card.losePower()
        #expect(card.lite?[0x05].map { Hex.encode($0.bytes) } == data)
        #expect(card.lite?[0x80] == .zero)
    }

    @Test(arguments: [
        // MC, read of block 1, write of block 1: read-only, read after authentication, write after it, write with MAC.
        ("FDFFFF01070000000000000000000000", "0000", "01A5"),
        ("FFFFFF01070002000000000000000000", "01B1", "0000"),
        ("FFFFFF01070000000200000000000000", "0000", "01B1"),
        ("FFFFFF01070000000000020000000000", "0000", "01B2"),
    ])
    func protection(_ configuration: String, _ read: String, _ write: String) throws {
        let card = try VirtualFeliCaCard.from(Self.text(blocks: "\"88\": \"\(configuration)\""))
        let answer = try #require(try card.ask("06\(Self.idm)010B00018001"))
        #expect(answer.dropFirst(18).prefix(4) == read.lowercased())
        #expect(
            try card.ask("08\(Self.idm)010900018001\(Self.zeros)") == "09\(Self.idm)\(write)".lowercased())
    }

    @Test func systemBlocksCanBeLocked() throws {
        let card = try VirtualFeliCaCard.from(Self.text(blocks: "\"88\": \"FF7F0001070000000000000000000000\""))
        for block in ["82", "84", "86", "87", "88"] {
            #expect(try card.ask("08\(Self.idm)0109000180\(block)\(Self.zeros)")?.hasSuffix("01a5") == true)
        }
    }

    @Test(arguments: [("lite", 24), ("liteS", 28)]) func readableBlocks(_ kind: String, _ count: Int) throws {
        let card = try VirtualFeliCaCard.from(Self.text(kind: kind))
        let readable = try (0...255).count { number in
            let answer = try card.ask("06\(Self.idm)010B0001 80\(Hex.encode(number, digits: 2))")
            return answer?.dropFirst(18).hasPrefix("0000") == true
        }
        #expect(readable == count)
    }

    @Test func echoIsShort() throws {
        let card = try VirtualFeliCaCard.from(Self.text())
        #expect(try card.ask("F000" + String(repeating: "5A", count: 75)) != nil)
        #expect(try card.ask("F000" + String(repeating: "5A", count: 76)) == nil)
    }

    @Test func dumpOfALiteKeepsItsLayout() throws {
        let card = try VirtualFeliCaCard.from(
            """
            {"schema": "kazasu.dump/1", "card": {"technology": "felica"}, "felica": {"systems": [
              {"systemCode": "88B4", "idm": "\(Self.idm)", "pmm": "00F0000000014300", "services": [
                {"code": "0009", "state": "skipped"},
                {"code": "000B", "state": "read", "blocks": {
                  "0000": "10040100030000000000010000270040", "0082": "0102030405060708002A000000000000",
                  "0088": "FFFFFF01070000000000000000000000"}}]}]}}
            """)
        #expect(card.lite?.kind == .lite)
        #expect(
            try card.ask("06\(Self.idm)010B00028000 8082")
                == "07\(Self.idm)00000210040100030000000000010000270040 0102030405060708002A000000000000"
                .packed.lowercased())
        #expect(try card.ask("06\(Self.idm)010B00018092")?.hasSuffix("01a8") == true)
    }
}
