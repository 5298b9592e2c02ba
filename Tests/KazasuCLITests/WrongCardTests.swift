// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Every command that reads a card, with every kind of card: a wrong one always gets the command that reads it.
@Suite("A wrong card and the next step", .waits)
struct WrongCardTests {
    /// Kinds of card, each with the commands of which one must be named first.
    static let cards: [(reader: String, commands: Set<String>)] = [
        (Card.fixture("suica-p1"), ["balance"]), (Card.fixture("edy"), ["scan"]),
        (Card.fixture("five-systems"), ["balance", "tag info"]), (Card.fixture("fcf"), ["scan"]),
        (Card.fixture("felica-lite-s"), ["lite info", "tag info"]),
        (Self.fixture("virtual/classic-1k"), ["classic info"]),
        (Self.fixture("virtual/ntag213"), ["tag info"]), (Self.fixture("virtual/ultralight-c"), ["tag info"]),
        (Self.fixture("virtual/ntag424"), ["tag info"]), (Self.fixture("virtual/type4"), ["tag info"]),
        (Self.fixture("virtual/type4-b"), ["tag info"]), (Self.fixture("iso7816/license/sample"), ["license"]),
        (Self.fixture("iso7816/license/my-number-licence"), ["license"]),
        (Self.fixture("iso7816/mynumber/card"), ["mynumber"]), (Self.fixture("iso7816/passport/card"), ["passport"]),
        (Self.fixture("iso7816/residence/first"), ["residence"]),
        (Self.fixture("iso7816/residence/second"), ["residence"]),
    ]

    private static func fixture(_ name: String) -> String { "virtual:\(TestFiles.root)/Fixtures/\(name).json" }

    /// The commands that read a card. The files of their keys are in the folder of the test.
    static let lines = [
        "balance", "history", "scan", "dump", "read 090F", "license --free", "mynumber --free", "residence",
        "passport --mrz-from file:zone", "tag info", "tag read", "tag pages", "tag verify",
        "tag write --text hello --yes", "classic info", "classic dump --keys keys", "classic read 4 --keys keys",
        "lite info", "lite verify --key-from file:key", "apdu 00A4040000", "felica 0600FFFF0000",
    ]

    /// A reading command that needs no secret ends so, or with what a secret would open.
    private static func reads(_ command: String, _ reader: String, _ folder: TemporaryFolder) throws -> Bool {
        var words = command.split(separator: " ").map(String.init)
        if ["license", "mynumber"].contains(command) { words.append("--free") }
        if command == "passport" { words += ["--mrz-from", "file:\(folder.path)/zone"] }
        return try Kazasu.run(words + ["-r", reader]).hasEnded(0)
    }

    @Test("The hint of every command is the command that reads the card", arguments: cards.indices)
    func hint(index: Int) throws {
        let (reader, commands) = Self.cards[index]
        let folder = try TemporaryFolder()
        // The printed data of Fixtures/iso7816/passport/card.json.
        _ = try folder.write("SP1234567,800405,360614\n".utf8, as: "zone")
        _ = try folder.write("000102030405060708090A0B0C0D0E0F\n".utf8, as: "key")
        _ = try folder.write("FFFFFFFFFFFF\n".utf8, as: "keys")
        for line in Self.lines {
            let words = line.split(separator: " ").map { word in
                word.replacing("file:", with: "file:\(folder.path)/").replacing(
                    /^(key|keys|zone)$/
                ) { "\(folder.path)/\($0.output.1)" }
            }
            let result = try Kazasu.run(words.map { String($0) } + ["-r", reader, "--json"])
            guard result.errors.contains("\"reason\":\"otherCard\"") else { continue }
            let hint = try #require(result.errors.firstMatch(of: /"hint":"([^"]*)"/)).output.1
            let named = hint.matches(of: /'kazasu ([a-z ]+)'/).map { String($0.output.1) }
            let first = try #require(named.first, "\(line): \(hint)")
            #expect(commands.contains(first) || first == "scan" && reader.contains("/cards/"), "\(line): \(hint)")
            let japanese = try Kazasu.run(words.map { String($0) } + ["-r", reader, "--lang", "ja"])
            #expect(japanese.errors.contains("'kazasu \(first)'"), "\(line): \(japanese.errors)")
        }
        for command in commands {
            #expect(try Self.reads(command, reader, folder), "\(command)")
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
