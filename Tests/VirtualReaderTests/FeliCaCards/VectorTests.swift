// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Testing
import VirtualReader

/// Packets of public sources (nfcpy, felica-tool, felica-rs, proxmark3) against virtual cards, byte by byte.
struct VectorTests {
    // MARK: nfcpy's Type 3 Tag and plain commands

    static let plainCard = """
        {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "FFFFFFFFFFFFFFFF",
         "systems": [{"code": "0000", "keyVersion": "0001",
           "nodes": ["0009", "000B"], "keyVersions": {"0009": "0001", "0049": "0011"},
           "blocks": {"0009": ["000102030405060708090A0B0C0D0E0F", "101112131415161718191A1B1C1D1E1F"],
                      "0049": 2}},
          {"code": "12FC", "idm": "0102030405060708",
           "blocks": {"000B": ["100B0A009300000000000100000000B9", "00000000000000000000000000000000"]}}]}
        """

    static let plain: [Vector] = [
        Vector("060012FC0000", "1201<I>FFFFFFFFFFFFFFFF"),
        Vector("060012FC0100", "1401<I>FFFFFFFFFFFFFFFF12FC"),
        Vector("060012000000", nil),
        Vector("0600FFFF0200", "1401<I>FFFFFFFFFFFFFFFF0083"),
        Vector("0700FFFF0000", nil),
        Vector("0601FFFF0000", nil),
        Vector("0600FFFF0300", nil),
        Vector("0600FFFF0010", nil),
        Vector("0500FFFF00", nil),
        Vector("0800FFFF0000AABB", "1201<I>FFFFFFFFFFFFFFFF"),
        Vector("0A04<I>", "0B05<I>00"),
        Vector("0A040102030405060709", nil),
        Vector("0F02<I>0209004900", "0F03<I>0201001100"),
        Vector("0D02<I>01000A", "0D03<I>01FFFF"),
        Vector("0D02<I>01FFFF", "0D03<I>010100"),
        Vector("0B02<I>00", nil),
        Vector("4D02<I>21\(String(repeating: "0900", count: 33))", nil),
        Vector("0C0A<I>0000", "0E0B<I>0000FEFF"),
        Vector("0C0A<I>0100", "0C0B<I>0900"),
        Vector("0C0A<I>0010", "0C0B<I>FFFF"),
        Vector("0B0A<I>00", nil),
        Vector("0A0C<I>", "0F0D<I>02000012FC"),
        Vector(
            "1206<I>010B000280008001",
            "2D07<I>000002000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"),
        Vector(
            "1406<I>020B000B000280008101",
            "2D07<I>000002000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"),
        Vector("1006<I>010B00018002", "0C07<I>01A8"),
        Vector("0F06<I>010B000180", nil),
        Vector(
            "3208<I>0109000280008001 00000000000000000000000000000000 00000000000000000000000000000000",
            "0C09<I>0000"),
        Vector(
            "3408<I>02090049000280008101 00000000000000000000000000000000 00000000000000000000000000000000",
            "0C09<I>0000"),
        Vector("3108<I>0109000280008001 00000000000000000000000000000000 000000000000000000000000000000", nil),
        Vector("0C3E<I>0000", "0C3F<I>0000"),
        Vector("0A99<I>", nil),
        Vector("06F0005A5A5A", "06F0005A5A5A"),
        Vector("06F0015A5A5A", nil),
    ]

    @Test(arguments: plain) func plainCommand(_ vector: Vector) throws {
        try vector.check(.from(Self.plainCard))
    }

    @Test func attributeBlockOfAnNDEFCard() throws {
        let card = try VirtualFeliCaCard.from(Self.plainCard)
        #expect(try card.ask("0012FC0000") != nil)
        #expect(try card.ask("06<I>010B00018000") == "07010203040506070800000110 0b0a009300000000000100000000b9".packed)
    }

    // MARK: felica-tool's phone

    static let phone = """
        {"schema": "kazasu.card/1", "idm": "01020304050607FF", "pmm": "01188B868FBECBFF",
         "virtual": {"also": ["28"], "encryption": "4F",
           "productInformation": "1801020308475001D7007720250110",
           "containerIssue": "01020304054142434445464748494A4B", "containerID": "6D696E656D6F6269",
           "containerProperties": {"0000": "01", "0001": "20"}, "specificationVersion": "00008500"},
         "systems": [
           {"code": "FE00", "keyVersion": "0001", "nodes": ["1000-17FF", "1008"], "blocks": {"1009": 16, "2009": 32},
            "properties": {"1008": {"mac": "01"}, "2009": {"purse": "10270000C2F7FFFF2A00"},
                           "1000": {"area": "BEEF"}}},
           {"code": "FE0F"}, {"code": "0003", "idm": "014022222222B660"}]}
        """

