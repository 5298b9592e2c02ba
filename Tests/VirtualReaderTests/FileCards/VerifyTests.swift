// SPDX-License-Identifier: Apache-2.0

import ReaderCore
import Testing
import VirtualReader

@Suite("Cards of files: PINs")
struct VerifyTests {
    static let members = """
        "masterFile": {
          "pins": {"one": {"id": "0001", "reference": "81", "text": "1234", "lockedStatus": "6984"},
                   "two": {"id": "0002", "reference": "82", "value": "2a2a2a2a", "left": 1, "tellsTries": false}},
          "files": {"2F01": {"data": "01", "read": ["one"]}}},
        "applications": [
          {"aid": "a000000231", "files": {"0001": {"data": "02", "read": ["one", "two"], "update": ["one"]}}},
          {"aid": "d392f00026", "pins": {"own": {"id": "0018", "value": "31", "tries": 5}},
           "files": {"0002": {"data": "03", "read": ["own"]}}}]
        """

    private static func run(_ exchanges: [(String, String)], virtual: String = "{}") throws -> VirtualFileTree {
        let card = try FileCards.card(members, virtual: virtual)
        let reader = try FileCards.reader(card)
        for (command, response) in exchanges { #expect(try reader.apdu(command) == response, "\(command)") }
        return card.files
    }

    @Test func queryingCostsNoTry() throws {
        let files = try Self.run([
            ("00200081", "63c3"), ("00200081", "63c3"), ("00200082", "63c1"), ("00200083", "6a88"),
            ("00200080", "6986"), ("00a4020c020001", "9000"), ("00200080", "63c3"), ("0020008100", "6700"),
            ("00200181", "6a86"), ("00a4020c022f01", "9000"), ("00200080", "6981"),
        ])
        #expect(files.pin("one")?.triesLeft == 3)
        #expect(files.pin("two")?.triesLeft == 1)
    }

    @Test func wrongValuesCountAndTheRightOneRestores() throws {
        let files = try Self.run([
            ("002000810431323335", "63c2"), ("002000810431323335", "63c1"), ("00200081", "63c1"),
            ("002000810431323334", "9000"), ("00200081", "63c3"),
        ])
        #expect(files.pin("one")?.triesLeft == 3)
    }

    @Test func lockedPIN() throws {
        let files = try Self.run([
            ("002000810431323335", "63c2"), ("0020008103313233", "63c1"), ("00200081053132333435", "63c0"),
            ("00200081", "6984"), ("002000810431323334", "6984"),
            ("002000820431323334", "6300"), ("00200082", "6983"), ("00200082042a2a2a2a", "6983"),
        ])
        #expect(files.pin("one")?.triesLeft == 0)
        #expect(files.pin("two")?.triesLeft == 0)
    }

    @Test func filesOpenWhenTheirPINsWereVerified() throws {
        _ = try Self.run([
            ("00a4020c022f01", "9000"), ("00b0000000", "6982"), ("002000810431323334", "9000"),
            ("00a4020c022f01", "9000"), ("00b0000000", "019000"), ("00a4040c05a000000231", "9000"),
            ("00a4020c020001", "9000"), ("00b0000000", "6982"), ("00d60000017f", "9000"), ("00a40000", "9000"),
            ("00200082042a2a2a2a", "9000"), ("00a4040c05a000000231", "9000"), ("00a4020c020001", "9000"),
            ("00b0000000", "7f9000"),
        ])
    }

    @Test func forgetsAnApplicationPINOutsideTheApplication() throws {
        _ = try Self.run([
            ("00a4040c05d392f00026", "9000"), ("00a4020c020018", "9000"), ("00200080", "63c5"),
            ("002000800131", "9000"), ("00a4020c020002", "9000"), ("00b0000000", "039000"), ("00a40000", "9000"),
            ("00a4040c05d392f00026", "9000"), ("00a4020c020002", "9000"), ("00b0000000", "6982"),
        ])
    }

    @Test func otherFormsOfAnswers() throws {
        _ = try Self.run(
            [("00200081", "9000"), ("00200087", "6a82")],
            virtual: "{\"queryStatus\": \"9000\", \"unknownReference\": \"6A82\"}")
    }

    /// Counters stay when the card loses its power; what was verified does not.
    @Test func powerAndPINs() throws {
        let card = try FileCards.card(Self.members)
        let reader = try FileCards.reader(card)
        #expect(try reader.apdu("002000820431323334") == "6300")
        #expect(try reader.apdu("002000810431323334") == "9000")
        #expect(try reader.activate(.typeA()) != nil)
        #expect(try reader.apdu("00200082") == "6983")
        #expect(try reader.apdu("00a4020c022f01") == "9000")
        #expect(try reader.apdu("00b0000000") == "6982")
        #expect(card.commands.count == 5)
    }
}
