// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

@Suite("PN532: cards of type A and B")
struct ISOChipTests {
    /// What the chip answers to commands, with the cards of a fixture before it.
    private static func answers(_ commands: [String], _ fixture: String) throws -> [String] {
        try answers(commands, VirtualField(cardFile: TestFiles.read("Fixtures/virtual/\(fixture).json")))
    }

    private static func answers(_ commands: [String], _ field: VirtualField) throws -> [String] {
        let line = VirtualLine(
            try ["d43205000000"].map { try HostBytes(command: $0) } + commands.map { try HostBytes(command: $0) })
        PN532Chip(field: field, line: line).run()
        let answers = line.sent.map(\.bytes).filter { Hex.encode($0) != ChipBench.ack }.map(ChipBench.content)
        return Array(answers.dropFirst())
    }

    private static let ntag = "d54b01010044000704a8d862bc2b80"
    private static let type4 = "d54b01010344200704517ce1ed2580" + "0578008102"

    @Test func findsAndReadsATag() throws {
        let answers = try Self.answers(
            ["d44a0100", "d440013000", "d44001a20e01020304", "d44001300e", "d4400130ff", "d440013000"], "ntag213")
        #expect(answers[0] == Self.ntag)
        #expect(answers[1] == "d5410004a8d8fc62bc2b8075480000e1101200")
        #expect(answers[2] == "d54100", "ACK is success without data")
        #expect(answers[3].hasPrefix("d5410001020304"))
        #expect(answers[4] == "d54113", "NAK is an error")
        #expect(answers[5] == "d54101", "and the tag has to be selected again")
    }

    /// The firmware takes 60 for a MIFARE Classic authentication; InCommunicateThru sends it as it is.
    @Test func getVersionUsesNativeCommands() throws {
        let answers = try Self.answers(["d44a0100", "d44260", "d4400160", "d44260"], "ntag213")
        #expect(answers.dropFirst() == ["d543000004040201000f03", "d54114", "d543000004040201000f03"])
    }

    @Test func compatibilityWriteInOneCommand() throws {
        let answers = try Self.answers(
            ["d44a0100", "d44001a01011223344" + String(repeating: "00", count: 12), "d440013010"], "ntag213")
        #expect(answers[1] == "d54100")
        #expect(answers[2].hasPrefix("d5410011223344"))
    }

    private static func card(rates: String, quirks: String = "") throws -> VirtualField {
        let text = """
            {"schema":"kazasu.card/1","typeA":{"uid":"04517ce1ed2580","ats":"0578\(rates)8102"},
             "masterFile":{"files":{"2F01":"0102030405060708090a0b0c0d0e0f101112"}},"virtual":{"quirks":[\(quirks)]}}
            """
        return try VirtualField(cardFile: Array(text.utf8))
    }

    /// The frame in place of an answer to a command that the chip refuses.
    private static let error = "0000ff01ff7f8100"
    private static let readAll = ["d4400100a4020c022f01", "d4400100b0000012"]
    private static let whole = "d541000102030405060708090a0b0c0d0e0f1011129000"

    /// InPSL by the speeds of the ATS; GetGeneralStatus gives them, and type A, FeliCa and cards that are halted have none.
    @Test func changesBitRates() throws {
        let field = try Self.card(rates: "73")
        let answers = try Self.answers(["d44a0100", "d44e010202", "d404"] + Self.readAll + ["d4420100"], field)
        #expect(answers[1...].prefix(4) == ["d54f00", "d505000001010202" + "0000", "d541009000", Self.whole])
        let speeds = ["d44e010201", "d44e010103", "d44e0102", "d44e020101"]
        let refused = try Self.answers(["d44a0100"] + speeds, Self.card(rates: "91"))
        #expect(refused.dropFirst() == ["d54f01", Self.error, Self.error, "d54f27"])
        #expect(try Self.answers(["d44a0100", "d44e010101"], "ntag213").last == "d54f27")
    }

