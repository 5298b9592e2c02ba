// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import NFCTransport
import Testing
import VirtualReader

/// Packets of public sources against virtual cards, byte by byte (`<I>` is the IDm 0102030405060708).
struct VirtualCardVectorTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        let request: String
        let answer: String?
        var testDescription: String { request }

        init(_ request: String, _ answer: String?) {
            self.request = request
            self.answer = answer
        }
    }

    private static func bytes(_ text: String) throws -> [UInt8] {
        try Hex.decode(text.replacing("<I>", with: "0102030405060708"))
    }

    private func check(_ vector: Vector, _ card: VirtualFeliCaCard) throws {
        let answer = card.answer(try Self.bytes(vector.request), at: .kbps212)
        #expect(answer.map { Hex.encode($0.frame) } == (try vector.answer.map { Hex.encode(try Self.bytes($0)) }))
    }

    // MARK: nfcpy's Type 3 Tag and plain commands

    static let plainCard = """
        {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "FFFFFFFFFFFFFFFF",
         "systems": [{"code": "0000", "keyVersion": "0001",
           "nodes": ["0009", "000B"], "keyVersions": {"0009": "0001"},
           "blocks": {"0009": ["000102030405060708090A0B0C0D0E0F", "101112131415161718191A1B1C1D1E1F"],
                      "0049": 2}},
          {"code": "12FC", "idm": "0102030405060708", "blocks": {"000B": 5}}]}
        """

    static let plain: [Vector] = [
        Vector("060012FC0000", "1201<I>FFFFFFFFFFFFFFFF"),
        Vector("060012FC0100", "1401<I>FFFFFFFFFFFFFFFF12FC"),
        Vector("06001200 0000", nil),
        Vector("0600FFFF0200", "1401<I>FFFFFFFFFFFFFFFF0083"),
        Vector("0700FFFF0000", nil),
        Vector("0601FFFF0000", nil),
        Vector("0600FFFF0300", nil),
        Vector("0600FFFF0010", nil),
        Vector("0800FFFF0000AABB", "1201<I>FFFFFFFFFFFFFFFF"),
        Vector("0A04<I>", "0B05<I>00"),
        Vector("0A040102030405060709", nil),
        Vector("0D02<I>01000A", "0D03<I>01FFFF"),
        Vector("0C0A<I>0000", "0E0B<I>0000FEFF"),
        Vector("0C0A<I>0100", "0C0B<I>0900"),
        Vector("0C0A<I>0010", "0C0B<I>FFFF"),
        Vector("0B0A<I>0010", nil),
        Vector("0A0C<I>", "0F0D<I>02000012FC"),
        Vector(
            "1206<I>010B000280008001",
            "2D07<I>000002000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"),
        Vector(
            "1406<I>020B000B000280008101",
            "2D07<I>000002000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"),
        Vector("1106<I>010B0002000000800100", nil),
        Vector("1006<I>010B00018002", "0C07<I>01A8"),
        Vector(
            "3208<I>0109000280008001 00000000000000000000000000000000 00000000000000000000000000000000",
            "0C09<I>0000"),
        Vector(
            "3408<I>02090049000280008101 00000000000000000000000000000000 00000000000000000000000000000000",
            "0C09<I>0000"),
        Vector("0C3E<I>0000", "0C3F<I>0000"),
    ]

    @Test(arguments: plain) func plainCommand(_ vector: Vector) throws {
        try check(vector, VirtualCardFile.load(Array(Self.plainCard.utf8)))
    }
}
