// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// README: "writing, after a question".
@Suite("What is on a card is overwritten only after a yes", .waits)
struct OverwriteTests {
    /// A command that writes to a card.
    struct Writer: CustomTestStringConvertible, Sendable {
        /// Its words.
        let command: String
        /// What overwrites something on the card, and how the card's contents are shown.
        let arguments: [String]
        let shown: [String]
        let card: String
        /// A part of the question.
        let question: String
        var testDescription: String { command + " " + arguments.joined(separator: " ") }
    }

    private static let keys = """
        * A FFFFFFFFFFFF
        * B FFFFFFFFFFFF
        0 A A0A1A2A3A4A5
        1 A D3F7D3F7D3F7
        2 A D3F7D3F7D3F7
        3 A 111111111111
        3 B 222222222222
        """
    private static let classic = "virtual/classic-1k.json"

    static let writers: [Writer] = [
        Writer(
            command: "tag write", arguments: ["--text", "x"], shown: ["tag", "read"], card: "tags/ntag213.json",
            question: "contains a message of 37 bytes"),
        Writer(
            command: "tag write", arguments: ["--text", "x"], shown: ["tag", "read"], card: "tags/type4.json",
            question: "contains a message of"),
        Writer(
            command: "tag write", arguments: ["--page", "8", "00112233"], shown: ["tag", "pages"],
            card: "tags/ntag213.json", question: "1 page will be overwritten"),
        Writer(
            command: "classic write", arguments: ["5", "00112233445566778899AABBCCDDEEFF"], shown: ["classic", "dump"],
            card: classic, question: "lock 5 is not blank"),
        Writer(
            command: "classic write", arguments: ["13", "00112233445566778899AABBCCDDEEFF"],
            shown: ["classic", "dump"], card: classic, question: "lock 13 has the value 100"),
        Writer(
            command: "classic write", arguments: ["19", "--trailer", "--data-from", "env:TRAILER"],
            shown: ["classic", "dump"], card: classic, question: "he keys and access bits of sector 4"),
        Writer(
            command: "classic value", arguments: ["13", "--set", "5"], shown: ["classic", "dump"], card: classic,
            question: "lock 13 has the value 100"),
        Writer(
            command: "classic value", arguments: ["5", "--set", "5"], shown: ["classic", "dump"], card: classic,
            question: "lock 5 is not blank"),
        Writer(
            command: "lite issue", arguments: ["--key-from", "env:KEY"], shown: ["tag", "info"],
            card: "felica/lite-s.json", question: "The card is issued like this."),
        Writer(
            command: "write", arguments: ["1408", "1", "00112233445566778899AABBCCDDEEFF"],
            shown: ["dump"], card: "felica/standard-keys.json", question: "1 block of service 1408 will be overwritten"),
        Writer(
            command: "standard keys", arguments: [], shown: ["standard", "info"], card: "felica/standard-keys.json",
            question: "The keys are changed like this."),
        Writer(
            command: "standard issue", arguments: [], shown: ["standard", "info"], card: "felica/standard-blank.json",
            question: "The card is issued like this, permanently."),
        Writer(
            command: "tag provision", arguments: [], shown: ["tag", "read"], card: "virtual/ntag424-factory.json",
            question: "The tag is set up like this."),
        Writer(
            command: "tag reset", arguments: [], shown: ["tag", "read"], card: "virtual/ntag424-static.json",
            question: "The tag is set up like this."),
    ]

    /// Commands with `--yes` that write to no card, and the one that asks only for a card that was cut short
    /// (`StandardIssueTests`).
    private static let others: Set<String> = [
        "doctor", "contribute", "outbox drop", "ledger forget", "standard resume",
    ]

    private static let environment = [
        "TRAILER": "333333333333 787788 00 444444444444", "KEY": "37363534333231306665646362613938",
    ]

    @Test("Each command with --yes is here")
    func complete() throws {
        func commands(_ command: JSONCursor, _ path: [String]) throws -> Set<String> {
            var found: Set<String> = []
            let options = try command.optional("arguments")?.elements() ?? []
            for option in options {
                let names = try option.optional("names")?.elements() ?? []
                if try names.contains(where: { try $0.text() == "--yes" }) {
                    found.insert(path.joined(separator: " "))
                }
            }
            for below in try command.optional("subcommands")?.elements() ?? [] {
                found.formUnion(try commands(below, path + [try below.required("commandName").text()]))
            }
            return found
        }
        #expect(try commands(Kazasu.listing(), []) == Self.others.union(Self.writers.map(\.command)))
    }