    /// PPS comes right after RATS, and the speed ends with the session.
    @Test func bitRatesEndWithTheSession() throws {
        let late = try Self.answers(["d44a0100", Self.readAll[0], "d44e010202"], Self.card(rates: "77"))
        #expect(late.last == "d54f01")
        let again = try Self.answers(
            ["d44a0100", "d44e010202", "d4440100", "d4540100", Self.readAll[0], Self.readAll[1]], Self.card(rates: "77")
        )
        #expect(again.suffix(2) == ["d541009000", Self.whole])
    }

    @Test(arguments: ["dep-pps-mute", "dep-pps-deaf", "dep-pps-damage", "no-psl"])
    func bitRatesThatFail(_ quirk: String) throws {
        let commands = ["d44a0100", "d44e010202"] + Self.readAll
        let answers = try Self.answers(commands, Self.card(rates: "77", quirks: "\"\(quirk)\"")).dropFirst()
        let expected =
            switch quirk {
            case "dep-pps-mute": ["d54f01", "d541009000", Self.whole]
            case "dep-pps-deaf": ["d54f00", "d54101", "d54101"]
            case "dep-pps-damage": ["d54f00", "d541009000", "d54102"]
            default: [Self.error, "d541009000", Self.whole]
            }
        #expect(Array(answers) == expected)
    }

    /// At 424 kbit/s a frame takes a quarter of the time.
    @Test func fasterFramesTakeLessTime() {
        for technology in [RadioTechnology.typeA, .typeB] {
            let slow = TimeModel.airTime(64, technology)
            for (rate, factor) in [(ISOBitRate.kbps212, 2), (.kbps424, 4)] {
                let difference = slow - TimeModel.airTime(64, technology, rate) * factor
                #expect(difference < .nanoseconds(10) && difference > .nanoseconds(-10))
            }
        }
    }

    /// nfcpy switches the check of the CRC off to see ACK and NAK.
    @Test func acknowledgeWithAndWithoutChecksum() throws {
        let write = "d442a20e01020304"
        let answers = try Self.answers(
            ["d44a0100", write, "d408630300", write, "d406633c", "d4423000", "d44230ff"], "ntag213")
        #expect(answers[1] == "d54302")
        #expect(answers[3] == "d543000a")
        #expect(answers[4] == "d50704", "four bits came")
        let pages = "04a8d8fc62bc2b8075480000e1101200"
        #expect(answers[5] == "d54300" + pages + Self.checksum(pages))
        #expect(answers[6] == "d5430000")
    }

    /// REQA of seven bits, anticollision and SELECT with CRCs of the host, as nfc-anticol does it.
    @Test func anticollisionByHand() throws {
        let answers = try Self.answers(
            [
                "d408630200630300630403", "d408633d07", "d44226", "d406633c", "d408633d00",
                "d4429320", "d44293708804a8d8fc" + Self.checksum("93708804a8d8fc"), "d4429520",
                "d442957062bc2b8075" + Self.checksum("957062bc2b8075"), "d4425000" + Self.checksum("5000"),
            ], "ntag213")
        #expect(answers[2] == "d543004400")
        #expect(answers[3] == "d50700")
        #expect(answers[5] == "d543008804a8d8fc")
        #expect(answers[6] == "d5430004" + Self.checksum("04"))
        #expect(answers[7] == "d5430062bc2b8075")
        #expect(answers[8] == "d5430000" + Self.checksum("00"))
        #expect(answers[9] == "d54301")
    }

    private static func checksum(_ text: String) -> String {
        Hex.encode(ISOChecksum.bytes(of: (try? Hex.decode(text)) ?? [], .typeA))
    }

