// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ReaderCore
import Testing
import VirtualReader

/// Systems, Polling, and what a card answers by its IC.
struct SystemTests {
    static func card(systems: [String], virtual: String = "", pmm: String = "01368B868FBECBFF") throws
        -> VirtualFeliCaCard
    {
        let list = systems.map { "{\"code\": \"\($0)\", \"blocks\": {\"100B\": 1}}" }.joined(separator: ",")
        return try .from(
            """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "\(pmm)", "systems": [\(list)],
             "virtual": {\(virtual)}}
            """)
    }

    static let sixteen = (0..<16).map { "FE" + Hex.encode($0, digits: 2) }

    @Test func sixteenSystemsHaveAnIDmEach() throws {
        let card = try Self.card(systems: Self.sixteen)
        for (number, code) in Self.sixteen.enumerated() {
            let idm = Hex.encode(number, digits: 1) + "102030405060708"
            #expect(try card.ask("00\(code)0100") == "01\(idm)01368b868fbecbff\(code)".lowercased())
            #expect(try card.ask("06\(idm)010B10018000")?.dropFirst(18).hasPrefix("000001") == true)
        }
        #expect(try card.ask("0C<I>") == "0d010203040506070810" + Self.sixteen.joined().lowercased())
    }

    @Test func idmSwitchesTheSystem() throws {
        let card = try VirtualFeliCaCard.from(
            """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368B868FBECBFF", "systems": [
              {"code": "0003", "blocks": {"100B": 1}}, {"code": "FE00", "blocks": {"200B": 1}}]}
            """)
        #expect(try card.ask("02<I>02 0B10 0B20") == "03010203040506070802 0000 ffff".packed)
        #expect(try card.ask("02110203040506070802 0B10 0B20") == "03110203040506070802 ffff 0000".packed)
        #expect(try card.ask("02210203040506070802 0B10 0B20") == nil)
    }

    @Test(arguments: [
        ("FFFF", "0003"), ("FEFF", "FE00"), ("FF0F", "FE0F"), ("86FF", "86A7"), ("FFA7", "86A7"), ("12FF", nil),
    ])
    func wildcards(_ wanted: String, _ found: String?) throws {
        let card = try Self.card(systems: ["0003", "FE00", "FE0F", "86A7"])
        #expect(try card.ask("00\(wanted)0100")?.suffix(4) == found.map { Substring($0.lowercased()) })
    }

    @Test func unlistedSystemsAnswerPolling() throws {
        let card = try Self.card(systems: ["0003", "12FC"], virtual: "\"unlistedSystems\": [\"12FC\"]")
        #expect(try card.ask("0C<I>") == "0d0102030405060708010003")
        #expect(try card.ask("0012FC0100")?.hasSuffix("12fc") == true)
    }

    @Test(arguments: [0x00, 0x01, 0x03, 0x07, 0x0F] as [UInt8]) func timeSlots(_ mask: UInt8) throws {
        let card = try Self.card(systems: ["0003"])
        var seen: Set<Duration> = []
        for _ in 0..<400 {
            let answer = try #require(card.answer([0x06, 0x00, 0xFF, 0xFF, 0x00, mask], at: .kbps212))
            seen.insert(answer.thinkingTime)
        }
        let slots = (0...Int(mask)).map { Duration.nanoseconds(2_416_519) + .nanoseconds(1_208_260) * $0 }
        #expect(seen == Set(slots))
    }

    @Test func pollingWithUnknownRequestCodeHasNoData() throws {
        let card = try Self.card(systems: ["0003"], virtual: "\"requestCodes\": [1]")
        #expect(try card.ask("00FFFF0200") == "01010203040506070801368b868fbecbff")
        #expect(try card.ask("00FFFF0100") == "01010203040506070801368b868fbecbff0003")
    }

    /// nfcpy's time-outs for a PMm of FF: 2 nodes 0.463872 s, fixed 0.154624 s, 2 blocks 0.4640256 s; its unit is
    /// 302.0 or 302.1 µs where the formula has 302.065.
    @Test(arguments: [
        ("02<I>0209004900", 463_872), ("0C<I>", 154_624), ("06<I>010B10018000", 309_248),
    ])
    func answersTakeATenthOfThePMmMaximum(_ request: String, _ microseconds: Int) throws {
        let card = try Self.card(systems: ["0003"], pmm: "01FFFFFFFFFFFFFF")
        let bytes = try Vector.bytes(request)
        let answer = try #require(card.answer([UInt8(bytes.count + 1)] + bytes, at: .kbps212))
        let (low, high) = (Duration.microseconds(microseconds) / 10, Duration.microseconds(microseconds + 200) / 10)
        #expect((low...high).contains(answer.thinkingTime))
    }

