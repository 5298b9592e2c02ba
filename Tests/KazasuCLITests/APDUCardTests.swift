// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("kazasu apdu on a virtual card, through the real libnfc", .waits)
struct APDUCardTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A card with two PINs and a file of 600 bytes behind the first.
    private func card(left: Int = 3, virtual: String = "") throws -> String {
        try folder.card(
            """
            { "schema": "kazasu.card/1", "typeB": {},
              "masterFile": {
                "pins": { "one": { "reference": "81", "text": "2525", "left": \(left), "lockedStatus": "6984" },
                          "two": { "reference": "82", "text": "1234" } },
                "files": { "2F01": { "shortID": 1, "data": "450b303038" },
                           "0003": { "shortID": 3, "data": "110178", "size": 600, "fill": "FF", "read": ["one"] } } },
              "virtual": { \(virtual) } }
            """)
    }

    private func run(_ card: String, _ arguments: String..., secret: String = "2525") throws -> ChildResult {
        try Kazasu.run(
            ["apdu", "-r", card, "--pin1-from", "env:SECRET"] + arguments, environment: ["SECRET": secret])
    }

    @Test("Files behind a PIN are read after it")
    func verified() throws {
        let result = try run(
            try card(), "00B0830000 => 6982", "00200081 => 63C3", "00200081PIN => 9000", "00B0830003", "00B0835890",
            "00200082")
        #expect(result.hasEnded(0), "\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 6)
        #expect(lines[3] == "110178 9000")
        #expect(lines[4] == String(repeating: "FF", count: 144) + " 9000")
        #expect(lines[5] == "63C3")
    }

    @Test("A wrong PIN costs one try, and nothing behind it is sent")
    func wrong() throws {
        let result = try run(try card(), "00200081PIN1", "00B0830003", secret: "0000")
        result.expectError(77, "PIN 1 is wrong; 2 tries are left")
        #expect(result.output.isEmpty)
    }

    @Test("The last try is left alone", arguments: [0, 1])
    func lastTry(left: Int) throws {
        try run(try card(left: left), "00200081PIN1").expectError(77, left == 0 ? "is locked" : "1 try is left")
        #expect(try run(try card(left: left), "00200081").output == (left == 0 ? "6984\n" : "63C1\n"))
    }

    /// The answer to VERIFY is lost, whatever the reader asks for again: the card has counted, and says so.
    @Test("After a radio error the state is read and told", arguments: ["2525", "0000"])
    func interrupted(secret: String) throws {
        let faulty = try card(
            virtual: #""faults": [{ "fault": "silence", "of": "apdus", "command": "20", "at": 2 }]"#)
        let result = try run(faulty, "00200081PIN1", secret: secret)
        result.expectError(
            74, secret == "0000" ? "it counted as a wrong PIN: 2 tries are left" : "no try was used: 3 tries are left")
        #expect(result.errors.contains("it is not sent again"))
    }

    @Test("Lengths of three bytes, and what is too long for the reader")
    func extended() throws {
        let card = try card()
        // The PIN opens the file of 600 bytes; the second Le has three bytes: 00, 00C8.
        let part = try run(card, "00200081PIN1", "00A4020C020003", "00B000000000C8 => 9000")
        #expect(part.hasEnded(0), "\(part.errors)")
        #expect(part.output.hasSuffix("110178" + String(repeating: "FF", count: 197) + " 9000\n"))
        let whole = try run(card, "00200081PIN1", "00A4020C020003", "00B00000000000")
        whole.expectError(74, "the answer to APDU 3 is longer than the 258 bytes that this reader can pass on")
        #expect(whole.output == "9000\n9000\n")
        let long = try run(card, "00B0810002", "00D60000 00012C" + String(repeating: "AB", count: 300))
        long.expectError(64, "APDU 2 has 307 bytes; this reader can send 261")
        #expect(long.output == "450B 9000\n")
        try run(try self.card(virtual: #""extendedLength": false"#), "00B08100000002 => 9000")
            .expectError(77, "6700")
    }

    @Test("Answers in parts, and lengths that the card corrects")
    func parts() throws {
        let more = try card(virtual: #""longAnswers": "more""#)
        #expect(try run(more, "00B0810002").output == "450B 9000\n")
        let endless = try card(virtual: #""longAnswers": "more", "endlessMore": true"#)
        try run(endless, "00B0810002").expectError(74, "it has no end")
        let short = try card(virtual: #""longestAnswer": 1"#)
        try run(short, "00B0810002").expectError(74, "it is too short")
    }
}
