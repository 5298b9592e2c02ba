// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu apdu", .waits)
struct APDUTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(
        _ transcript: APDUTranscript, _ arguments: String..., environment: [String: String] = [:]
    ) throws -> ChildResult {
        try Kazasu.run(["apdu", "-r", try transcript.write(to: folder)] + arguments, environment: environment)
    }

    @Test("One answer a line: data and status word")
    func answers() throws {
        let transcript = APDUTranscript("00a4000c023f00:9000", "00b0810011:450b9000", "00b0820000:6a82")
        let words = ["00A4000C023F00", "00 b0 81 00 11", "0x00B0820000"]
        let plain = try run(transcript, words[0], words[1], words[2])
        #expect(plain.hasEnded(0))
        #expect(plain.output == "9000\n450B 9000\n6A82\n")
        #expect(plain.errors.isEmpty)
        let spaced = try run(transcript, words[0], words[1], words[2], "--hex-separator", "space")
        #expect(spaced.output == "9000\n45 0B 9000\n6A82\n")
        let redacted = try run(transcript, words[0], words[1], words[2], "--redact")
        #expect(redacted.output == "9000\n0000 9000\n6A82\n")
    }

    @Test("--redact keeps what was asked, and hides who the card belongs to and what it holds, in the trace too")
    func redacted() throws {
        let transcript = APDUTranscript("00b0810000:450b30309000", "00d60000023132:9000", "00b0820000:0501019000")
        let trace = "\(folder.path)/trace"
        let result = try run(transcript, "00B0810000", "00D60000023132", "00B0820000", "--redact", "--trace", trace)
        #expect(result.output == "00000000 9000\n9000\n000000 9000\n")
        let text = try folder.text("trace")
        for part in [
            #""pupi":"00000001""#, #""tx":"00b0810000","timeoutMs":5000,"rx":"000000009000","left":true"#,
            #""tx":"00d60000020000""#, #""rx":"0000009000","left":true"#,
        ] { #expect(text.contains(part), "\(text)") }
        #expect(!text.contains("11223344") && !text.contains("450b") && !text.contains("3132"))
    }

    @Test("One JSON document")
    func json() throws {
        let transcript = APDUTranscript("00a4000c023f00:9000", "00b0810011:450b9000")
        let result = try run(transcript, "00A4000C023F00", "00B0810011", "--json")
        #expect(
            result.output == """
                {
                  "schema": "kazasu.apdu/1",
                  "card": {
                    "technology": "typeB",
                    "pupi": "11223344",
                    "applicationData": "00000000",
                    "protocolInfo": "0081d1",
                    "bitRate": 106
                  },
                  "exchanges": [
                    {"tx": "00a4000c023f00", "data": "", "sw": "9000"},
                    {"tx": "00b0810011", "data": "450b", "sw": "9000"}
                  ]
                }

                """)
    }

    @Test("A script, with comments and expected status words")
    func script() throws {
        let transcript = APDUTranscript("00a4000c023f00:9000", "00b0810011:450b6282")
        let text = "# the MF\r\n00A4000C023F00 => 9000\r\n\r\n  00B0810011 => 9000|6282 # either\n"
        let path = try folder.write(Array(text.utf8), as: "card.apdu")
        #expect(try run(transcript, path).output == "9000\n450B 6282\n")
        let reader = try transcript.write(to: folder)
        let piped = try Kazasu.shell("kazasu apdu -r '\(reader)' - < '\(path)'")
        #expect(piped.output == "9000\n450B 6282\n")
    }

    @Test("Another status word than the expected one ends the run")
    func unexpected() throws {
        let transcript = APDUTranscript("00a4000c023f00:6a82")
        let result = try run(transcript, "00A4000C023F00 => 9000 61xx", "00B0810011")
        #expect(result.output == "6A82\n", "what came is shown")
        result.expectError(77, "APDU 1: 6A82 (file or application not found), expected 9000, 61xx")
        let json = try run(transcript, "00A4000C023F00=>9XXX", "--json", "--lang", "ja")
        #expect(json.output.contains(#""sw": "6A82""#))
        #expect(try json.errorDocument().required("reason").text() == "unexpectedStatus")
        #expect(try run(transcript, "00A4000C023F00 => 6Axx").hasEnded(0))
    }

    static let badScripts: [(text: String, what: String)] = [
        ("", "no APDU found"), ("# nothing\n\n", "no APDU found"),
        ("00A40000\n00A4\n", "line 2: malformed APDU"),
        ("hello", "line 1: not hexadecimal"), ("00A40000 => 90\n", "line 1: a status word is"),
        ("00A40000 PIN1", "PIN is only allowed after"), ("\u{0}\u{1}00", "line 1"),
    ]

    @Test("A script that is none", arguments: badScripts)
    func badScript(_ row: (text: String, what: String)) throws {
        let path = try folder.write(Array(row.text.utf8), as: "bad.apdu")
        let result = try run(APDUTranscript(), path)
        result.expectError(65, row.what)
        #expect(result.output.isEmpty)
    }

    @Test("Answers in parts are fetched, unless each is to be shown as it comes")
    func parts() throws {
        let transcript = APDUTranscript("00b0000000:6c02", "00b0000002:aa6101", "00c0000001:bb9000")
        #expect(try run(transcript, "00B0000000").output == "AABB 9000\n")
        let raw = try run(transcript, "--raw", "00B0000000", "00B0000002", "00C0000001")
        #expect(raw.output == "6C02\nAA 6101\nBB 9000\n")
    }

    @Test("No card, another card, a card that leaves")
    func cards() throws {
        var nothing = APDUTranscript()
        nothing.lines[2] = #"{"t":0,"op":"activate","request":{"technology":"typeB"},"picc":null}"#
        try run(nothing, "00A40000", "-t", "0").expectError(75, "no card came")
        var tag = nothing
        tag.lines.swapAt(1, 2)
        tag.lines[2] =
            #"{"t":0,"op":"activate","request":{"technology":"typeA"},"picc":{"technology":"typeA","#
            + #""uid":"04a1b2c3d4e5f6","isoDEP":false}}"#
        try run(tag, "00A40000", "-t", "0", "--type", "B,A").expectError(76, "does not accept APDUs")
        let lost = try run(APDUTranscript("00a40000:9000", "00b0000000:noAnswer"), "00A40000", "00B0000000", "--json")
        #expect(lost.hasEnded(74))
        #expect(lost.output.contains(#""sw": "9000""#), "what came is kept")
        try Kazasu.run("apdu", "00A40000", "-r", Card.fixture("edy"), "-t", "0").expectError(
            76, "expected an ISO-DEP card")
    }
}
