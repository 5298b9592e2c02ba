// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Testing
import VirtualReader

/// Reading and writing blocks of FeliCa Standard: limits, status flags, kinds of services.
struct BlockTests {
    static func card(_ virtual: String = "", blocks: String = "\"1009\": 20, \"1089\": 4") throws -> VirtualFeliCaCard {
        try .from(
            """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368B868FBECBFF",
             "systems": [{"code": "0003", "nodes": ["0FC0-17FF", "100B", "1048", "1069"],
                          "blocks": {\(blocks)}}],
             "virtual": {\(virtual)}}
            """)
    }

    static let zeros = String(repeating: "00", count: 16)

    /// The status flags of an answer.
    static func status(_ answer: String?) -> String? {
        answer.map { String($0.dropFirst(18).prefix(4)) }
    }

    struct Refused: CustomTestStringConvertible, Sendable {
        let lists: String
        let status: String
        let why: String
        var testDescription: String { why }
    }

    static let refusals: [Refused] = [
        Refused(lists: "00", status: "ffa1", why: "no service"),
        Refused(lists: "11" + String(repeating: "0910", count: 17) + "018000", status: "ffa1", why: "17 services"),
        Refused(lists: "01091000", status: "ffa2", why: "no block"),
        Refused(lists: "01091010" + String(repeating: "8000", count: 16), status: "ffa2", why: "16 blocks"),
        Refused(lists: "0109100280008100", status: "02a3", why: "an element without a service"),
        Refused(lists: "0209104810018000", status: "02a5", why: "a service that needs a key"),
        Refused(lists: "01C00F018000", status: "01a5", why: "an area"),
        Refused(lists: "016910018000", status: "01a5", why: "a PIN service"),
        Refused(lists: "02091009200180 00", status: "02a6", why: "a service that is not there"),
        Refused(lists: "01091001A000", status: "01a7", why: "key change"),
        Refused(lists: "010910019000", status: "01a7", why: "cashback on a random service"),
        Refused(lists: "0109100380008001 8014", status: "03a8", why: "past the end"),
        Refused(lists: "01091001000001", status: "01a8", why: "block 256 of 20"),
    ]

    @Test(arguments: refusals) func refusedRead(_ refused: Refused) throws {
        #expect(Self.status(try Self.card().ask("06<I>\(refused.lists)")) == refused.status)
    }

    @Test(arguments: [("A4", "ffa1"), ("A5", "ffa2")]) func knobs(_ refusal: String, _ overLimit: String) throws {
        let word = overLimit.suffix(2).uppercased()
        let card = try Self.card("\"refusal\": \"\(refusal)\", \"overLimit\": \"\(word)\", \"blocksPerRead\": 2")
        #expect(Self.status(try card.ask("06<I>014810018000")) == "01\(refusal.lowercased())")
        #expect(Self.status(try card.ask("06<I>01091003800080018002")) == overLimit)
        #expect(Self.status(try card.ask("06<I>0109100280008001")) == "0000")
    }

    @Test(arguments: [
        ("ordinal", 3, "03"), ("ordinal", 10, "0a"), ("bitmap", 3, "04"), ("bitmap", 10, "02"), ("always255", 3, "ff"),
    ])
    func statusStyle(_ style: String, _ place: Int, _ flag: String) throws {
        let card = try Self.card("\"statusStyle\": \"\(style)\"")
        let elements = (1...12).map { $0 == place ? "8014" : "8000" }.joined()
        #expect(Self.status(try card.ask("06<I>0109100C\(elements)")) == flag + "a8")
    }

    @Test func fifteenBlocksFillAnAnswer() throws {
        let answer = try #require(try Self.card().ask("06<I>0109100F" + String(repeating: "8000", count: 15)))
        #expect(answer.count / 2 + 1 == 253)
    }

    @Test func threeByteElements() throws {
        let blocks = "\"1009\": {\"count\": 300, \"data\": {\"0100\": \"\(String(repeating: "AB", count: 16))\"}}"
        let card = try Self.card(blocks: blocks)
        let data = String(repeating: "ab", count: 16)
        #expect(try card.ask("06<I>01091001000001") == "0701020304050607080000 01\(data)".packed)
        #expect(try card.ask("06<I>010910028000000001") == "0701020304050607080000 02\(Self.zeros)\(data)".packed)
        #expect(Self.status(try card.ask("06<I>01091001002B01")) == "0000")
        #expect(Self.status(try card.ask("06<I>01091001002C01")) == "01a8")
        #expect(Self.status(try card.ask("06<I>0109100100FFFF")) == "01a8")
        #expect(try card.ask("06<I>010910010000") == nil)
    }

    @Test func serviceOf65536Blocks() throws {
        let card = try Self.card(blocks: "\"1009\": 65536")
        #expect(Self.status(try card.ask("06<I>0109100100FFFF")) == "0000")
    }

