// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu tag provision, resume and reset", .waits)
struct TagProvisionTests {
    /// The keys of the fixture, in every form in which they could be printed.
    private static let secrets = ["A0A1A2A3A4A5", "1A1B1C1D1E1F", "2A2B2C2D2E2F", "3A3B3C3D3E3F", "4A4B4C4D4E4F"]

    /// A tag whose state is kept between runs, and a folder for what belongs to it.
    private struct Stand {
        let folder: TemporaryFolder
        let tag, keys, journal: String
        let plan = "\(TestFiles.root)/Fixtures/provision/ntag424-plan.json"

        init(_ card: String = "ntag424-factory") throws {
            folder = try TemporaryFolder()
            tag = try folder.write(TestFiles.read("Fixtures/virtual/\(card).json"), as: "tag.json")
            keys = try folder.write(TestFiles.read("Fixtures/provision/ntag424-keys.txt"), as: "tag.keys")
            chmod(keys, 0o600)
            journal = folder.path + "/journal"
        }

        func run(_ words: String..., keeping: Bool = true) throws -> ChildResult {
            try run(words, keeping: keeping)
        }

        func run(_ command: String, _ words: [String]) throws -> ChildResult { try run([command] + words) }

        private func run(_ words: [String], keeping: Bool = true) throws -> ChildResult {
            let reader = ["-r", "virtual:\(tag)"] + (keeping ? ["--virtual-writes", tag] : [])
            return try Kazasu.run(
                ["tag"] + words + reader, environment: ["XDG_STATE_HOME": folder.path, "HOME": folder.path])
        }

        func write(_ text: String, as name: String) throws -> String {
            let path = try folder.write(Array(text.utf8), as: name)
            chmod(path, 0o600)
            return path
        }

        func state() throws -> JSONCursor {
            try JSONCursor(JSONValue(parsing: Array(TestFiles.read(tag)))).required("ntag424")
        }
    }

    private static func expect(_ status: Int32, _ reason: String, _ result: ChildResult) throws {
        #expect(result.hasEnded(status), "\(result)")
        #expect(try result.errorDocument().required("reason").text() == reason)
    }

    private static func document(_ result: ChildResult) throws -> JSONCursor {
        JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
    }

