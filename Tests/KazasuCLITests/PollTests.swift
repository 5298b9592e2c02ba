// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// `poll` on cards of type A and B, through the real libnfc.
@Suite("poll finds cards of every kind", .waits)
struct PollTests {
    @Test(
        "The order is the user's, and a wrong one is refused",
        arguments: [("f", 0), ("a", 75), ("b,a", 75), ("a,a", 64), ("x", 64), ("", 64)])
    func order(kinds: String, status: Int32) throws {
        let result = try Kazasu.run(
            "poll", "--technology", kinds, "--timeout", "0", "--reader", Card.fixture("suica-p1"))
        #expect(result.end == .exited(status))
    }

    @Test("A FeliCa card is found whatever the order") func feliCaLast() throws {
        let result = try Kazasu.run("poll", "--technology", "b,a,f", "--reader", Card.fixture("suica-p1"))
        #expect(result.end == .exited(0))
        #expect(result.output.contains("0101031234567890"))
    }

    /// A virtual card of the fixtures.
    private static func card(_ name: String) -> String { "virtual:\(TestFiles.root)/Fixtures/virtual/\(name).json" }

    @Test("A phone is all kinds, and that is said") func aPhone() throws {
        let result = try Kazasu.run("poll", "--reader", Self.card("phone"))
        #expect(result.end == .exited(0))
        #expect(result.output.split(separator: "\n").count { $0.hasPrefix("Card ") } == 3)
        #expect(result.errors.contains("several kinds of card answer"))
        let json = try Kazasu.run("poll", "--json", "--technology", "b,a", "--reader", Self.card("phone"))
        let kinds = json.output.split(separator: "\"technology\": \"").dropFirst().map { $0.prefix(5) }
        #expect(kinds == ["typeB", "typeB", "typeA"])
    }

    @Test("A card is named by its answers, and by its applications only when that is asked for") func named() throws {
        let tag = try Kazasu.run("poll", "--json", "--reader", Self.card("ntag213"))
        #expect(tag.output.contains("\"id\": \"type2\""))
        for name in ["type4", "type4-b"] {
            let plain = try Kazasu.run("poll", "--json", "--reader", Self.card(name))
            #expect(!plain.output.contains("\"id\": \"type4\""))
            let asked = try Kazasu.run("poll", "--json", "--applications", "--reader", Self.card(name))
            #expect(asked.output.contains("\"id\": \"type4\""))
            let note = "--applications identifies an ISO-DEP card"
            #expect(try Kazasu.run("poll", "--reader", Self.card(name)).errors.contains(note))
            #expect(try Kazasu.run("poll", "--reader", Self.card(name), "--applications").errors.isEmpty)
            #expect(plain.errors.isEmpty)
        }
    }

    @Test("--redact keeps the manufacturer and hides the rest") func redacted() throws {
        for name in ["ntag213", "phone"] {
            let result = try Kazasu.run("poll", "--redact", "--json", "--reader", Self.card(name))
            #expect(result.output.contains(name == "phone" ? "\"uid\": \"08000000\"" : "\"uid\": \"04000000000000\""))
        }
    }
}