    @Test func overlappedServicesShareBlocks() throws {
        let card = try Self.card(blocks: "\"1009\": 2")
        let data = String(repeating: "cd", count: 16)
        #expect(Self.status(try card.ask("08<I>010910018001\(data)")) == "0000")
        #expect(try card.ask("06<I>010B10018001") == "07010203040506070800000 1\(data)".packed)
    }

    @Test func writesAreAtomic() throws {
        let card = try Self.card()
        let ones = String(repeating: "11", count: 16)
        #expect(Self.status(try card.ask("08<I>01091002 80008014\(ones)\(ones)")) == "02a8")
        #expect(try card.ask("06<I>010910018000")?.hasSuffix(Self.zeros) == true)
        #expect(Self.status(try card.ask("08<I>010B10018000\(ones)")) == "01a5")
        #expect(Self.status(try card.ask("08<I>014810018000\(ones)")) == "01a5")
        #expect(
            Self.status(try card.ask("08<I>0109100E" + String(repeating: "8000", count: 14) + ones)) == "ffa2")
        #expect(
            Self.status(
                try card.ask(
                    "08<I>0109100D" + String(repeating: "8000", count: 13) + String(repeating: ones, count: 13)))
                == "0000")
        card.losePower()
        #expect(try card.ask("06<I>010910018000")?.hasSuffix(ones) == true)
    }

    @Test func rejectsATooLongWrite() throws {
        let card = try Self.card("\"trailingBytes\": [\"08\"]")
        let ones = String(repeating: "11", count: 16)
        #expect(try card.ask("08<I>010910018000\(ones)00") == nil)
        #expect(try card.ask("06<I>010910018000")?.hasSuffix(Self.zeros) == true)
    }

    // MARK: cyclic and purse services

    @Test func cyclicServiceDropsTheOldestRecord() throws {
        let card = try Self.card(blocks: "\"100D\": 3")
        for byte in ["01", "02", "03", "04"] {
            #expect(Self.status(try card.ask("08<I>010D10018000" + String(repeating: byte, count: 16))) == "0000")
        }
        let answer = try #require(try card.ask("06<I>010D1003800080018002"))
        #expect(
            answer.dropFirst(24)
                == ["04", "03", "02"].map { String(repeating: $0, count: 16) }.joined())
        let four = String(repeating: "8000", count: 4) + String(repeating: Self.zeros, count: 4)
        #expect(Self.status(try card.ask("08<I>010D1004\(four)")) == "04af")
        #expect(try card.ask("06<I>010D10018000")?.hasSuffix(String(repeating: "04", count: 16)) == true)
    }

    struct PurseStep: CustomTestStringConvertible, Sendable {
        let service: String
        let mode: String
        let amount: String
        let status: String
        /// The first eight bytes afterwards: value and what was taken last.
        let after: String
        var testDescription: String { "\(service) mode \(mode) amount \(amount)" }
    }

    static let purseSteps: [PurseStep] = [
        PurseStep(service: "1110", mode: "80", amount: "07000000", status: "0000", after: "0700000009000000"),
        PurseStep(service: "1310", mode: "80", amount: "64000000", status: "0000", after: "8403000064000000"),
        PurseStep(service: "1510", mode: "80", amount: "64000000", status: "0000", after: "8403000064000000"),
        PurseStep(service: "1510", mode: "80", amount: "E9030000", status: "01 01", after: "E803000032000000"),
        PurseStep(service: "1510", mode: "90", amount: "01000000", status: "01a7", after: "E803000032000000"),
        PurseStep(service: "1110", mode: "90", amount: "01000000", status: "01a7", after: "E803000032000000"),
        PurseStep(service: "1310", mode: "90", amount: "32000000", status: "0000", after: "1A04000000000000"),
        PurseStep(service: "1310", mode: "90", amount: "33000000", status: "0102", after: "E803000032000000"),
        PurseStep(service: "1710", mode: "80", amount: "00000000", status: "01a5", after: "E803000032000000"),
    ]

    @Test(arguments: purseSteps) func purse(_ step: PurseStep) throws {
        let card = try VirtualFeliCaCard.from(
            """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368B868FBECBFF",
             "systems": [{"code": "FE00", "nodes": ["1013", "1015", "1017"],
                          "blocks": {"1011": ["E8030000320000000000000000000001"]}}]}
            """)
        let data = step.amount + "0900000000000000000000AA".prefix(24)
        #expect(Self.status(try card.ask("08<I>01\(step.service)01\(step.mode)00\(data)")) == step.status.packed)
        let after = try #require(try card.ask("06<I>011710018000"))
        #expect(after.dropFirst(24).prefix(16) == step.after.lowercased())
    }

    @Test func cashbackDoesNotOverflow() throws {
        let card = try Self.card(blocks: "\"1013\": [\"FEFFFFFF100000000000000000000000\"]")
        #expect(Self.status(try card.ask("08<I>0113100190 0002000000000000000000000000000001")) == "0101")
    }
}