    @Test("Without a terminal nothing is written; on one only a yes writes", arguments: writers)
    func asks(_ writer: Writer) throws {
        let folder = try TemporaryFolder()
        let reader = try SimulatedReader("\(TestFiles.root)/Fixtures/\(writer.card)", link: "\(folder.path)/card")
        let file = try folder.write(Array(Self.keys.utf8), as: "keys.txt")
        let feliCa = try folder.write(TestFiles.read("Fixtures/felica/standard-keys.txt"), as: "felica.txt")
        chmod(feliCa, 0o600)
        let keys =
            writer.command.hasPrefix("classic")
            ? ["--keys", file] : writer.command == "write" ? ["--keys", feliCa] : []
        let profile = try folder.write(
            Array(#"{"schema": "kazasu.liteProfile/1", "keyVersion": "0001"}"#.utf8), as: "door.json")
        let new = try folder.write(Array("0003 1408 0123456789ABCDEF 0008".utf8), as: "new.txt")
        chmod(new, 0o600)
        let seller = try folder.write(TestFiles.read("Fixtures/provision/standard-seller-keys.txt"), as: "seller.txt")
        let issued = try folder.write(TestFiles.read("Fixtures/provision/standard-issued-keys.txt"), as: "issued.txt")
        for name in [seller, issued] { chmod(name, 0o600) }
        let tag = try folder.write(TestFiles.read("Fixtures/provision/ntag424-keys.txt"), as: "tag.keys")
        chmod(tag, 0o600)
        let plan = "\(TestFiles.root)/Fixtures/provision/ntag424-plan.json"
        let journal =
            switch writer.command {
            case "tag provision":
                ["--plan", plan, "--new-keys", tag, "--journal", "\(folder.path)/journal"]
            case "tag reset": ["--keys", tag, "--journal", "\(folder.path)/journal"]
            case "lite issue": ["--profile", profile, "--journal", "\(folder.path)/journal"]
            case "standard issue":
                [
                    "--profile", "\(TestFiles.root)/Fixtures/provision/standard-profile.json", "--keys", seller,
                    "--new-keys", issued, "--journal", "\(folder.path)/journal",
                ]
            case "standard keys": ["--keys", feliCa, "--new-keys", new, "--journal", "\(folder.path)/journal"]
            default: [String]()
            }
        let words = writer.command.split(separator: " ").map(String.init) + writer.arguments + keys + journal
        let line = (["setsid", "-w", Kazasu.path] + words + ["-r", reader.id]).map { "'\($0)'" }
        func shown() throws -> String {
            let result = try Kazasu.run(writer.shown + keys + ["-r", reader.id])
            #expect(result.hasEnded(0), "\(result)")
            return result.output
        }
        let before = try shown()
        let silent = try Kazasu.shell(line.joined(separator: " "), environment: Self.environment)
        #expect(silent.hasEnded(64), "\(silent)")
        let json = try Kazasu.shell(line.joined(separator: " ") + " --json", environment: Self.environment)
        #expect(try json.errorDocument().required("reason").text() == "confirmationNeeded")
        #expect(try shown() == before)
        let no = try Typist.run(
            [Kazasu.path] + words + ["-r", reader.id], typing: ["continue: =no"], environment: Self.environment)
        #expect(no.hasEnded(77) && no.output.contains(writer.question), "\(no)")
        #expect(try shown() == before)
        // The issuance goes on with lifting the card.
        guard writer.command != "lite issue" else { return }
        let yes = try Typist.run(
            [Kazasu.path] + words + ["-r", reader.id], typing: ["continue: =yes"], environment: Self.environment)
        #expect(yes.hasEnded(0), "\(yes)")
        // The new trailer has other keys than those that the dump is read with.
        let after = try Kazasu.run(writer.shown + keys + ["-r", reader.id])
        #expect(after.output != before)
        #expect(reader.interrupt().hasEnded(0))
    }

    @Test("A blank block, and one that already has the new data, is written without a question")
    func blank() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(Self.keys.utf8), as: "keys.txt")
        let reader = "virtual:\(TestFiles.root)/Fixtures/\(Self.classic)"
        for line in [
            "classic write 8 00112233445566778899AABBCCDDEEFF", "classic write 5 6578616D706C65FE0000000000000000",
            "classic value 14 --set 7",
        ] {
            let result = try Kazasu.shell("setsid -w \"$KAZASU\" \(line) --keys '\(file)' -r '\(reader)'")
            #expect(result.hasEnded(0), "\(line) \(result)")
        }
    }
}
