// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Numbers and names of cards under --redact")
struct RedactedNumberTests {
    /// A card, a part of what is personal on it as its bytes, and as its decoder shows it.
    struct Example: CustomTestStringConvertible, Sendable {
        let card: String
        let bytes: String
        let shown: String
        var testDescription: String { card }

        init(_ card: String, _ bytes: String, _ shown: String) {
            (self.card, self.bytes, self.shown) = (card, bytes, shown)
        }
    }

    static let examples = [
        Example("ecomyca", "0012345678901234", "0012345678901234"),
        Example("ryuto", "0012345678901234", "0012345678901234"),
        Example("kmt", "3132333435363738", "12345678"),
        Example("mrtj", "28010101264a0001", "28010101264A0001"),
        Example("hcmc", "0102030000000000", "0102030000000000"),
        Example("fcf", "5441524f", "TARO"),
        Example("gifu-university", "5a313233", "Z123"),
    ]

    @Test("They are in no dump and no report", arguments: examples)
    func masked(_ example: Example) throws {
        let plain = try Kazasu.run("dump", "--json", "-r", Card.fixture(example.card))
        #expect(plain.output.contains(example.bytes), "the example is right")
        let masked = try Kazasu.run("dump", "--json", "--redact", "-r", Card.fixture(example.card))
        #expect(masked.end == .exited(0) && !masked.output.contains(example.bytes))
        let shown = try Kazasu.run("decode", "--json", Card.file(example.card))
        #expect(shown.output.contains(example.shown), "the example is right")
        let hidden = try Kazasu.run("decode", "--json", "--redact", Card.file(example.card))
        #expect(hidden.end == .exited(0) && !hidden.output.contains(example.shown))
    }

    /// The number is in block 0 of service 110B.
    @Test("Raw packets: as in a trace, in what is sent and in what is answered", arguments: [[], ["--json"]])
    func rawPackets(options: [String]) throws {
        let read = "06IDM010B11018000"
        let card = Card.fixture("edy")
        func run(_ packet: String, _ more: String...) throws -> String {
            let result = try Kazasu.run(
                ["felica", "--system", "FE00", packet, "-r", card, "--answer-timeout", "50"] + options + more)
            return (result.output + result.errors).lowercased()
        }
        #expect(try run(read).contains("1234567890123456"), "the example is right")
        let masked = try run(read, "--redact")
        #expect(!masked.contains("1234567890123456"))
        #expect(masked.contains("00000000000000000000000000000000") && !masked.contains("0312abcd0042"))
        // What is written is its user's, and of other commands nobody knows what they carry.
        for packet in ["08IDM010B110180005A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A", "D0IDM5A5A5A5A"] {
            #expect(try !run(packet, "--redact").contains("5a5a"))
        }
    }

    @Test("Writing, in a trace")
    func tracedWrite() throws {
        let folder = try TemporaryFolder()
        let trace = "\(folder.path)/trace"
        let packet = "08IDM010B110180005A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A"
        _ = try Kazasu.run(
            "felica", packet, "--system", "FE00", "--redact", "--trace", trace, "-r", Card.fixture("edy"),
            "--answer-timeout", "50")
        #expect(try folder.text("trace").contains(#""tx":"2008011"#), "the command is there")
        #expect(try !folder.text("trace").contains("5a5a"))
    }
}