    static let phoneCommands: [Vector] = [
        Vector("0600FE000100", "1401<I>01188B868FBECBFFFE00"),
        Vector("0600FE0F0100", "140111020304050607FF01188B868FBECBFFFE0F"),
        Vector("060000030100", "1401014022222222B66001188B868FBECBFF0003"),
        Vector("0600FFFF0200", "1401<I>01188B868FBECBFF0083"),
        Vector("0A0C<I>", "110D<I>03FE00FE0F0003"),
        Vector("0A0C014022222222B660", "110D014022222222B66003FE00FE0F0003"),
        Vector("0C3E<I>0000", "0C3F<I>0000"),
        Vector("0A3A<I>", "1C3B<I>00000F1801020308475001D7007720250110"),
        Vector("0C22<I>0000", "1A23<I>01020304054142434445464748494A4B"),
        Vector("04700000", "0A716D696E656D6F6269"),
        Vector("042E0100", "032F20"),
        Vector("042E0200", nil),
        Vector("0C3C<I>0000", "103D<I>000000008500"),
        Vector("0C38<I>0000", nil),
        Vector("0F0E<I>0209100920", "0F0F<I>0210002000"),
        Vector("0D0E<I>010010", "0D0F<I>011000"),
        Vector("0D0E<I>010930", "0D0F<I>01FFFF"),
        Vector("0F1E<I>0209100920", "151F<I>0000021000000020000000"),
        Vector("0D1E<I>010930", "0C1F<I>01A6"),
        Vector("0E1A<I>00000100", "151B<I>0000000100 10FF17010920"),
        Vector("0E1A<I>FFFF0100", "131B<I>000000010000FEFF00"),
        Vector("0E1A<I>00100100", "131B<I>000000000208100910"),
        Vector("0E1A<I>00100200", "0F1B<I>0000000000"),
        Vector("0E1A<I>00300100", "0C1B<I>FFA6"),
        Vector("0F32<I>0209100011", "1233<I>00004F020100FFFF"),
        Vector("0D32<I>010910", "1033<I>00004F010100"),
        Vector("0B32<I>00", "0C33<I>FFA1"),
        Vector("0E28<I>01010810", "0E29<I>00000101"),
        Vector("0E28<I>01010910", "0E29<I>00000100"),
        Vector("0E28<I>00010920", "1729<I>00000110270000C2F7FFFF2A00"),
        Vector("0E28<I>00010910", "1729<I>000001FFFFFFFFFFFFFFFFFFFF"),
        Vector("0E28<I>01010030", "0C29<I>01A6"),
        Vector("0C24<I>0010", "1025<I>00000010BEEF"),
        Vector("0C24<I>0000", "0C25<I>FFE0"),
        Vector("0C24<I>0910", "0C25<I>FFE2"),
        Vector("0C24<I>0030", "0C25<I>FFE7"),
    ]

    @Test(arguments: phoneCommands) func phoneCommand(_ vector: Vector) throws {
        try vector.check(.from(Self.phone), idm: "01020304050607FF")
    }

    @Test func twoListsOfKeyVersions() throws {
        let text = Self.phone.replacing("\"4F\"", with: "\"41\"")
        try Vector("0F32<I>0209100011", "1633<I>000041020100FFFF0100FFFF")
            .check(.from(text), idm: "01020304050607FF")
    }

    // MARK: Octopus (proxmark3), and the sample answers of Lite-S (flipperzero)

    @Test func octopus() throws {
        let card = try VirtualFeliCaCard.from(
            """
            {"schema": "kazasu.card/1", "idm": "01010801B516D920", "pmm": "0120220427674EFF",
             "systems": [{"code": "8008", "blocks": {"0117": ["00000164000000000000000000000021"]}}],
             "virtual": {"silent": ["0A", "0C"], "bitRates": [212]}}
            """)
        let idm = "01010801B516D920"
        try Vector("060080080100", "1401<I>0120220427674EFF8008").check(card, idm: idm)
        try Vector("0600FFFF0200", "1401<I>0120220427674EFF0081").check(card, idm: idm)
        try Vector("1006<I>011701018000", "1D07<I>00000100000164000000000000000000000021").check(card, idm: idm)
        try Vector("0A0C<I>", nil).check(card, idm: idm)
        try Vector("0C0A<I>0000", nil).check(card, idm: idm)
        #expect(card.answer([0x06, 0x00, 0x80, 0x08, 0x00, 0x00], at: .kbps424) == nil)
    }
}

extension String {
    /// Without blanks.
    var packed: String { filter { $0 != " " } }
}
