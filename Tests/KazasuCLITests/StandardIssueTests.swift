// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// The card's and the files' keys are test data.
@Suite("kazasu standard issue", .waits)
struct StandardIssueTests {
    private static let secrets = [
        "0F1E2D3C4B5A6978", "8796A5B4C3D2E1F0", "1122334455667788", "21436587A9CBED0F", "0123456789ABCDEF",
        "8877665544332211", "4D0134D6E8B5C6FD",
    ]

    /// Files of keys, a profile and a journal, and a simulated blank card.
    private struct Stand {
        let folder: TemporaryFolder
        let reader: SimulatedReader
        let seller, issued, profile: String

        var journal: String { "\(folder.path)/journal" }

        init(_ change: (String) -> String = { $0 }, card: String = "felica/standard-blank.json") throws {
            folder = try TemporaryFolder()
            reader = try SimulatedReader("\(TestFiles.root)/Fixtures/\(card)", link: "\(folder.path)/card")
            seller = try Self.copy("seller-keys.txt", to: folder, change)
            issued = try Self.copy("issued-keys.txt", to: folder, change)
            profile = try Self.copy("profile.json", to: folder, change)
        }

        private static func copy(
            _ name: String, to folder: TemporaryFolder, _ change: (String) -> String
        ) throws -> String {
            let text = String(decoding: try TestFiles.read("Fixtures/provision/standard-\(name)"), as: UTF8.self)
            let path = try folder.write(Array(change(text).utf8), as: name)
            chmod(path, 0o600)
            return path
        }

        private func keys(_ new: String?) -> [String] {
            ["--keys", seller, "--new-keys", new ?? issued, "-r", reader.id]
        }

        func issueWords(_ more: [String]) -> [String] {
            ["standard", "issue", "--profile", profile] + keys(nil) + more
        }

        func issue(_ more: String...) throws -> ChildResult { try run(issueWords(more)) }

        func resume(_ more: String..., new: String? = nil) throws -> ChildResult {
            try run(["standard", "resume", "--journal", journal] + keys(new) + more)
        }

        func run(_ words: [String]) throws -> ChildResult {
            try Kazasu.run(words, environment: ["XDG_STATE_HOME": folder.path])
        }

        func journalLines() throws -> [Substring] {
            String(decoding: try TestFiles.read(journal), as: UTF8.self).split(separator: "\n")
        }

        /// Checks that the card has the profile's system with the new keys.
        func expectIssued() throws {
            let verified = try run(["standard", "verify", "--system", "A0B1", "--keys", issued, "-r", reader.id])
            #expect(verified.output == "genuine\n", "\(verified)")
            let read = try run(["read", "100B", "--system", "A0B1", "-r", reader.id])
            #expect(read.output.hasPrefix("A0B1 100B 0000 4D454D42455220303030313233340000\n"), "\(read)")
        }
    }

    @Test("Shows, issues and proves; the card is then locked")
    func issue() throws {
        let stand = try Stand()
        let dry = try stand.issue("--dry-run")
        #expect(dry.hasEnded(0), "\(dry)")
        #expect(
            dry.output == """
                system A0B1, 17 blocks
                area 0000-FFFE, key version 0001
                area 1000-1FFF, key version 0001
                service 1008, 2 blocks, key version 0001, 1 written
                service 100B, 2 blocks, no key
                service 108C, 10 blocks, key version 0001
                service 108F, 10 blocks, no key

                """)
        let trace = "\(stand.folder.path)/trace"
        let done = try stand.issue("--yes", "--json", "--journal", stand.journal, "--trace", trace, "-v", "-v")
        #expect(done.hasEnded(0), "\(done)")
        let json = try JSONCursor(JSONValue(parsing: Array(done.output.utf8)))
        #expect(try json.required("schema").text() == "kazasu.standardIssue/1" && json.required("issued").bool())
        #expect(try json.required("nodes").elements().count == 6)
        try stand.expectIssued()
        let text = String(decoding: try TestFiles.read(trace), as: UTF8.self)
        let all = (done.output + done.errors + text + (try stand.journalLines().joined())).uppercased()
        let digits = all.filter { $0 != " " && $0 != ":" }
        for secret in Self.secrets { #expect(!digits.contains(secret)) }
        // Packages and the new system key are masked after their code.
        let sent = text.lowercased().filter { $0 != " " }.matches(of: /"[0-9a-f]{2}(80|82|84|16)([0-9a-f]{30,})"/)
        #expect(sent.count >= 7 && sent.allSatisfy { $0.2.allSatisfy { $0 == "0" } }, "\(sent.map { $0.0 })")
        try stand.issue("--yes").expectError(77, "only a blank card")
        try stand.issue("--yes", "--lang", "ja").expectError(77, "発行済みのカード")
        // All is done; resuming proves it once more.
        let again = try stand.resume()
        #expect(again.hasEnded(0), "\(again)")
        try stand.expectIssued()
        let masked = try Stand().issue("--dry-run", "--json", "--redact")
        #expect(masked.hasEnded(0) && !masked.output.contains("010a4b0012345678"), "\(masked)")
    }