    @Test func answerTimeCanBeSet() throws {
        let card = try Self.card(systems: ["0003"], virtual: "\"answerTime\": 0")
        #expect(card.answer([0x0A, 0x0C, 1, 2, 3, 4, 5, 6, 7, 8], at: .kbps212)?.thinkingTime == .zero)
    }

    // MARK: what each IC answers

    struct IC: CustomTestStringConvertible, Sendable {
        let pmm: String
        /// The first bytes of the commands that it answers, of those in `asked`.
        let answers: String
        let blocksPerRead: Int
        var testDescription: String { pmm.prefix(4) + "" }
    }

    static let asked: [(code: String, body: String)] = [
        ("00", "FFFF0000"), ("02", "<I>010B10"), ("04", "<I>"), ("0A", "<I>0000"), ("0C", "<I>"),
        ("0E", "<I>010B10"), ("1A", "<I>00000100"), ("1E", "<I>010B10"), ("24", "<I>0000"), ("28", "<I>01010B10"),
        ("32", "<I>010B10"), ("3E", "<I>0000"), ("F0", "00"), ("10", "<I>"), ("14", "<I>"),
    ]

    static let ics: [IC] = [
        IC(pmm: "0200FFFFFFFFFFFF", answers: "00 02 04 0A 0C", blocksPerRead: 12),
        IC(pmm: "0300FFFFFFFFFFFF", answers: "00 02 04", blocksPerRead: 12),
        IC(pmm: "0301FFFFFFFFFFFF", answers: "00 02 04 0A 0C F0", blocksPerRead: 12),
        IC(pmm: "010BFFFFFFFFFFFF", answers: "00 02 04 0A 0C F0", blocksPerRead: 12),
        IC(pmm: "0120220427674EFF", answers: "00 02 04 0A 0C F0", blocksPerRead: 12),
        IC(pmm: "0224FFFFFFFFFFFF", answers: "00 02 04 0C", blocksPerRead: 12),
        IC(pmm: "0531FFFFFFFFFFFF", answers: "00 02 04 0A 0C 32 3E F0", blocksPerRead: 15),
        IC(pmm: "0136FFFFFFFFFFFF", answers: "00 02 04 0A 0C 32 3E F0", blocksPerRead: 15),
        IC(pmm: "043BFFFFFFFFFFFF", answers: "00 02 04 0A 0C 28 32 3E F0", blocksPerRead: 15),
        IC(pmm: "0116FFFFFFFFFFFF", answers: "00 02 04 0A 0C 32 3E F0", blocksPerRead: 15),
        IC(pmm: "0118FFFFFFFFFFFF", answers: "00 02 04 0A 0C 0E 1A 1E 24 32 3E F0", blocksPerRead: 15),
        IC(pmm: "FFFFFFFFFFFFFFFF", answers: "00 02 04 0A 0C 32 3E F0", blocksPerRead: 15),
    ]

    @Test(arguments: ics) func commandsByIC(_ ic: IC) throws {
        let card = try Self.card(systems: ["0003"], pmm: ic.pmm)
        let answered = try Self.asked.filter { try card.ask($0.code + $0.body) != nil }.map(\.code)
        #expect(answered.joined(separator: " ") == ic.answers)
        #expect(card.profile.blocksPerRead == ic.blocksPerRead)
        let elements = String(repeating: "8000", count: ic.blocksPerRead + 1)
        let over = try card.ask("06<I>010B10\(Hex.encode(ic.blocksPerRead + 1, digits: 2))\(elements)")
        #expect(over?.hasSuffix("ffa2") == true)
    }

    @Test func ic20IgnoresTooLongCommands() throws {
        let card = try Self.card(systems: ["0003"], pmm: "0120220427674EFF")
        #expect(try card.ask("00FFFF000000") == nil)
        #expect(try card.ask("0C<I>00") == nil)
        #expect(try card.ask("04<I>00") == "05010203040506070800")
    }

    @Test(arguments: [("0910", true), ("3710", false), ("2010", false), ("FFFF", true), ("3F10", false)])
    func ic24SupportsStandardAttributesOnly(_ node: String, _ answered: Bool) throws {
        let card = try Self.card(systems: ["0003"], pmm: "0224FFFFFFFFFFFF")
        #expect((try card.ask("02<I>02 0B10 \(node)") != nil) == answered)
    }

    @Test func polls424OnlyWhenSupported() throws {
        let card = try Self.card(systems: ["0003"], virtual: "\"bitRates\": [212]")
        #expect(try card.ask("00FFFF0000", at: .kbps424) == nil)
        #expect(try card.ask("0C<I>", at: .kbps424) == nil)
        #expect(try card.ask("00FFFF0000") != nil)
    }
}