    /// The CRCs of the public vectors (PT10).
    @Test func checksums() {
        #expect(ISOChecksum.bytes(of: [0x30, 0x00], .typeA) == [0x02, 0xA8])
        #expect(ISOChecksum.bytes(of: [0xE0, 0x80], .typeA) == [0x31, 0x73])
        #expect(ISOChecksum.bytes(of: [0x05, 0x00, 0x08], .typeB) == [0x39, 0x73])
    }

    private static let selectTag = "d4400100a4040007d276000085010100"

    @Test func applicationsOnTypeA() throws {
        let answers = try Self.answers(
            [
                "d44a0100", Self.selectTag, "d4400100a4000c02e104", "d4400100b0000000", "d4400100b0000031ff", "d404",
                "d40006",
            ],
            "type4")
        #expect(answers[0] == Self.type4)
        #expect(answers[1] == "d541009000")
        #expect(answers[2] == "d541009000")
        #expect(answers[3].count == 6 + 512 + 4)
        #expect(answers[4] == "d541006700")
        #expect(answers[5] == "d505000001010000" + "0000")
        #expect(answers[6] == "d50100")
    }

    @Test func withoutAutomaticRATS() throws {
        let answers = try Self.answers(
            ["d41204", "d44a0100", "d442e080", "d4420200a4000c023f00", "d442b2", "d442c2", "d442b2"], "type4")
        #expect(answers[1] == "d54b01010344200704517ce1ed2580")
        #expect(answers.dropFirst(2) == ["d543000578008102", "d54300029000", "d54300029000", "d54300c2", "d54301"])
    }

    /// Command code 03, CID 1, the answer to ATTRIB after its length.
    @Test func applicationsOnTypeB() throws {
        let answers = try Self.answers(["d44a010300", Self.selectTag, "d442b2", "d442ba01", "d40006"], "type4-b")
        #expect(answers[0] == "d54b010150e8253eec0000001100818501" + "01")
        #expect(answers[1] == "d541009000")
        #expect(answers[2] == "d54301", "no CID")
        #expect(answers[3].hasPrefix("d54300"))
        #expect(answers[4] == "d50100")
    }

    /// A card that was let go of is halted: it is found again when the field was off, or by InSelect.
    @Test(arguments: ["d44401", "d45201", "d44400"]) func haltedCards(command: String) throws {
        let answers = try Self.answers(
            [
                "d44a0100", command, Self.selectTag, "d44a0100", "d4320100", "d4320101",
                "d44a0100", Self.selectTag, "d44401", "d45401", Self.selectTag,
            ], "type4")
        #expect(answers[1].hasSuffix("00"))
        #expect(answers[2] == "d54129")
        #expect(answers[3] == "d54b00")
        #expect(answers[6] == Self.type4)
        #expect(answers[7] == "d541009000")
        #expect(answers.dropFirst(8) == ["d54500", "d55500", "d541009000"])
    }

    @Test func findsACardByItsUID() throws {
        let answers = try Self.answers(
            ["d44a01008804a8d862bc2b80", "d44a01008804a8d862bc2b81", "d44a0100010203"], "ntag213")
        #expect(answers == [Self.ntag, "d54b00", ChipBench.error])
    }

