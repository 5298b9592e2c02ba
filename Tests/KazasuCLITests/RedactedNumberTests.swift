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
}
