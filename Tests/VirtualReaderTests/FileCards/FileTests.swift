// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
import Testing
import VirtualReader

@Suite("Cards of files: selecting, reading, writing")
struct FileTests {
    static let members = """
        "masterFile": {"files": {"2F01": {"data": "450b303038200706", "shortID": 1}, "0002": "c0ffee"},
                       "information": "6f02830a"},
        "applications": [
          {"aid": "a0000002310100000000000000000000", "id": "DF01", "information": "6f048402a000",
           "files": {"0001": {"data": "000102030405060708090a0b0c0d0e0f", "size": 300, "fill": "ff", "shortID": 1,
                              "update": "always"},
                     "0003": {"records": ["aa01", "bb02"], "shortID": 3, "update": "always"},
                     "0004": {"data": "11", "read": "never"}, "0005": {"data": "11", "read": "6400"},
                     "0006": {"size": 0}},
           "dataObjects": {"0101": "1234"}},
          {"aid": "a0000002310200000000000000000000"},
          {"aid": "d2760000850101", "locked": true, "files": {"e103": "000f"}}]
        """

    struct Exchange: Sendable, CustomTestStringConvertible {
        let command: String
        let response: String
        /// What is selected before it.
        var before: [String] = []
        var testDescription: String { before.joined(separator: ", ") + " " + command }
    }

    static let df1 = "00a4040c10a0000002310100000000000000000000"