    /// Two targets, asked in turn: the chip halts the one and wakes the other.
    @Test func twoTargets() throws {
        let field = VirtualField(
            cards: try [[0x04, 1, 2, 3, 4, 5, 6], [0x04, 9, 8, 7, 6, 5, 4]].map {
                VirtualType2Tag(try #require(Type2Memory(.ultralight, uid: $0)))
            })
        let answers = try Self.answers(
            ["d44a0200", "d440013000", "d440023000", "d440013000", "d404", "d440033000"], field)
        #expect(answers[0] == "d54b02" + "010044000704010203040506" + "020044000704090807060504")
        #expect(answers[1].hasPrefix("d54100040102"))
        #expect(answers[2].hasPrefix("d54100040908"))
        #expect(answers[3] == answers[1])
        #expect(answers[4] == "d5050000020100000002000000" + "00")
        #expect(answers[5] == "d54127")
    }

    @Test func twoTargetsInISODEP() throws {
        let text = """
            {"schema": "kazasu.card/1", "cards": [
              {"typeA": {"uid": "01020304"}, "virtual": {"answers": {"01": "0a"}}},
              {"typeA": {"uid": "05060708"}, "virtual": {"answers": {"01": "0b"}}}]}
            """
        let field = try VirtualField(cardFile: Array(text.utf8))
        let answers = try Self.answers(["d44a0200", "d4400101", "d4400201", "d4400101"], field)
        #expect(answers[0].hasPrefix("d54b02"))
        #expect(answers.dropFirst() == ["d541000a", "d541000b", "d541000a"])
    }

    @Test func autoPollReportsTheKind() throws {
        #expect(try Self.answers(["d460010100"], "ntag213") == ["d5610110" + "0c" + Self.ntag.dropFirst(6)])
        #expect(try Self.answers(["d460010110"], "type4") == ["d56100"])
        #expect(try Self.answers(["d46001012010"], "ntag213").first?.hasPrefix("d5610110") == true)
        #expect(try Self.answers(["d460010120"], "type4") == ["d5610120" + "11" + Self.type4.dropFirst(6)])
        #expect(try Self.answers(["d460010123"], "type4-b").first?.hasPrefix("d5610123" + "0f0150e8253eec") == true)
        #expect(try Self.answers(["d46001011123"], "phone").first?.hasPrefix("d56101111301120101300102") == true)
    }

    /// A card that is away in the middle of an exchange, and one that answers nonsense.
    @Test(arguments: [("silence", "01"), ("absent", "01"), ("damaged", "02")])
    func lostAnswers(fault: String, status: String) throws {
        let text = """
            {"schema": "kazasu.card/1", "typeA": {"uid": "01020304"},
             "virtual": {"faults": [{"fault": "\(fault)", "at": 1, "of": "apdus"}]}}
            """
        let field = try VirtualField(cardFile: Array(text.utf8))
        #expect(try Self.answers(["d44a0100", "d4400100a40000"], field).last == "d541" + status)
    }

    @Test func longAnswersComeInParts() throws {
        let text = """
            {"schema": "kazasu.card/1", "typeA": {"uid": "01020304"},
             "masterFile": {"files": {"0001": {"size": 600, "fill": "5A", "shortID": 1}}}}
            """
        let field = try VirtualField(cardFile: Array(text.utf8))
        let answers = try Self.answers(["d44a0100", "d4400100b08100000258", "d44001", "d44001"], field)
        #expect(answers[1].hasPrefix("d541405a"))
        #expect(answers[2].hasPrefix("d541405a"))
        #expect(answers[3].hasPrefix("d541005a"))
        let sizes = answers.dropFirst().map { $0.count / 2 - 3 }
        #expect(sizes.reduce(0, +) == 602)
    }

    /// Random host commands on every kind of card: the chip answers all of them.
    @Test(arguments: ["ntag213", "ultralight", "type4", "type4-b", "phone"]) func randomCommands(_ fixture: String)
        throws
    {
        var random = SeededGenerator(seed: 0x1502)
        let starts = [
            "d44a0100", "d44a0200", "d44a010300", "d44001", "d44002", "d442", "d44401", "d45201", "d45401", "d40006",
            "d404", "d46001010020", "d4086302", "d4086303", "d408633d", "d4120", "d432010",
        ]
        var commands: [String] = []
        for _ in 0..<400 {
            var text = starts.randomElement(using: &random) ?? ""
            if text.count % 2 == 1 { text += Bool.random(using: &random) ? "0" : "1" }
            for _ in 0..<Int.random(in: 0...7, using: &random) {
                text += Hex.encode([UInt8.random(in: 0...0xFF, using: &random)])
            }
            commands.append(text)
        }
        let answers = try Self.answers(commands, fixture)
        #expect(answers.count == commands.count)
    }
}
