// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// The card file's key is test data; what a tag of NXP's own does is only known from its data sheet and from nfcpy.
@Suite("kazasu tag --key-from", .waits)
struct TagKeyTests {
    private static let tag = "virtual:\(TestFiles.root)/Fixtures/virtual/ultralight-c.json"
    private static let key = "00112233445566778899AABBCCDDEEFF"

    private func run(_ arguments: String..., key: String = key) throws -> ChildResult {
        try Kazasu.run(arguments + ["-r", Self.tag, "--key-from", "env:KEY"], environment: ["KEY": key])
    }

    /// A command line, and the name of its answer without and with the key.
    static let answers: [(line: String, hasKey: Bool, name: String)] = [
        ("tag info", false, "closed-info.txt"), ("tag info --lang ja", false, "closed-info.ja.txt"),
        ("tag info --json", false, "closed-info.json"), ("dump", false, "closed-dump.hex"),
        ("tag info", true, "info.txt"), ("tag info --json", true, "info.json"), ("tag read", true, "read.txt"),
        ("tag pages", true, "pages.txt"), ("dump", true, "dump.hex"),
    ]

    @Test("Shows more with the key than without", arguments: answers)
    func answer(_ row: (line: String, hasKey: Bool, name: String)) throws {
        let words = row.line.split(separator: " ").map(String.init) + (row.hasKey ? ["--key-from", "env:KEY"] : [])
        let result = try Kazasu.run(words + ["-r", Self.tag], environment: ["KEY": Self.key])
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.errors.isEmpty)
        try Snapshot.check(result.output, "answers/tag-ultralight-c-\(row.name)")
    }

    @Test("A message behind the key is neither read nor written without it")
    func closed() throws {
        try Kazasu.run("tag", "read", "-r", Self.tag).expectError(76, "it cannot be read without a key")
        try Kazasu.run("tag", "write", "--text", "x", "--yes", "-r", Self.tag).expectError(76, "without a key")
        try Kazasu.run("tag", "pages", "--pages", "5", "-r", Self.tag).expectError(77, "the tag refused page 05")
    }

    @Test("Written, read back and compared with the key")
    func write() throws {
        let result = try run("tag", "write", "--text", "hello", "--yes")
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.messages.last == "kazasu: 12 bytes written and read back")
        #expect(try run("tag", "write", "--page", "8", "DEADBEEF", "--yes").hasEnded(0))
        let open = try Kazasu.run("tag", "write", "--page", "8", "DEADBEEF", "--yes", "-r", Self.tag)
        open.expectError(77, "the tag refused page 08")
    }

    /// Texts that are the key, and what they come from.
    @Test("Every way to give the key", arguments: ["env:KEY", "file:FILE", "fd:3"])
    func sources(source: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Array("0x0011:22:33 44556677-8899aabb 0xCCddeeff\r\nmore\n".utf8), as: "key")
        let source = source == "file:FILE" ? "file:\(file)" : source
        let result = try Kazasu.shell(
            "kazasu tag read -r '\(Self.tag)' --key-from '\(source)' 3<'\(file)'", environment: ["KEY": Self.key])
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.output.contains("https://kazasu.example/c"))
    }

    static let badKeys = [
        "x", "0011", key + "00", String(key.dropLast()), "0 0112233445566778899AABBCCDDEEFF", "x\(key)",
        String(repeating: "1", count: 65), "",
    ]

    @Test("Rejects an invalid key before it asks for a card, and never prints it", arguments: badKeys)
    func noKey(text: String) throws {
        let result = try run("tag", "read", key: text)
        result.expectError(64, "the key")
        #expect(text.count < 4 || !result.errors.contains(text))
    }

    @Test("A wrong key, no key at all, and tags that take none")
    func refusals() throws {
        let wrong = "FFEEDDCCBBAA99887766554433221100"
        let result = try run("tag", "read", key: wrong)
        result.expectError(77, "wrong key for this tag")
        #expect(!result.errors.contains(wrong) && result.errors.contains("K1 comes before K2"))
        #expect(try run("tag", "info", "--json", key: wrong).errorDocument().required("reason").text() == "wrongKey")
        let none = try Kazasu.run("tag", "read", "-r", Self.tag, "--key-from", "env:NOT_THERE", "--json")
        #expect(try none.errorDocument().required("reason").text() == "noKey")
        for file in ["tags/ntag213", "tags/type4", "cards/felica-lite-s/card"] {
            for command in [["tag", "read"], ["dump"]] {
                let other = try Kazasu.run(
                    command + ["-r", "virtual:\(TestFiles.root)/Fixtures/\(file).json", "--key-from", "env:KEY"],
                    environment: ["KEY": Self.key])
                other.expectError(76, "cannot be authenticated with a key")
            }
        }
    }

    @Test("A secret in the place of its source is refused and not repeated", arguments: ["", "--json", "--lang=ja"])
    func secretAsArgument(option: String) throws {
        let options = option.isEmpty ? [] : [option]
        for line in [["tag", "read", "--key-from"], ["license", "--pin1-from"], ["mynumber", "--pin1-from"]] {
            for secret in [Self.key, "2525:x", "fd:-2525", "env:"] {
                let result = try Kazasu.run(line + [secret] + options)
                #expect(result.hasEnded(64) && result.output.isEmpty)
                #expect(result.errors.contains("env:NAME") || result.errors.contains("env:変数名"))
                #expect(!result.errors.contains(Self.key) && !result.errors.contains("2525"))
            }
        }
    }

    @Test("A dump that ended at the first protected page is gone on with by the key, which is not in it")
    func dump() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/card.json"
        #expect(try Kazasu.run("dump", "-r", Self.tag, "-o", file).hasEnded(0))
        let whole = try run("dump", "--resume", file, "-o", file)
        #expect(whole.hasEnded(0), "\(whole.errors)")
        let text = try folder.text("card.json")
        #expect(!text.contains("closedFrom") && text.contains(#""2B""#) && !text.contains(#""2C""#))
        for secret in [Self.key, "7766554433221100", "ffeeddccbbaa9988"] {
            #expect(!text.lowercased().contains(secret.lowercased()))
        }
        #expect(try Kazasu.run("decode", file).output.contains("https://kazasu.example/c"))
        for option in ["--system=0003", "--service=090F"] {
            #expect(try run("dump", option).hasEnded(64))
        }
    }

    @Test("A trace shows the authentication and not the key, and plays again with no reader")
    func trace() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/trace"
        #expect(try run("tag", "read", "--trace", file).hasEnded(0))
        let trace = String(decoding: try TestFiles.read(file), as: UTF8.self).lowercased()
        #expect(trace.contains("\"1a00\""))
        for secret in [Self.key, "7766554433221100", "FFEEDDCCBBAA9988", "00112233", "8899AABB"] {
            #expect(!trace.contains(secret.lowercased()))
        }
    }

    @Test("Pages with key or password are not written at all")
    func secretPages() throws {
        for page in ["2A", "2B", "2C", "2F"] {
            let data = page == "2F" ? "00000000" : String(repeating: "00", count: 12)
            let result = try run("tag", "write", "--page", page, data, "--yes", "--permanent")
            result.expectError(77, "contains the tag's password or key")
        }
        for page in ["2B", "2C"] {
            let ntag = "virtual:\(TestFiles.root)/Fixtures/tags/ntag213.json"
            try Kazasu.run("tag", "write", "-r", ntag, "--page", page, "11223344", "--yes", "--permanent")
                .expectError(77, "page \(page) contains the tag's password or key")
        }
    }
}