    @Test("A card file kept by --virtual-writes is the issued card, before and after a key change")
    func keptFile() throws {
        let stand = try Stand()
        let kept = "\(stand.folder.path)/kept.json"
        let issue = [
            "standard", "issue", "--profile", stand.profile, "--keys", stand.seller, "--new-keys", stand.issued,
            "--yes",
            "-r", "virtual:\(TestFiles.root)/Fixtures/felica/standard-blank.json", "--virtual-writes", kept,
        ]
        let done = try stand.run(issue)
        #expect(done.hasEnded(0), "\(done)")
        let scan = try stand.run(["scan", "-r", "virtual:\(kept)", "--json"])
        let nodes = ["1000", "1008", "100B", "108C", "108F"]
        #expect(scan.hasEnded(0) && nodes.allSatisfy(scan.output.contains), "\(scan)")
        let verify = ["standard", "verify", "--system", "A0B1", "--keys", stand.issued, "-r", "virtual:\(kept)"]
        #expect(try stand.run(verify).output == "genuine\n")
        let read = try stand.run(["read", "100B", "--system", "A0B1", "-r", "virtual:\(kept)"])
        #expect(read.output.hasPrefix("A0B1 100B 0000 4D454D42455220303030313233340000\n"), "\(read)")
        // What is issued is not blank.
        var again = issue
        again[again.count - 3] = "virtual:\(kept)"
        try stand.run(Array(again.dropLast(2))).expectError(77, "only a blank card")
    }

    @Test("A card whose root area nobody lists keeps its new version")
    func keptRootVersion() throws {
        let stand = try Stand()
        let card = try stand.folder.write(
            Array(
                String(decoding: TestFiles.read("Fixtures/felica/standard-blank.json"), as: UTF8.self)
                    .replacing("\"freeBlocks\": 245,", with: "\"keyVersions\": {\"0000\": \"0102\"},").utf8),
            as: "card.json")
        let scan = try stand.run(["scan", "-r", "virtual:\(card)", "--json"])
        #expect(scan.hasEnded(0) && scan.output.contains("\"0102\""), "\(scan)")
    }

    @Test(
        "Interrupted at any step by kill -9 or Ctrl-C, resume ends it",
        arguments: [
            "issueID", "area 1000", "service 108F", "commit", "committed", "key FFFF", "keyProved FFFF", "data 1008",
            "keyProved 1008", "done",
        ], [SIGKILL, SIGINT])
    func killed(_ step: String, _ signal: Int32) throws {
        let stand = try Stand()
        let child = try RunningChild(
            Kazasu.path, stand.issueWords(["--yes", "--journal", stand.journal, "-v", "-v"]),
            environment: ["XDG_STATE_HOME": stand.folder.path])
        #expect(try child.writes("step: \(step)\n", to: .errors))
        child.send(signal)
        _ = child.finish()
        let other = try stand.folder.write(
            Array(
                String(decoding: TestFiles.read("Fixtures/provision/standard-issued-keys.txt"), as: UTF8.self)
                    .replacing("8877665544332211", with: "8877665544332299").utf8), as: "other.txt")
        chmod(other, 0o600)
        try stand.resume(new: other).expectError(77, "not those of the interrupted")
        let resumed = try stand.resume()
        #expect(resumed.hasEnded(0), "\(resumed)")
        try stand.expectIssued()
    }

    @Test("Refuses bad files and issued cards, in both languages")
    func refused() throws {
        let rows: [((String) -> String, Int32, String, String)] = [
            ({ $0.replacing("A0B1 1008", with: "A0B1 1048") }, 77, "no key of node 1008", "ノード 1008 の鍵がありません"),
            ({ $0.replacing("FFFF 0000", with: "FFFF 1000") }, 77, "no key of node 0000", "ノード 0000 の鍵がありません"),
            ({ $0.replacing("1122334455667788 0001", with: "1122334455667788") }, 64, "needs a version", "バージョンが必要"),
            ({ $0.replacing("8877665544332211", with: "0000000000000000") }, 64, "zeros or a weak", "弱い鍵"),
            ({ $0.replacing("\"blocks\": 24", with: "\"blocks\": 3") }, 65, "areas[1].blocks", "areas[1].blocks"),
            ({ $0.replacing("\"system\"", with: "\"systen\"") }, 65, "systen", "systen"),
            ({ $0.replacing("1FFF", with: "0FFF") }, 65, "areas[1].end", "areas[1].end"),
        ]
        for (change, status, english, japanese) in rows {
            let stand = try Stand(change)
            try stand.issue("--yes").expectError(status, english)
            try stand.issue("--yes", "--lang", "ja").expectError(status, japanese)
            #expect(try stand.run(["standard", "info", "-r", stand.reader.id]).output.contains("FFFF"))
        }
        let wrong = try Stand { $0.replacing("8796A5B4C3D2E1F0", with: "0123456789ABCDEF") }
        try wrong.issue("--yes", "--journal", wrong.journal).expectError(
            77, "does not confirm the keys for node 0000", after: 1)
        try wrong.issue("--yes", "--journal", "\(wrong.journal)2").expectError(77, "were not used", after: 1)
        // The card tells its blocks in answer to the first command; without power it is blank again.
        let large = try Stand { $0.replacing("\"blocks\": 24", with: "\"blocks\": 0").replacing(": 10", with: ": 400") }
        try large.issue("--yes", "--journal", large.journal).expectError(77, "the card has 245", after: 1)
        try large.issue("--yes", "--lang", "ja", "--journal", "\(large.journal)2").expectError(77, "空きは 245", after: 1)
        try smaller(large)
        let used = try Stand(card: "felica/standard-keys.json")
        try used.issue("--yes").expectError(77, "only a blank card")
        try used.issue("--dry-run", "--journal", "j").expectError(64, "writes no --journal")
        try used.run(["standard", "issue", "--profile", used.profile]).expectError(64, "--keys is required")
    }

    /// Goes on with a smaller profile, which is shown and asked for.
    private func smaller(_ stand: Stand) throws {
        let profile = "\(TestFiles.root)/Fixtures/provision/standard-profile.json"
        try stand.resume("--yes").expectError(64, "--yes requires --profile")
        try stand.resume("--profile", profile).expectError(64, "no terminal")
        let done = try stand.resume("--profile", profile, "--yes")
        #expect(done.hasEnded(0), "\(done)")
        try stand.expectIssued()
    }
}
