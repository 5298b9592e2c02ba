// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu tag provision, resume and reset with a DESFire", .waits)
struct DESFireProvisionTests {
    /// The keys of the fixture, in every form in which they could be printed.
    private static let secrets = [
        "A0A1A2A3A4A5", "1A1B1C1D1E1F", "2A2B2C2D2E2F", "3A3B3C3D3E3F", "4A4B4C4D4E4F", "5A5B5C5D5E5F",
    ]

    /// A card whose state is kept between runs, and a folder for what belongs to it.
    private struct Stand {
        let folder: TemporaryFolder
        let card, keys, journal: String
        let plan = "\(TestFiles.root)/Fixtures/provision/desfire-plan.json"

        init() throws {
            folder = try TemporaryFolder()
            card = try folder.write(TestFiles.read("Fixtures/virtual/desfire-factory.json"), as: "card.json")
            keys = try folder.write(TestFiles.read("Fixtures/provision/desfire-keys.txt"), as: "card.keys")
            chmod(keys, 0o600)
            journal = folder.path + "/journal"
        }

        func run(_ words: [String], keeping: Bool = true, environment: [String: String] = [:]) throws -> ChildResult {
            let reader = ["-r", "virtual:\(card)"] + (keeping ? ["--virtual-writes", card] : [])
            return try Kazasu.run(
                words + reader,
                environment: ["XDG_STATE_HOME": folder.path, "HOME": folder.path].merging(environment) { $1 })
        }

        var provision: [String] {
            ["tag", "provision", "--plan", plan, "--new-keys", keys, "--yes", "--json", "-q", "--journal", journal]
        }

        func state() throws -> JSONCursor {
            try JSONCursor(JSONValue(parsing: Array(TestFiles.read(card)))).required("desfire")
        }

        func applications() throws -> [JSONCursor] { try state().required("applications").elements() }
    }

    private static func document(_ result: ChildResult) throws -> JSONCursor {
        #expect(result.hasEnded(0), "\(result)")
        return JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
    }

    private static func expect(_ status: Int32, _ reason: String, _ result: ChildResult) throws {
        #expect(result.hasEnded(status), "\(result)")
        #expect(try result.errorDocument().required("reason").text() == reason)
    }

