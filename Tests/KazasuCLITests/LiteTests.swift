// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

/// Keys in these tests are those of card files: test data.
@Suite("kazasu lite", .waits)
struct LiteTests {
    private static let open = "\(TestFiles.root)/Fixtures/felica/lite-s.json"
    private static let issued = "\(TestFiles.root)/Fixtures/felica/lite-s-issued.json"
    private static let transit = "\(TestFiles.root)/Fixtures/cards/suica-p1/card.json"
    /// Of `open`, and the one that `master` gives `issued`.
    private static let (key, derived) = ("37363534333231306665646362613938", "6C3F113DF131C0D4922757FD113F093A")
    private static let master = "000102030405060708090A0B0C0D0E0F1011121314151617"
    private static let newKey = "4142434445464748494A4B4C4D4E4F50"
    private static let environment = [
        "KEY": key, "DERIVED": derived, "MASTER": master, "NEW": newKey, "FACTORY": String(repeating: "00", count: 16),
    ]
    static let profile = String(
        decoding: (try? TestFiles.read("Fixtures/provision/lite-profile.json")) ?? [], as: UTF8.self)

    private func run(_ line: String, _ card: String = open, files: [String] = []) throws -> ChildResult {
        let words = line.split(separator: " ").map { word in
            files.reduce(String(word)) { $0.replacing("@", with: $1) }
        }
        return try Kazasu.run(["lite"] + words + ["-r", "virtual:\(card)"], environment: Self.environment)
    }

    /// A card file with some of its text replaced.
    private func changed(
        _ file: String, _ changes: [(old: String, new: String)], in folder: TemporaryFolder
    ) throws -> String {
        let text = String(decoding: try TestFiles.read(file), as: UTF8.self)
        let new = changes.reduce(text) { $0.replacing($1.old, with: $1.new) }
        return try folder.write(Array(new.utf8), as: "changed.json")
    }

    // MARK: info and verify

    private static let answers = [
        ("info", open, "open.txt"), ("info --lang ja", open, "open.ja.txt"), ("info --json", open, "open.json"),
        ("info", issued, "issued.txt"), ("info --lang ja", issued, "issued.ja.txt"),
        ("info --json", issued, "issued.json"),
        ("info --redact", issued, "redacted.txt"), ("info --json --redact", issued, "redacted.json"),
        ("verify --key-from env:KEY --json", open, "genuine.json"),
        ("verify --key-from env:KEY --json --redact", open, "genuine-redacted.json"),
        ("verify --master-key-from env:MASTER --json", issued, "derived.json"),
    ]

    @Test("Shows restrictions and that a card is genuine", arguments: answers)
    func answer(_ line: String, _ card: String, _ name: String) throws {
        let result = try run(line, card)
        #expect(result.hasEnded(0), "\(result.errors)")
        try Snapshot.check(result.output, "answers/lite-\(name)")
    }

    @Test("Genuine with every way to give the key")
    func genuine() throws {
        for (source, card) in [("--key-from env:KEY", Self.open), ("--key-from env:DERIVED", Self.issued)] {
            let result = try run("verify \(source)", card)
            #expect(result.hasEnded(0), "\(result.errors)")
            #expect(result.output == "genuine\n")
        }
        let folder = try TemporaryFolder()
        let file = try folder.write(Array("\(Self.master)\n".utf8), as: "master")
        #expect(try run("verify --master-key-from file:@ --lang ja", Self.issued, files: [file]).output == "本物です\n")
    }

    @Test("A wrong key and a copy end 77, and say so on both outputs")
    func notGenuine() throws {
        let folder = try TemporaryFolder()
        // The same number without the key: what an emulator makes of the card.
        let copy = try changed(
            Self.issued, [(Self.derived.lowercased(), String(repeating: "0", count: 32))], in: folder)
        for (line, card) in [
            ("verify --key-from env:NEW", Self.open), ("verify --master-key-from env:MASTER", copy),
            ("verify --master-key-from env:MASTER", Self.open),
        ] {
            let result = try run(line, card)
            result.expectError(77, "did not prove")
            #expect(result.output == "not genuine\n")
            let json = try run(line + " --json", card)
            #expect(json.output.contains("\"genuine\": false"))
            #expect(json.errors.contains("\"reason\":\"notGenuine\""))
        }
    }