    private static func expectNoKey(_ texts: String...) {
        for text in texts {
            let digits = text.uppercased().filter(\.isHexDigit)
            for secret in secrets { #expect(!digits.contains(secret), "\(secret)") }
        }
    }

    @Test func setsUpAndResets() throws {
        let stand = try Stand()
        let trace = stand.folder.path + "/trace"
        let planned = try stand.run(
            "provision", "--plan", stand.plan, "--new-keys", stand.keys, "--dry-run", "--json", keeping: false)
        #expect(planned.hasEnded(0), "\(planned)")
        #expect(try Self.document(planned).required("verified").bool() == false)
        let made = try stand.run(
            "provision", "--plan", stand.plan, "--new-keys", stand.keys, "--yes", "--json", "--journal", stand.journal,
            "--trace", trace)
        #expect(made.hasEnded(0), "\(made)")
        let document = try Self.document(made)
        #expect(try document.required("verified").bool())
        let url = try document.required("url").text()
        #expect(url.hasPrefix("https://kazasu.example/t?p="))
        let journal = String(decoding: try TestFiles.read(stand.journal), as: UTF8.self)
        let frames = String(decoding: try TestFiles.read(trace), as: UTF8.self)
        Self.expectNoKey(made.output, made.errors, journal, frames)
        #expect(frames.contains("90c4000029"))
        // Without the answers to ChangeKey's data, nobody can decipher it.
        for line in frames.split(separator: "\n") {
            guard let start = line.ranges(of: "90c40000").first else { continue }
            #expect(line[start.upperBound...].dropFirst(4).hasPrefix(String(repeating: "00", count: 40)), "\(line)")
        }
        let verified = try Kazasu.run(
            ["tag", "verify", url, "--key-from", "env:SUN"],
            environment: ["SUN": "2A2B2C2D2E2F202122232425262728291A1B1C1D1E1F10111213141516171819"])
        #expect(verified.hasEnded(0), "\(verified)")
        let second = try stand.run(
            "provision", "--plan", stand.plan, "--new-keys", stand.keys, "--yes", "--json", "--journal",
            stand.journal + "2")
        try Self.expect(77, "alreadySetUp", second)
        let reset = try stand.run("reset", "--keys", stand.keys, "--yes", "--json", "--journal", stand.journal + "3")
        #expect(reset.hasEnded(0), "\(reset)")
        Self.expectNoKey(reset.output, reset.errors)
        let state = try stand.state()
        #expect(try state.required("keys").elements().allSatisfy { try $0.text() == String(repeating: "0", count: 32) })
    }

    /// The answer to a command is lost, or the tag is away for it: the journal says how far it came, and `resume` ends it.
    @Test(arguments: Array(stride(from: 18, through: 102, by: 6)), ["silence", "absent"])
    func resumes(_ number: Int, _ fault: String) throws {
        let stand = try Stand()
        let text = String(decoding: try TestFiles.read(stand.tag), as: UTF8.self)
        let faults = #""virtual": {"faults": [{"fault": "\#(fault)", "of": "apdus", "at": \#(number)}]}"#
        _ = try stand.folder.write(
            Array(text.replacing("\"typeA\"", with: faults + ", \"typeA\"").utf8), as: "tag.json")
        let words = [
            "--plan", stand.plan, "--new-keys", stand.keys, "--yes", "--json", "-q", "--journal", stand.journal,
        ]
        let first = try stand.run("provision", words)
        guard !first.hasEnded(0) else { return }
        #expect(first.hasEnded(74), "\(first)")
        let written = String(decoding: try TestFiles.read(stand.tag), as: UTF8.self)
        _ = try stand.folder.write(
            Array(written.replacing("\"at\": \(number)", with: "\"at\": 1000000").utf8), as: "tag.json")
        let isBegun = access(stand.journal, F_OK) == 0
        let hint = try first.errorDocument().required("hint").text()
        #expect(hint.contains("kazasu tag resume --journal") == isBegun, "\(hint)")
        let second =
            try isBegun
            ? stand.run("resume", ["--journal", stand.journal, "--new-keys", stand.keys, "--json"])
            : stand.run("provision", words)
        #expect(second.hasEnded(0), "\(second)")
        let state = try stand.state()
        #expect(try state.required("keys").elements().allSatisfy { try $0.text().first != "0" })
        // One refusal at most, of the new key where the tag still had the old one; right ones take it off.
        #expect(try state.optional("failures")?.integer() ?? 0 == 0)
    }

    /// Killed, or stopped by Ctrl-C, when the tag has a new key and nobody has proved it.
    @Test(arguments: ["00", "01", "02", "03", "04"], [SIGKILL, SIGINT])
    func killed(_ key: String, _ signal: Int32) throws {
        let stand = try Stand()
        let reader = try SimulatedReader(stand.tag, link: "\(stand.folder.path)/card")
        let environment = Kazasu.environment.merging(["XDG_STATE_HOME": stand.folder.path]) { $1 }
        let keys = ["--new-keys", stand.keys, "--journal", stand.journal, "-r", reader.id]
        let child = try RunningChild(
            Kazasu.path, ["tag", "provision", "--plan", stand.plan, "--yes", "--trace", "/dev/stderr"] + keys,
            environment: environment)
        // The line of an exchange follows its answer.
        #expect(try child.writes("90c4000029\(key)00", to: .errors))
        child.send(signal)
        let first = child.finish()
        #expect(signal == SIGKILL ? first.end == .signalled(SIGKILL) : !first.hasEnded(0), "\(first)")
        let second = try Kazasu.run(["tag", "resume", "--json"] + keys, environment: environment)
        #expect(second.hasEnded(0), "\(second)")
        #expect(try Self.document(second).required("verified").bool())
    }

    @Test func badInput() throws {
        let stand = try Stand()
        let wrong = try stand.write("0 0102030405060708090A0B0C0D0E0F10", as: "wrong.keys")
        let zeros = try stand.write("0 \(String(repeating: "0", count: 32))", as: "zeros.keys")
        let short = try stand.write("0 0102", as: "short.keys")
        let twice = try stand.write("1 factory\n1 factory", as: "twice.keys")
        let member = try stand.write(
            #"{"schema": "kazasu.tagPlan/1", "chip": "ntag424", "url": "https://a.example/", "key0": "00"}"#, as: "p1")
        let forever = try stand.write(
            #"{"schema": "kazasu.tagPlan/1", "chip": "ntag424", "url": "https://a.example/", "readOnly": true}"#,
            as: "p2")
        func provision(_ plan: String, _ more: String...) throws -> ChildResult {
            try Kazasu.run(
                ["tag", "provision", "--plan", plan, "--yes", "--json", "-q", "-r", "virtual:\(stand.tag)"] + more,
                environment: ["XDG_STATE_HOME": stand.folder.path, "HOME": stand.folder.path])
        }
        try Self.expect(64, "factoryKey", provision(stand.plan, "--new-keys", zeros))
        try Self.expect(64, "factoryKey", provision(stand.plan))
        try Self.expect(65, "badFile", provision(stand.plan, "--new-keys", short))
        try Self.expect(65, "badFile", provision(stand.plan, "--new-keys", twice))
        try Self.expect(65, "badFile", provision(member))
        try Self.expect(64, "permanent", provision(forever))
        try Self.expect(66, "unreadable", provision(stand.folder.path + "/none"))
        try Self.expect(77, "wrongKey", provision(stand.plan, "--keys", wrong, "--new-keys", stand.keys))
        try Self.expect(77, "keyFailedBefore", provision(stand.plan, "--keys", wrong, "--new-keys", stand.keys))
        let other = try Kazasu.run(
            [
                "tag", "provision", "--plan", stand.plan, "--new-keys", stand.keys, "--yes", "--json", "-r",
                "virtual:\(TestFiles.root)/Fixtures/tags/type4.json",
            ])
        try Self.expect(76, "takesNoKey", other)
        let made = try stand.run(
            "provision", "--plan", stand.plan, "--new-keys", stand.keys, "--yes", "--journal", stand.journal)
        #expect(made.hasEnded(0), "\(made)")
        let others = try stand.write(
            String(decoding: TestFiles.read(stand.keys), as: UTF8.self).replacing("A0A1", with: "A0A2"),
            as: "others.keys")
        try Self.expect(
            77, "wrongKey", stand.run("resume", "--journal", stand.journal, "--new-keys", others, "--json", "-q"))
        let again = try stand.run("resume", "--journal", stand.journal, "--new-keys", stand.keys, "--json")
        #expect(again.hasEnded(0), "\(again)")
        #expect(
            try Self.document(again).required("steps").elements().allSatisfy {
                try $0.required("state").text() == "already"
            })
    }
}