    static let exchanges: [Exchange] = [
        // SELECT
        Exchange(command: "00a40000", response: "9000"),
        Exchange(command: "00a40000023f00", response: "9000"),
        Exchange(command: "00a40000023f0000", response: "6f02830a9000"),
        Exchange(command: "00a4000c023f00", response: "9000"),
        Exchange(command: "00a4020c022f01", response: "9000"),
        Exchange(command: "00a4000c022f02", response: "6a82"),
        Exchange(command: "00a4020c0100", response: "6a82"),
        Exchange(command: df1, response: "9000"),
        Exchange(command: "00a4040010a000000231010000000000000000000000", response: "6f048402a0009000"),
        Exchange(command: "00a4040005a00000023100", response: "6f048402a0009000"),
        Exchange(command: "00a4040c05a000000232", response: "6a82"),
        Exchange(command: "00a4040c07d2760000850101", response: "6283"),
        Exchange(command: "00a4040e05a000000231", response: "9000", before: [df1]),
        Exchange(command: "00a4000c02df01", response: "9000"),
        Exchange(command: "00a4010c02df01", response: "9000"),
        Exchange(command: "00a4080c04df010001", response: "9000"),
        Exchange(command: "00a4080c03df0100", response: "6a82"),
        Exchange(command: "00a4090c020001", response: "9000", before: [df1]),
        Exchange(command: "00a4030c", response: "9000", before: [df1]),
        Exchange(command: "00a4050c", response: "6a86"),
        Exchange(command: "00a4001c", response: "6a86"),
        // READ BINARY
        Exchange(command: "00b0000004", response: "6986"),
        Exchange(command: "00b0000004", response: "450b30309000", before: ["00a4020c022f01"]),
        Exchange(command: "00b0000400", response: "382007069000", before: ["00a4020c022f01"]),
        Exchange(command: "00b0000408", response: "382007066282", before: ["00a4020c022f01"]),
        Exchange(command: "00b0000801", response: "6b00", before: ["00a4020c022f01"]),
        Exchange(command: "00b0000001", response: "6282", before: [df1, "00a4020c020006"]),
        Exchange(command: "00b0000000", response: "9000", before: [df1, "00a4020c020006"]),
        Exchange(command: "00b0810204", response: "020304059000", before: [df1]),
        Exchange(command: "00b0000002", response: "00019000", before: [df1, "00b0810204"]),
        Exchange(command: "00b0820000", response: "6a82", before: [df1]),
        Exchange(command: "00b0a10000", response: "6a86", before: [df1]),
        Exchange(command: "00b00000", response: "6700", before: [df1, "00b0810204"]),
        Exchange(command: "00b0830000", response: "6981", before: [df1]),
        Exchange(command: "00b0000000", response: "6982", before: [df1, "00a4020c020004"]),
        Exchange(command: "00b0000000", response: "6400", before: [df1, "00a4020c020005"]),
        Exchange(command: "00b1000103540102000007", response: "0203", before: []),
        Exchange(command: "00b100010354010207", response: "530202039000", before: [df1]),
        Exchange(command: "00b1000004540200010500", response: "6700", before: [df1]),
        Exchange(command: "00b10000045402000207", response: "530202039000", before: [df1, "00b0810204"]),
        Exchange(command: "00b1777703540102ff", response: "6a82", before: [df1]),
        // records
        Exchange(command: "00b2011c00", response: "aa019000", before: [df1]),
        Exchange(command: "00b2021c01", response: "bb9000", before: [df1]),
        Exchange(command: "00b2031c00", response: "6a83", before: [df1]),
        Exchange(command: "00b2001c00", response: "6a86", before: [df1]),
        Exchange(command: "00b2010400", response: "6981", before: [df1, "00b0810204"]),
        Exchange(command: "00b2010c00", response: "6981", before: [df1]),
        Exchange(command: "00b2021c00", response: "cc039000", before: [df1, "00dc021c02cc03"]),
        Exchange(command: "00dc021c03cc0304", response: "6700", before: [df1]),
        // UPDATE BINARY
        Exchange(command: "00b0810003", response: "00aabb9000", before: [df1, "00d6810102aabb"]),
        Exchange(command: "00d6012b0201ff", response: "6a84", before: [df1, "00b0810204"]),
        Exchange(command: "00d6012c01ff", response: "6b00", before: [df1, "00b0810204"]),
        Exchange(command: "00d6000001ff", response: "6982", before: ["00a4020c022f01"]),
        // others
        Exchange(command: "00ca010100", response: "12349000", before: [df1]),
        Exchange(command: "00ca010200", response: "6a88", before: [df1]),
        Exchange(command: "00c0000000", response: "6986"),
        Exchange(command: "00e20000", response: "6d00"),
        Exchange(command: "80ca9f7f00", response: "6e00"),
        Exchange(command: "01a40000", response: "6881"),
        Exchange(command: "0ca40000", response: "6882"),
        Exchange(command: "00a400", response: "6700"),
        Exchange(command: "00a40000033f00", response: "6700"),
        Exchange(command: "00a4040000", response: "6a82"),
    ].filter { $0.response != "0203" }