    @Test("Other cards end 76, keys that prove nothing and no key at all 64")
    func refusals() throws {
        try run("verify --key-from env:KEY -t 0", Self.transit).expectError(76, "88B4")
        try run("info -t 0", "\(TestFiles.root)/Fixtures/virtual/ntag213.json").expectError(76)
        try run("verify --key-from env:FACTORY").expectError(64, "leave the factory")
        try run("verify").expectError(64, "needs the card's key")
        try run("verify --key-from env:MASTER").expectError(64, "not 32 hexadecimal digits")
        try run("verify --master-key-from env:KEY").expectError(64, "not 48 hexadecimal digits")
        #expect(try run("verify --key-from \(Self.key)").end == .exited(64))
        #expect(try !run("verify --key-from \(Self.key)").errors.contains(Self.key))
    }

    // MARK: issue and resume

    @Test("A dry run says every change, and writes nothing", arguments: ["", ".ja", "json"])
    func dryRun(_ form: String) throws {
        let folder = try TemporaryFolder()
        let profile = try folder.write(Array(Self.profile.utf8), as: "profile.json")
        let options = form == ".ja" ? " --lang ja" : form == "json" ? " --json" : ""
        let result = try run("issue --dry-run --profile @" + options, files: [profile])
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.errors.isEmpty)
        try Snapshot.check(result.output, "answers/lite-dry-run\(form == "json" ? ".json" : form + ".txt")")
    }

    @Test("Issues a card, which then is genuine and refuses to be issued again")
    func issue() throws {
        let folder = try TemporaryFolder()
        let profile = try folder.write(Array(Self.profile.utf8), as: "profile.json")
        let (card, journal, trace) = (folder.path + "/card.json", folder.path + "/journal", folder.path + "/trace")
        try run("issue --profile @ --key-from env:NEW", files: [profile]).expectError(64, "no terminal")
        let result = try run(
            "issue --profile @ --key-from env:NEW --yes --journal \(journal) --trace \(trace) --virtual-writes \(card) -v",
            files: [profile])
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.errors.contains("the card proved its key"))
        let steps = String(decoding: try TestFiles.read(journal), as: UTF8.self)
        let names = ["identity", "key", "keyProved", "blocks", "lock", "done"]
        #expect(steps.split(separator: "\n").count == 1 + names.count)
        for name in names { #expect(steps.contains("{\"step\":\"\(name)\"")) }
        // Neither has the key; the frame that carries it is masked.
        let traced = String(decoding: try TestFiles.read(trace), as: UTF8.self)
        for text in [steps, traced, result.errors, result.output] {
            #expect(!text.lowercased().contains(Self.newKey.lowercased()))
        }
        #expect(traced.contains("8087" + String(repeating: "00", count: 16)))
        var status = stat()
        #expect(stat(journal, &status) == 0 && status.st_mode & 0o777 == 0o600)

        #expect(try run("verify --key-from env:NEW", card).output == "genuine\n")
        let information = try run("info --json", card).output
        #expect(information.contains("\"locked\": true"))
        try run("issue --profile @ --key-from env:NEW --yes --journal \(journal)2", card, files: [profile])
            .expectError(77, "it was issued before")
        try run("issue --profile @ --key-from env:NEW --yes --journal \(journal)", Self.open, files: [profile])
            .expectError(73, "already exists")
        // Resuming what is done only looks at it; with another key, and with another card, it is refused.
        #expect(try run("resume --journal \(journal) --key-from env:NEW", card).hasEnded(0))
        try run("resume --journal \(journal) --key-from env:KEY", card).expectError(77, "not the key with which")
        try run("resume --journal \(journal) --key-from env:NEW", Self.issued).expectError(76, "card of the journal")
    }

    @Test("Goes on after an interruption, with a torn journal, too", arguments: [5, 14, 25, 33, 40, 48])
    func interrupted(_ exchange: Int) throws {
        let folder = try TemporaryFolder()
        let profile = try folder.write(Array(Self.profile.utf8), as: "profile.json")
        let (journal, kept) = (folder.path + "/$journal", folder.path + "/kept.json")
        let fault = "\"virtual\": {\"faults\": [{\"fault\": \"absent\", \"from\": \(exchange)}]}, \"idm\""
        let faulty = try changed(Self.open, [("\"idm\"", fault)], in: folder)
        let result = try run(
            "issue --profile @ --master-key-from env:MASTER --yes --journal \(journal) --virtual-writes \(kept)",
            faulty,
            files: [profile])
        guard FileStatus.exists(journal) else {
            // It was not begun.
            #expect(result.end == .exited(74) || result.end == .exited(75) || result.end == .exited(76))
            return
        }
        result.expectError(74, "kazasu lite resume --journal '\(journal)'")
        let left = FileStatus.exists(kept) ? kept : faulty
        let healed = try changed(
            left, [("\"absent\"", "\"late\""), ("\"from\"", "\"milliseconds\": 0, \"from\"")], in: folder)
        let torn = try TestFiles.read(journal) + Array("{\"step\":\"lo".utf8)
        try #require(folder.write(torn, as: "$journal") == journal)
        let resumed = try run(
            "resume --journal \(journal) --master-key-from env:MASTER --virtual-writes \(kept)", healed)
        #expect(resumed.hasEnded(0), "\(resumed.errors)")
        #expect(try !String(decoding: TestFiles.read(journal), as: UTF8.self).contains("\"lo{"))
        #expect(try run("verify --master-key-from env:MASTER", kept).output == "genuine\n")
    }

    @Test(
        "Killed or stopped by Ctrl-C at any step, resume ends it",
        arguments: ["identity", "key", "keyProved", "blocks", "lock"], [SIGKILL, SIGINT])
    func killed(_ step: String, _ signal: Int32) throws {
        let folder = try TemporaryFolder()
        let profile = try folder.write(Array(Self.profile.utf8), as: "profile.json")
        let reader = try SimulatedReader(Self.open, link: "\(folder.path)/card")
        let journal = "\(folder.path)/journal"
        let own = ["--key-from", "env:NEW", "--journal", journal, "-r", reader.id]
        let environment = Kazasu.environment.merging(["NEW": Self.newKey, "XDG_STATE_HOME": folder.path]) { $1 }
        let child = try RunningChild(
            Kazasu.path, ["lite", "issue", "--profile", profile, "--yes", "-v", "-v"] + own, environment: environment)
        #expect(try child.writes("step: \(step)\n", to: .errors))
        child.send(signal)
        _ = child.finish()
        let resumed = try Kazasu.run(["lite", "resume"] + own, environment: environment)
        #expect(resumed.hasEnded(0), "\(resumed)")
        let verified = try Kazasu.run(
            ["lite", "verify", "--key-from", "env:NEW", "-r", reader.id], environment: environment)
        #expect(verified.output == "genuine\n", "\(verified)")
    }

    @Test("Another key than that of the issuance writes nothing", arguments: [20, 24, 28, 32, 36, 40, 44, 48])
    func resumedWithAnotherKey(_ exchange: Int) throws {
        let folder = try TemporaryFolder()
        let profile = try folder.write(Array(Self.profile.utf8), as: "profile.json")
        let (journal, kept) = (folder.path + "/journal", folder.path + "/kept.json")
        let fault = "\"virtual\": {\"faults\": [{\"fault\": \"absent\", \"from\": \(exchange)}]}, \"idm\""
        let faulty = try changed(Self.open, [("\"idm\"", fault)], in: folder)
        try run(
            "issue --profile @ --key-from env:NEW --yes --journal \(journal) --virtual-writes \(kept)", faulty,
            files: [profile]
        )
        .expectError(74)
        let healed = try changed(
            kept, [("\"absent\"", "\"late\""), ("\"from\"", "\"milliseconds\": 0, \"from\"")], in: folder)
        let before = try (TestFiles.read(healed), TestFiles.read(journal))
        let refused = try run("resume --journal \(journal) --key-from env:KEY --virtual-writes \(kept) --json", healed)
        #expect(refused.end == .exited(77) && refused.errors.contains("\"reason\":\"notGenuine\""))
        #expect(refused.errors.contains("not the key with which the issuance began"))
        try run("resume --journal \(journal) --key-from env:KEY --lang ja", healed).expectError(77, "発行を始めたときの鍵と違います")
        #expect(try TestFiles.read(journal) == before.1)
        // A journal of an earlier version has no check value: once the key was written, the card has to prove it.
        let text = String(decoding: before.1, as: UTF8.self)
        let start = try #require(text.firstRange(of: ",\"keyCheck\""))
        let end = try #require(text[start.lowerBound...].firstRange(of: "}}"))
        let old = try folder.write(
            Array((text[..<start.lowerBound] + text[text.index(after: end.lowerBound)...]).utf8), as: "old.jsonl")
        if text.contains("\"step\":\"key") {
            try run("resume --journal \(old) --key-from env:DERIVED", healed).expectError(77, "did not prove")
        }
        let resumed = try run("resume --journal \(journal) --key-from env:NEW --virtual-writes \(kept)", healed)
        #expect(resumed.hasEnded(0), "\(resumed.errors)")
        #expect(try run("verify --key-from env:NEW", kept).output == "genuine\n")
    }

    @Test("A journal without a step says so, and can be used again", arguments: ["", "{\"schema\":\"kazasu.liteJo"])
    func emptyJournal(_ text: String) throws {
        let folder = try TemporaryFolder()
        let profile = try folder.write(Array(Self.profile.utf8), as: "profile.json")
        let journal = try folder.write(Array(text.utf8), as: "journal")
        let resumed = try run("resume --journal @ --key-from env:NEW", files: [journal])
        resumed.expectError(65, "is empty: nothing was written")
        #expect(resumed.errors.contains("'kazasu lite issue'"))
        try run("resume --journal @ --key-from env:NEW --lang ja", files: [journal]).expectError(65, "は空です")
        let issued = try run("issue --profile \(profile) --key-from env:NEW --yes --journal \(journal)")
        #expect(issued.hasEnded(0), "\(issued.errors)")
        #expect(try TestFiles.read(journal).starts(with: Array("{\"schema\":\"kazasu.liteJournal/1\",".utf8)))
        // Another file is never taken for one.
        let notes = try folder.write(Array("my notes".utf8), as: "notes")
        try run("issue --profile \(profile) --key-from env:NEW --yes --journal @", files: [notes]).expectError(
            73, "exists")
        #expect(try TestFiles.read(notes) == Array("my notes".utf8))
    }

    @Test("A dump holds no key, and that is said")
    func dumpsLoseTheKey() throws {
        let folder = try TemporaryFolder()
        let profile = try folder.write(Array(Self.profile.utf8), as: "profile.json")
        let dump = "\(TestFiles.root)/Fixtures/cards/felica-lite-s/card.json"
        let kept = folder.path + "/kept.json"
        for (language, words) in [("en", "the card's key is not kept"), ("ja", "カードの鍵は保存されません")] {
            let line =
                "issue --profile @ --key-from env:NEW --yes --journal \(folder.path)/\(language) --lang \(language)"
            let result = try run(line + " --virtual-writes \(kept)", dump, files: [profile])
            #expect(result.hasEnded(0) && result.errors.contains(words), "\(result.errors)")
        }
        let card = try run(
            "issue --profile @ --key-from env:NEW --yes --journal \(folder.path)/j --virtual-writes \(kept)",
            files: [profile])
        #expect(card.hasEnded(0) && !card.errors.contains("not kept"), "\(card.errors)")
    }

    private static let badProfiles = [
        ("{}", "schema"), (#"{"schema": "kazasu.liteProfile/2"}"#, "kazasu.liteProfile/2"),
        (#"{"schema": "kazasu.liteProfile/1", "locked": true}"#, "locked"),
        (#"{"schema": "kazasu.liteProfile/1", "keyVersion": "1"}"#, "keyVersion"),
        (#"{"schema": "kazasu.liteProfile/1", "blocks": {"15": "00"}}"#, "blocks"),
        (#"{"schema": "kazasu.liteProfile/1", "readOnly": [15]}"#, "readOnly"), ("[", ""),
    ]

    @Test("Profiles and journals that are none", arguments: badProfiles)
    func badFiles(_ text: String, _ word: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(text.utf8), as: "file.json")
        try run("issue --profile @ --dry-run", files: [file]).expectError(65, word)
        try run("resume --journal @ --key-from env:KEY", files: [file]).expectError(65)
        try run("issue --profile \(folder.path)/none --dry-run").expectError(66)
        try run("resume --journal @ --key-from env:KEY --redact", files: [file]).expectError(64, "--redact")
    }

    @Test("A counter at its end, and two issuances with one journal")
    func worn() throws {
        let folder = try TemporaryFolder()
        let profile = try folder.write(Array(Self.profile.utf8), as: "profile.json")
        let count = "\"90\": \"ffffff00000000000000000000000000\", \"00\":"
        let worn = try changed(Self.open, [("\"00\":", count)], in: folder)
        try run("issue --profile @ --key-from env:NEW --yes --journal \(folder.path)/j", worn, files: [profile])
            .expectError(77, "reached its end")
        #expect(!FileStatus.exists(folder.path + "/j"))

        let journal = folder.path + "/journal"
        let first = try run("issue --profile @ --key-from env:NEW --yes --journal \(journal)", files: [profile])
        #expect(first.hasEnded(0), "\(first.errors)")
        let descriptor = Glibc.open(journal, O_RDWR)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        try run("resume --journal \(journal) --key-from env:NEW").expectError(73, "another program")
    }
}

private enum FileStatus {
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