    private static func expectNoKey(_ texts: String...) {
        for text in texts {
            let digits = text.uppercased().filter(\.isHexDigit)
            for secret in secrets { #expect(!digits.contains(secret), "\(secret)") }
        }
    }

    @Test func setsUpReadsAndResets() throws {
        let stand = try Stand()
        let trace = stand.folder.path + "/trace"
        let planned = try stand.run(
            ["tag", "provision", "--plan", stand.plan, "--new-keys", stand.keys, "--dry-run", "--json"], keeping: false)
        let steps = try Self.document(planned).required("steps").elements()
        #expect(try steps.allSatisfy { try $0.required("state").text() == "planned" } && steps.count > 12)
        let made = try stand.run(stand.provision + ["--trace", trace])
        let document = try Self.document(made)
        #expect(try document.required("verified").bool() && document.required("chip").text() == "desfire")
        #expect(try document.required("url").text() == "https://kazasu.example/club")
        let keys = try document.required("keys").elements().map {
            "\(try $0.required("aid").text()) \(try $0.required("number").integer()) \(try $0.required("version").integer())"
        }
        #expect(keys == ["000000 0 1", "000001 0 1", "000001 1 1", "F5A1C0 0 1", "F5A1C0 1 2", "F5A1C0 2 2"])
        let journal = String(decoding: try TestFiles.read(stand.journal), as: UTF8.self)
        let frames = String(decoding: try TestFiles.read(trace), as: UTF8.self)
        Self.expectNoKey(made.output, made.errors, journal, frames)
        // What ChangeKey sends is masked: with the factory's key anybody could decipher it.
        let changes = frames.split(separator: "\n").compactMap {
            $0.ranges(of: "90c40000").first.map(\.upperBound).map { frames[$0...] }
        }
        #expect(changes.count >= 6)
        for change in changes {
            #expect(change.dropFirst(4).hasPrefix(String(repeating: "00", count: 24)), "\(change.prefix(60))")
        }
        // Phones read the page without a key, and the owner uses the keys.
        let page = try stand.run(["tag", "read", "--json"])
        #expect(page.hasEnded(0) && page.output.contains("https://kazasu.example/club"), "\(page)")
        let key = ["KEY": "1A1B1C1D1E1F10111213141516171819"]
        let value = try stand.run(
            ["desfire", "read", "F5A1C0:3", "--key-from", "env:KEY", "--key-number", "1"], environment: key)
        #expect(value.output == "500\n", "\(value)")
        let message = ["tag", "write", "--uri", "https://kazasu.example/new", "--yes", "--json"]
        let writer = ["WRITER": "5A5B5C5D5E5F50515253545556575859", "OTHER": "5A5B5C5D5E5F50515253545556575800"]
        let refused = try stand.run(message)
        #expect(!refused.hasEnded(0), "\(refused)")
        try Self.expect(
            77, "wrongKey", stand.run(message + ["--key-from", "env:OTHER", "--key-number", "1"], environment: writer))
        let written = try stand.run(message + ["--key-from", "env:WRITER", "--key-number", "1"], environment: writer)
        #expect(written.hasEnded(0), "\(written)")
        #expect(try stand.run(["tag", "read", "--json"]).output.contains("https://kazasu.example/new"))
        try Self.expect(77, "alreadySetUp", stand.run(stand.provision.dropLast() + [stand.journal + "2"]))
        let reset = try stand.run(
            [
                "tag", "reset", "--keys", stand.keys, "--yes", "--json", "-q", "--format", "--journal",
                stand.journal + "3",
            ])
        #expect(try Self.document(reset).required("left").elements().isEmpty)
        Self.expectNoKey(reset.output, reset.errors)
        let state = try stand.state()
        #expect(try state.required("keys").elements().map { try $0.text() } == [String(repeating: "0", count: 32)])
        #expect(try stand.applications().isEmpty && state.required("settings").text() == "0f")
    }

    /// The answer to a command is lost, or the card is away for it: the journal says how far it came, and `resume` ends it.
    @Test(arguments: Array(stride(from: 10, through: 130, by: 12)), ["silence", "absent"])
    func resumes(_ number: Int, _ fault: String) throws {
        let stand = try Stand()
        let text = String(decoding: try TestFiles.read(stand.card), as: UTF8.self)
        let faults = #""virtual": {"faults": [{"fault": "\#(fault)", "of": "apdus", "at": \#(number)}]}"#
        _ = try stand.folder.write(
            Array(text.replacing("\"typeA\"", with: faults + ", \"typeA\"").utf8), as: "card.json")
        let first = try stand.run(stand.provision)
        guard !first.hasEnded(0) else { return }
        #expect(first.hasEnded(74), "\(first)")
        let written = String(decoding: try TestFiles.read(stand.card), as: UTF8.self)
        _ = try stand.folder.write(
            Array(written.replacing("\"at\": \(number)", with: "\"at\": 1000000").utf8), as: "card.json")
        let isBegun = access(stand.journal, F_OK) == 0
        #expect(try first.errorDocument().required("hint").text().contains("kazasu tag resume --journal") == isBegun)
        let second =
            try isBegun
            ? stand.run(["tag", "resume", "--journal", stand.journal, "--new-keys", stand.keys, "--json"])
            : stand.run(stand.provision)
        #expect(try Self.document(second).required("verified").bool())
        #expect(try stand.applications().count == 2)
    }

    /// Killed, or stopped by Ctrl-C, right after the card has carried out a key change.
    @Test(arguments: [SIGKILL, SIGINT])
    func killed(_ signal: Int32) throws {
        let stand = try Stand()
        let reader = try SimulatedReader(stand.card, link: "\(stand.folder.path)/reader")
        let environment = Kazasu.environment.merging(["XDG_STATE_HOME": stand.folder.path]) { $1 }
        let keys = ["--new-keys", stand.keys, "--journal", stand.journal, "-r", reader.id]
        let child = try RunningChild(
            Kazasu.path, ["tag", "provision", "--plan", stand.plan, "--yes", "--trace", "/dev/stderr"] + keys,
            environment: environment)
        #expect(try child.writes("90c40000", to: .errors))
        child.send(signal)
        let first = child.finish()
        #expect(signal == SIGKILL ? first.end == .signalled(SIGKILL) : !first.hasEnded(0), "\(first)")
        let second = try Kazasu.run(["tag", "resume", "--json"] + keys, environment: environment)
        #expect(try Self.document(second).required("verified").bool())
    }

    @Test("Masters and AN10922: one file of keys for all cards")
    func diversifies() throws {
        let stand = try Stand()
        let more = ["--diversify", "uid+3042F5"]
        #expect(try Self.document(stand.run(stand.provision + more)).required("verified").bool())
        let first = try #require(try stand.applications().first).required("keys").elements()[1].text()
        #expect(first.uppercased() != "1A1B1C1D1E1F10111213141516171819")
        let key = ["KEY": "1A1B1C1D1E1F10111213141516171819"]
        let read = ["desfire", "read", "F5A1C0:3", "--key-from", "env:KEY", "--key-number", "1"]
        #expect(try stand.run(read + more, environment: key).output == "500\n")
        try Self.expect(77, "wrongKey", stand.run(read + ["--json"], environment: key))
        let dump = try stand.run(["desfire", "dump", "--keys", stand.keys] + more)
        #expect(dump.hasEnded(0) && dump.output.contains("\"value\": 500"), "\(dump)")
        Self.expectNoKey(dump.output)
    }

    @Test(
        "The page for phones is written with a key of each kind and of any number",
        arguments: [
            ("des", 2, "0123456789ABCDEF"), ("3k3des", 5, "00112233445566778899AABBCCDDEEFF0102030405060708"),
            ("aes", 13, "00112233445566778899AABBCCDDEEFF"),
        ])
    func page(_ type: String, _ number: Int, _ key: String) throws {
        let stand = try Stand()
        let plan = try stand.folder.write(
            Array(
                """
                {"schema": "kazasu.tagPlan/1", "chip": "desfire", "ndef": {
                  "size": 64, "uri": "https://kazasu.example/a", "keyType": "\(type)", "writeKey": \(number)}}
                """.utf8), as: "plan.json")
        let keys = try stand.folder.write(Array("000001 \(number) \(key) 21\n".utf8), as: "page.keys")
        chmod(keys, 0o600)
        let made = try stand.run(["tag", "provision", "--plan", plan, "--new-keys", keys, "--yes", "--json", "-q"])
        #expect(try Self.document(made).required("verified").bool())
        func write(_ key: String) throws -> ChildResult {
            try stand.run(
                [
                    "tag", "write", "--uri", "https://kazasu.example/b", "--yes", "--json", "--key-from", "env:KEY",
                    "--key-number", "\(number)",
                ], environment: ["KEY": key])
        }
        try Self.expect(77, "wrongKey", write(String(key.reversed())))
        for length in [16, 32, 48] where length != key.count {
            let other = String(repeating: "5A", count: length / 2)
            // Sixteen digits are a key of DES twice, which has the length of one of AES.
            let isTried = length == 16 ? type != "3k3des" : length == 32 && type == "des"
            try Self.expect(isTried ? 77 : 64, isTried ? "wrongKey" : "badKey", write(other))
        }
        let written = try write(key)
        #expect(written.hasEnded(0), "\(written)")
        #expect(try stand.run(["tag", "read", "--json"]).output.contains("https://kazasu.example/b"))
        Self.expectNoKey(written.output, written.errors)
    }

    @Test("A key that only a DESFire can have is not tried on another tag")
    func misplacedKeys() throws {
        let long = String(repeating: "5A", count: 24)
        let rows = [
            ("ntag424-owned", "0", long, 64, "badKey"),
            ("ntag424-owned", "5", String(long.prefix(32)), 77, "noSuchKey"),
            ("ultralight-c", "0", long, 64, "badKey"), ("ultralight-aes", "13", long, 77, "noSuchKey"),
            ("ntag213", "0", long, 76, "takesNoKey"), ("type4", "0", long, 76, "takesNoKey"),
        ]
        for (card, number, key, status, reason) in rows {
            for command in [["tag", "read"], ["dump"]] where command == ["tag", "read"] || !card.hasPrefix("ntag424") {
                let result = try Kazasu.run(
                    command + ["-r", "virtual:\(TestFiles.root)/Fixtures/virtual/\(card).json", "--json"]
                        + ["--key-from", "env:KEY", "--key-number", number], environment: ["KEY": key])
                try Self.expect(Int32(status), reason, result)
            }
        }
    }

    @Test func badInput() throws {
        let stand = try Stand()
        func write(_ text: String, _ name: String) throws -> String {
            let path = try stand.folder.write(Array(text.utf8), as: name)
            chmod(path, 0o600)
            return path
        }
        func provision(_ plan: String, _ words: String...) throws -> ChildResult {
            try stand.run(["tag", "provision", "--plan", plan, "--yes", "--json", "-q"] + words, keeping: false)
        }
        let frozen = try write(
            #"{"schema": "kazasu.tagPlan/1", "chip": "desfire", "piccSettings": "07"}"#, "frozen.json")
        let member = try write(#"{"schema": "kazasu.tagPlan/1", "chip": "desfire", "pin": 1}"#, "member.json")
        let wrong = try write("picc 0 0102030405060708090A0B0C0D0E0F10", "wrong.keys")
        let unknown = try write("ABCDEF 0 0102030405060708090A0B0C0D0E0F10", "unknown.keys")
        let zeros = try write("F5A1C0 0 \(String(repeating: "0", count: 32))", "zeros.keys")
        try Self.expect(64, "permanent", provision(frozen))
        try Self.expect(65, "badFile", provision(member))
        try Self.expect(64, "badKey", provision(stand.plan, "--new-keys", unknown))
        try Self.expect(64, "factoryKey", provision(stand.plan, "--new-keys", zeros))
        try Self.expect(77, "wrongKey", provision(stand.plan, "--keys", wrong, "--new-keys", stand.keys))
        try Self.expect(
            76, "otherCard",
            Kazasu.run([
                "tag", "provision", "--plan", stand.plan, "--new-keys", stand.keys, "--yes", "--json", "-q", "-r",
                "virtual:\(TestFiles.root)/Fixtures/virtual/ntag424-factory.json",
            ]))
        let made = try stand.run(stand.provision)
        #expect(made.hasEnded(0), "\(made)")
        let others = try write(
            String(decoding: TestFiles.read(stand.keys), as: UTF8.self).replacing("A0A1", with: "A0A2"), "others.keys")
        let resume = ["tag", "resume", "--journal", stand.journal, "--json", "-q", "--new-keys"]
        try Self.expect(77, "wrongKey", stand.run(resume + [others]))
        let again = try Self.document(stand.run(resume + [stand.keys]))
        #expect(try again.required("steps").elements().allSatisfy { try $0.required("state").text() == "already" })
    }
}
