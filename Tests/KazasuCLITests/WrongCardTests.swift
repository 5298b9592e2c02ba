// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import TestSupport
import Testing

/// Every command that reads a card, with every kind of card: a wrong one always gets the command that reads it.
@Suite("A wrong card and the next step", .waits)
struct WrongCardTests {
    /// Kinds of card, each with the commands of which one must be named first. Each identity document is read by the command of its name.
    static let cards: [(reader: String, commands: Set<String>)] =
        others
        + IdentityReport.kinds.map { document -> (reader: String, commands: Set<String>) in
            let kind = document.kind.rawValue
            return ("virtual:\(TestFiles.root)/\(CommandRow.all[kind]?.card ?? kind)", [kind])
        }

    private static let others: [(reader: String, commands: Set<String>)] = [
        (Card.fixture("suica-p1"), ["balance"]), (Card.fixture("edy"), ["scan"]),
        (Card.fixture("five-systems"), ["balance", "tag info"]), (Card.fixture("fcf"), ["scan"]),
        (Card.fixture("felica-lite-s"), ["lite info", "tag info"]),
        (Self.fixture("virtual/classic-1k"), ["classic info"]),
        (Self.fixture("virtual/ntag213"), ["tag info"]), (Self.fixture("virtual/ultralight-c"), ["tag info"]),
        (Self.fixture("virtual/ntag424"), ["tag info"]), (Self.fixture("virtual/type4"), ["tag info"]),
        (Self.fixture("virtual/type4-b"), ["tag info"]), (Self.fixture("virtual/desfire"), ["desfire info"]),
        (Self.fixture("iso7816/license/my-number-licence"), ["license"]),
        (Self.fixture("iso7816/residence/first"), ["residence"]),
    ]

    private static func fixture(_ name: String) -> String { "virtual:\(TestFiles.root)/Fixtures/\(name).json" }

    /// The commands that read a card, as `Scripts/commands.tsv` has them, and other ways to call some of them.
    static let lines: [String] =
        HangingReaderTests.commands.filter { CommandRow.all[$0]?.card != nil }
        + ["residence --number-from env:NUMBER"]

    /// Runs a command with what its row says that it needs.
    private static func run(_ line: String, _ options: [String], _ folder: TemporaryFolder) throws -> ChildResult {
        try Kazasu.run(
            HangingReaderTests.words(line, folder) + options,
            environment: HangingReaderTests.environment.merging(["NUMBER": "AA12345678BB"]) { $1 })
    }

    @Test("The hint of every command is the command that reads the card", arguments: cards.indices)
    func hint(index: Int) throws {
        let (reader, commands) = Self.cards[index]
        let folder = try TemporaryFolder()
        var refusals: Set<String> = []
        for line in Self.lines {
            let result = try Self.run(line, ["-r", reader, "--json"], folder)
            guard result.errors.contains("\"reason\":\"otherCard\"") else { continue }
            refusals.insert(line)
            let hint = try #require(result.errors.firstMatch(of: /"hint":"([^"]*)"/), "\(line)").output.1
            let named = hint.matches(of: /'kazasu ([a-z ]+)'/).map { String($0.output.1) }
            let first = try #require(named.first, "\(line): \(hint)")
            #expect(commands.contains(first) || first == "scan" && reader.contains("/cards/"), "\(line): \(hint)")
            let japanese = try Self.run(line, ["-r", reader, "--lang", "ja"], folder)
            #expect(japanese.errors.contains("'kazasu \(first)'"), "\(line): \(japanese.errors)")
        }
        // A My Number card can have a license on it.
        let documents = Set(IdentityReport.kinds.map { $0.kind.rawValue })
        let own = reader.contains("my-number-licence") ? commands.union(["mynumber"]) : commands
        #expect(refusals.isSuperset(of: documents.subtracting(own)), "\(refusals)")
        for command in commands {
            #expect(try Self.run(command, ["-r", reader], folder).hasEnded(0), "\(command)")
        }
    }

    @Test("poll ends in the commands that read the card", arguments: cards.indices)
    func poll(index: Int) throws {
        let (reader, commands) = Self.cards[index]
        for (language, label) in [("en", "Read it with"), ("ja", "読み取り")] {
            let result = try Kazasu.run("poll", "--applications", "-r", reader, "--lang", language)
            let last = try #require(result.output.split(separator: "\n").last)
            #expect(last.hasPrefix(label), "\(result.output)")
            #expect(commands.contains { last.contains("  kazasu \($0)") }, "\(last)")
        }
        let json = try Kazasu.run("poll", "--applications", "-r", reader, "--json").output
        #expect(
            commands.contains { json.contains("\"next\": [\n    \"\($0)\"") || json.contains("\"next\": [\"\($0)\"") },
            "\(json)")
    }

    @Test("A card that its first answers do not identify points to --applications")
    func identification() throws {
        let json = try Kazasu.run("poll", "-r", Self.fixture("iso7816/mynumber/card"), "--json").output
        #expect(json.contains("\"poll --applications\""))
    }
}
