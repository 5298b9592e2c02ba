// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu tag --key-from, with AES", .waits)
struct TagAESKeyTests {
    private static let key = "00112233445566778899AABBCCDDEEFF"

    private func run(_ card: String, _ arguments: String..., key: String = key, state: String = "/dev/null/none") throws
        -> ChildResult
    {
        try Kazasu.run(
            arguments + ["-r", "virtual:\(TestFiles.root)/Fixtures/virtual/\(card).json", "--key-from", "env:KEY"],
            environment: ["KEY": key, "XDG_STATE_HOME": state])
    }

    /// A card, the arguments and the name of the answer.
    static let answers: [(card: String, line: String, name: String)] = [
        ("ntag424", "tag info --key-number 2", "tag-ntag424-info.txt"),
        ("ntag424", "tag info --key-number 2 --lang ja", "tag-ntag424-info.ja.txt"),
        ("ntag424", "tag info --key-number 2 --json --redact", "tag-ntag424-info-redacted.json"),
        ("ntag424", "tag read --key-number 2", "tag-ntag424-read.txt"),
        ("ultralight-aes", "tag info", "tag-ultralight-aes-info.txt"),
        ("ultralight-aes", "tag read", "tag-ultralight-aes-read.txt"),
    ]

    @Test("Reads with the key", arguments: answers)
    func answer(_ row: (card: String, line: String, name: String)) throws {
        let words = row.line.split(separator: " ").map(String.init)
        let result = try Kazasu.run(
            words + [
                "-r", "virtual:\(TestFiles.root)/Fixtures/virtual/\(row.card).json", "--key-from", "env:KEY",
            ], environment: ["KEY": Self.key])
        #expect(result.hasEnded(0), "\(result.errors)")
        try Snapshot.check(result.output, "answers/\(row.name)")
    }

    @Test("V10: the message is shown with each key that may read it, else the reason")
    func message() throws {
        for (number, key) in [("0", String(repeating: "0", count: 32)), ("2", Self.key)] {
            let result = try run("ntag424", "tag", "info", "--key-number", number, key: key)
            #expect(result.hasEnded(0) && result.output.contains("https://kazasu.example/424"), "\(result)")
            #expect(result.output.contains("NTAG 424 DNA"))
        }
        let other = try run("ntag424", "tag", "info", "--key-number", "1", key: String(repeating: "1", count: 32))
        #expect(other.hasEnded(0) && other.output.contains("it cannot be read without a key"), "\(other)")
        let card = "virtual:\(TestFiles.root)/Fixtures/virtual/ntag424.json"
        let open = try Kazasu.run("tag", "info", "-r", card, "--json")
        #expect(open.output.contains(#""product": "NTAG 424 DNA""#), "\(open)")
        #expect(open.output.contains(#""reason": "notReadable""#))
        try Kazasu.run("tag", "read", "-r", card).expectError(76, "it cannot be read without a key")
        let polled = try Kazasu.run("poll", "--applications", "-r", card)
        #expect(!polled.output.contains("DESFire"), "\(polled)")
    }

    @Test("V11, V23: what is said of another chip's signature and key")
    func words() throws {
        let card = "virtual:\(TestFiles.root)/Fixtures/virtual/ntag424.json"
        let verified = try Kazasu.run("tag", "verify", "-r", card)
        verified.expectError(76, "this chip has no originality signature")
        #expect(verified.errors.contains("NTAG 424 DNA") && !verified.errors.contains("Ultralight"))
        let wrong = try run("ntag424", "tag", "read", key: String(repeating: "9", count: 32))
        wrong.expectError(77, "wrong key for this tag")
        #expect(!wrong.errors.contains("Ultralight") && wrong.errors.contains("--key-number"))
    }

    @Test("Written in the mode of the file, and read back; not with codes of an Ultralight AES")
    func write() throws {
        let written = try run("ntag424", "tag", "write", "--text", "hello", "--yes", "--key-number", "2")
        #expect(written.hasEnded(0), "\(written.errors)")
        #expect(written.messages.last == "kazasu: 12 bytes written and read back")
        try run("ultralight-aes", "tag", "write", "--page", "8", "01020304", "--yes")
            .expectError(77, "secure messaging")
        try run("ntag424", "tag", "read", "--key-number", "1", key: String(repeating: "1", count: 32))
            .expectError(76, "cannot be read without a key")
    }

    @Test("A wrong key is used once and remembered; a random UID is not")
    func wrongKey() throws {
        let folder = try TemporaryFolder()
        let card = try folder.write(
            Array(
                String(decoding: try TestFiles.read("Fixtures/virtual/ntag424.json"), as: UTF8.self)
                    .replacing(#""uid": "random""#, with: #""uid": "04de5f1eacc040""#).utf8), as: "card.json")
        func read(_ options: String..., key: String) throws -> ChildResult {
            try Kazasu.run(
                ["tag", "read", "-r", "virtual:\(card)", "--key-from", "env:KEY", "--key-number", "2"] + options,
                environment: ["KEY": key, "XDG_STATE_HOME": folder.path])
        }
        let keys = (1...3).map { String(repeating: "\($0)", count: 32) }
        for key in keys {
            let result = try read(key: key)
            result.expectError(77, "wrong key for this tag")
            #expect(!result.errors.contains(key))
        }
        try read(key: keys[0]).expectError(77, "this tag did not accept it before")
        try read(key: Self.key).expectError(77, "3 wrong ones in a row were tried")
        #expect(try read("--use-last-try", key: Self.key).hasEnded(0))
        #expect(try read(key: Self.key).hasEnded(0))
        let random = try run("ntag424", "tag", "read", key: keys[0], state: folder.path)
        random.expectError(77, "wrong key for this tag")
        // The three that the tag refused, which no longer count as a row.
        let lines = try folder.text("kazasu/tag-passwords.tsv").split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("04de5f1eacc040\t") && $0.hasSuffix("\t-") })
        try read(key: keys[0]).expectError(77, "this tag did not accept it before")
    }

    @Test("A trace has no key; options that need one; numbers that are none")
    func usage() throws {
        let folder = try TemporaryFolder()
        let trace = "\(folder.path)/trace"
        #expect(try run("ntag424", "tag", "read", "--key-number", "2", "--trace", trace).hasEnded(0))
        #expect(try !folder.text("trace").contains(Self.key.lowercased()))
        try Kazasu.run("tag", "read", "--key-number", "1").expectError(64, "--key-number requires --key-from")
        try Kazasu.run("tag", "info", "--retry").expectError(64, "--retry requires --key-from")
        #expect(try run("ntag424", "tag", "read", "--key-number", "14").hasEnded(64))
        try run("ntag424", "tag", "read", "--key-number", "5").expectError(77, "does not authenticate with key 5")
        try run("ntag424", "dump").expectError(76, "cannot be authenticated with a key")
        try run("type4", "tag", "read").expectError(76, "cannot be authenticated with a key")
        #expect(try run("ultralight-aes", "dump").hasEnded(0))
    }
}
