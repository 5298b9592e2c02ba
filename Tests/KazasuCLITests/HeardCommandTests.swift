// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What the commands say of cards that are silent, of two cards in one wallet, and of cards that do not start: through the
/// real libnfc, which reports all of them as no card.
@Suite("Silence is not emptiness, and two cards are not none", .waits)
struct HeardCommandTests {
    private static func transit(_ quirks: String) -> String {
        Card.transit().replacing(#""virtual":{"faults":[]}"#, with: #""virtual":{"quirks":["\#(quirks)"]}"#)
    }

    private static let reading = ["dump --format json", "scan", "balance", "history", "read 090F --system 0003"]

    @Test("A card that answers nothing but Polling is a failure, never an empty card", arguments: reading)
    func silent(_ line: String) throws {
        let folder = try TemporaryFolder()
        let reader = try folder.card(Self.transit("fel-mute"))
        let result = try Kazasu.run(line.split(separator: " ").map(String.init) + ["-t", "0", "-r", reader])
        #expect(result.end == .exited(74), "\(result.errors)")
        #expect(result.errors.contains("answers too little"))
        #expect(!result.output.contains("\"complete\": true"))
        if line.hasPrefix("dump") { #expect(result.output.contains("\"reason\": \"cardSilent\"")) }
    }

    @Test("A card that needs more time than it says is read", arguments: reading)
    func slow(_ line: String) throws {
        let folder = try TemporaryFolder()
        let words = line.split(separator: " ").map(String.init)
        let slow = try Kazasu.run(words + ["-t", "0", "-r", folder.card(Self.transit("fel-slow=1.2"))])
        #expect(slow.end == .exited(0), "\(slow.errors)")
        guard line != "dump --format json" else { return #expect(slow.output.contains("\"complete\": true")) }
        let usual = try Kazasu.run(words + ["-t", "0", "-r", folder.card(Card.transit())])
        #expect(slow.output == usual.output)
    }

    @Test("Two cards in one wallet are said", arguments: reading + ["license --free", "tag info"])
    func twoCards(_ line: String) throws {
        let folder = try TemporaryFolder()
        let reader = try folder.card(Self.transit("two-cards"))
        let words = line.split(separator: " ").map(String.init) + ["-t", "0", "-r", reader]
        try Kazasu.run(words).expectError(74, "2 cards are on the reader")
        let json = try Kazasu.run(words + ["--json"].filter { _ in !line.contains("--format") })
        if line != "dump --format json" { #expect(json.errors.contains("\"reason\":\"multipleCards\"")) }
        let japanese = try Kazasu.run(words + ["--lang", "ja"])
        #expect(japanese.errors.contains("リーダーに 2 枚のカードがあります"))
    }

    @Test("poll lists two cards in one wallet") func polledTogether() throws {
        let folder = try TemporaryFolder()
        let reader = try folder.card(Self.transit("two-cards"))
        let result = try Kazasu.run("poll", "-t", "0", "-r", reader)
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.output.split(separator: "\n").count { $0.hasPrefix("IDm ") } == 2)
        #expect(result.errors.contains("2 FeliCa cards are on the reader"))
    }

    @Test("A card that does not start ISO-DEP is shown", arguments: ["dep-rats-nak", "dep-rats-mute"])
    func withoutATS(_ quirk: String) throws {
        let folder = try TemporaryFolder()
        let reader = try folder.card(
            #"{"schema":"kazasu.card/1","typeA":{"uid":"01020304","sak":"28"},"virtual":{"quirks":["\#(quirk)"]}}"#)
        let result = try Kazasu.run("poll", "-t", "0", "-r", reader)
        #expect(result.end == .exited(0), "\(result.errors)")
        for part in ["01020304", "28", "does not start ISO-DEP"] { #expect(result.output.contains(part)) }
        try Kazasu.run("license", "--free", "-t", "0", "-r", reader).expectError(76)
    }

    @Test("A card of type B without ISO-DEP is another kind") func withoutISODEP() throws {
        let folder = try TemporaryFolder()
        let reader = try folder.card(
            #"{"schema":"kazasu.card/1","typeB":{"pupi":"e8253eec"},"virtual":{"quirks":["b-not-iso"]}}"#)
        let result = try Kazasu.run("poll", "-t", "0", "-r", reader)
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.output.contains("E8253EEC") && !result.output.contains("ISO-DEP"))
        try Kazasu.run("license", "--free", "-t", "0", "-r", reader).expectError(76)
    }

    @Test("A reader that refuses one kind of card finds the others, and says so if no other card is present")
    func refusedKind() throws {
        let folder = try TemporaryFolder()
        let card = Card.transit()
        let found = try Kazasu.run("balance", "-t", "0", "-r", folder.card(Self.transit("no-type")))
        #expect(found == (try Kazasu.run("balance", "-t", "0", "-r", folder.card(card))))
        let both = try folder.card(
            #"{"schema":"kazasu.card/1","typeA":{"uid":"01020304","sak":"20"},"virtual":{"quirks":["no-type"]}}"#)
        let poll = try Kazasu.run("poll", "-t", "0", "-r", both)
        #expect(poll.end == .exited(0) && poll.output.contains("01020304"), "\(poll.errors)")
        let typeB = try folder.card(
            #"{"schema":"kazasu.card/1","typeB":{"pupi":"e8253eec"},"virtual":{"quirks":["no-type"]}}"#)
        let result = try Kazasu.run("license", "--free", "-t", "0", "-r", typeB)
        result.expectError(74, "the reader refuses to look for type B cards")
        #expect(result.errors.contains("another reader"))
    }

    @Test("A quirk that no card has is a mistake in the file") func unknownQuirk() throws {
        let folder = try TemporaryFolder()
        for quirks in ["fel-fast", "", "fel-slow=x", "dep-rats-nak"] {
            try Kazasu.run("poll", "-t", "0", "-r", folder.card(Self.transit(quirks))).expectError(65)
        }
    }
}