    @Test(arguments: exchanges) func commandAndResponse(_ exchange: Exchange) throws {
        let reader = try FileCards.reader(FileCards.card(Self.members))
        for command in exchange.before { #expect(try reader.apdu(command).count >= 4) }
        #expect(try reader.apdu(exchange.command) == exchange.response)
    }

    @Test func extendedLengths() throws {
        let reader = try FileCards.reader(FileCards.card(Self.members))
        _ = try reader.apdu(Self.df1)
        #expect(try reader.apdu("00b0810000012c").count == 604)
        #expect(try reader.apdu("00b08100000000").count == 604)
        #expect(try reader.apdu("00b0810000012d").hasSuffix("6282"))
        #expect(try reader.apdu("00d6810000000102") == "9000")
        let strict = try FileCards.reader(FileCards.card(Self.members, virtual: "{\"extendedLength\": false}"))
        #expect(try strict.apdu("00b0810000012c") == "6700")
    }

    @Test func commandsInAChain() throws {
        let reader = try FileCards.reader(FileCards.card(Self.members))
        _ = try reader.apdu(Self.df1)
        #expect(try reader.apdu("10d6810002a1a2") == "9000")
        #expect(try reader.apdu("00d6810002a3a4") == "9000")
        #expect(try reader.apdu("00b0810005") == "a1a2a3a4049000")
    }

    struct Odd: Sendable, CustomTestStringConvertible {
        let virtual: String
        let commands: [(String, String)]
        var testDescription: String { virtual }
    }

    static let odd: [Odd] = [
        Odd(
            virtual: "{\"longAnswers\": \"more\"}",
            commands: [
                ("00a4020c022f01", "9000"), ("00b0000004", "6104"), ("00c0000002", "450b6102"),
                ("00c0000000", "30309000"),
                ("00c0000000", "6986"), ("00a40000023f00", "6104"), ("00c0000004", "6f02830a9000"),
            ]),
        Odd(
            virtual: "{\"longAnswers\": \"more\", \"endlessMore\": true}",
            commands: [
                ("00a4020c022f01", "9000"), ("00b0000004", "6104"), ("00c0000004", "450b30306104"),
                ("00c0000004", "450b30306104"),
            ]),
        Odd(
            virtual: "{\"longAnswers\": \"wrongLength\"}",
            commands: [("00a40000023f0002", "6c04"), ("00a40000023f0004", "6f02830a9000")]),
        Odd(
            virtual: "{\"endOfFile\": \"6Cxx\"}",
            commands: [("00a4020c022f01", "9000"), ("00b0000408", "6c04"), ("00b0000400", "382007069000")]),
        Odd(
            virtual: "{\"endOfFile\": \"9000\", \"longestRead\": 3}",
            commands: [("00a4020c022f01", "9000"), ("00b0000408", "3820079000"), ("00b0000708", "069000")]),
        Odd(
            virtual: "{\"endOfFile\": \"6B00\"}",
            commands: [("00a4020c022f01", "9000"), ("00b0000408", "6b00"), ("00b0000404", "382007069000")]),
        Odd(virtual: "{\"refusedP2\": [\"0C\"]}", commands: [("00a4000c023f00", "6a86"), ("00a40000023f00", "9000")]),
        Odd(virtual: "{\"longestAnswer\": 1}", commands: [("00a40000", "90")]),
        Odd(virtual: "{\"longestAnswer\": 0}", commands: [("00a40000", "")]),
        Odd(virtual: "{\"statusWords\": {\"A4\": \"6F00\"}}", commands: [("00a40000", "6f00"), ("00e20000", "6d00")]),
        Odd(
            virtual: "{\"answers\": {\"9060000000\": [\"04\", \"0591af\"], \"90af000000\": \"9100\"}}",
            commands: [
                ("9060000000", "04"), ("9060000000", "0591af"), ("9060000000", "0591af"), ("90af000000", "9100"),
            ]),
        Odd(
            virtual: "{\"waitingTimeExtensions\": 3, \"waitingTimeMultiplier\": 2}", commands: [("00a40000", "9000")]),
    ]

    @Test(arguments: odd) func oddities(_ odd: Odd) throws {
        let reader = try FileCards.reader(FileCards.card(Self.members, virtual: odd.virtual))
        for (command, response) in odd.commands { #expect(try reader.apdu(command) == response) }
    }

    @Test func cardThatRequestsTimeForever() throws {
        let card = try FileCards.card(Self.members, virtual: "{\"waitingTimeExtensions\": \"endless\"}")
        let reader = try FileCards.reader(card)
        #expect(throws: TransportError.cardTooSlow) { try reader.apdu("00a40000") }
        let slow = try FileCards.card(Self.members, virtual: "{\"answerMilliseconds\": 1001}")
        #expect(throws: TransportError.noAnswer) { try FileCards.reader(slow).apdu("00a40000") }
    }

    @Test func limitsOfTheReader() throws {
        let reader = try FileCards.reader(FileCards.card(Self.members), apdu: 20)
        #expect(throws: TransportError.frameTooLong(length: 21, limit: 20)) { try reader.apdu(Self.df1) }
        #expect(throws: TransportError.answerTooLong) {
            _ = try reader.apdu("00a4040c06a00000023101")
            _ = try reader.apdu("00b0810000")
        }
    }
}
