// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu tag verify", .waits)
struct TagVerifyTests {
    private static let zeros = String(repeating: "0", count: 32)
    private static let plain = "https://kazasu.example/?uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3"
    /// Signatures of real chips, and one of a copy.
    private static let genuine = ("04e10cda993c80", "8B76052EE42F5567BEB53238B3E3F9950707C0DCC956B5C5EFCFDB709B2D82B3")
    private static let copy = ("04b8313a307380", "8B76052EE42F5567BEB53238B3E3F9950707C0DCC956B5C5EFCFDB709B2D82B3")

    private func verify(_ tag: (uid: String, signature: String), _ options: String...) throws -> ChildResult {
        let folder = try TemporaryFolder()
        let text = """
            { "schema": "kazasu.card/1", "type2": { "model": "ntag213", "uid": "\(tag.uid)", "signature": "\(tag.signature)" } }
            """
        let file = try folder.write(Array(text.utf8), as: "card.json")
        return try Kazasu.run(["tag", "verify", "-r", "virtual:\(file)"] + options)
    }

    @Test("A signed chip, a copy, and a chip without a signature")
    func originality() throws {
        let genuine = try verify(Self.genuine)
        #expect(
            genuine.hasEnded(0) && genuine.output.contains("valid for this UID (NXP NTAG21x)"), "\(genuine.errors)")
        try verify(Self.copy).expectError(77, "not signed by a known maker")
        #expect(try verify(Self.copy, "--json").errorDocument().required("reason").text() == "notGenuine")
        try verify((Self.genuine.0, String(repeating: "0", count: 64))).expectError(
            76, "this chip has no originality signature")
        let redacted = try verify(Self.genuine, "--redact", "--json")
        #expect(redacted.hasEnded(0) && !redacted.output.contains("e10cda"))
        for file in ["virtual/ultralight", "virtual/ultralight-c", "tags/type4"] {
            let result = try Kazasu.run("tag", "verify", "-r", "virtual:\(TestFiles.root)/Fixtures/\(file).json")
            result.expectError(76, "this chip has no originality signature")
        }
    }

    private func check(_ url: String, _ options: String..., key: String = zeros) throws -> ChildResult {
        try Kazasu.run(["tag", "verify", url, "--key-from", "env:KEY"] + options, environment: ["KEY": key])
    }

    @Test("URLs of an NTAG 424 DNA need no reader")
    func urls() throws {
        let valid = try check(Self.plain)
        #expect(
            valid.hasEnded(0)
                && valid.output == """
                    State        valid
                    UID          041E3C8A2D6B80
                    Counter      6
                    Covered      UID and counter only
                    Not covered  https://kazasu.example/?uid=

                    """,
            "\(valid)")
        #expect(valid.errors.contains("anybody can make such a URL"))
        #expect(valid.errors.contains("--url-prefix checks how the URL begins"))
        #expect(try check(Self.plain, "--after", "5").hasEnded(0))
        try check(Self.plain, "--after", "6").expectError(77, "used before")
        try check(Self.plain.replacing("000006", with: "000007")).expectError(77, "no tag with this key")
        try check(Self.plain, key: String(repeating: "1", count: 32)).expectError(77, "no tag with this key")
        #expect(try check(Self.plain, key: Self.zeros + Self.zeros).hasEnded(0), "two keys")
        try check(String(Self.plain.dropLast())).expectError(64, "not a complete message")
        #expect(try check(Self.plain, "--json").hasEnded(0))
        let redacted = try check(Self.plain, "--redact", "--json")
        #expect(redacted.hasEnded(0) && !redacted.output.contains("1e3c8a"))
    }

    @Test("A8: what is not covered is said, unless a prefix pins it")
    func prefix() throws {
        let pinned = try check(Self.plain, "--url-prefix", "https://kazasu.example/?uid=", "--json")
        #expect(pinned.hasEnded(0) && pinned.output.contains(#""covered": """#), "\(pinned)")
        #expect(pinned.output.contains(#""notCovered": []"#) && !pinned.errors.contains("anybody can change"))
        let moved = Self.plain.replacing("kazasu.example", with: "kazasu.example.evil.example")
        let open = try check(moved, "--json")
        #expect(open.hasEnded(0) && open.output.contains("evil.example/?uid="), "\(open)")
        for prefix in ["https://kazasu.example/", "https://kazasu.example"] {
            let refused = try check(moved, "--url-prefix", prefix, "--json")
            #expect(refused.hasEnded(77) && refused.output.contains(#""state": "wrong""#), "\(refused)")
            #expect(refused.output.contains(#""uid": null"#))
            #expect(try refused.errorDocument().required("reason").text() == "notGenuine")
        }
        try check(Self.plain, "--url-prefix", "kazasu.example").expectError(64, "begins with scheme and host")
        try check(Self.plain.replacing("&cmac", with: "&enc=\(Self.zeros)&x=\(Self.zeros)&cmac"))
            .expectError(64, "not a complete message")
    }

    @Test("--seen keeps the highest counter of each tag, and refuses an old one")
    func seen() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/seen.tsv"
        #expect(try check(Self.plain, "--seen", file).hasEnded(0))
        #expect(try folder.text("seen.tsv") == "041E3C8A2D6B80\t00000006\n")
        let again = try check(Self.plain, "--seen", file, "--json")
        #expect(again.hasEnded(77) && again.output.contains(#""state": "replayed""#), "\(again)")
        #expect(try again.errorDocument().required("reason").text() == "replayed")
        // A URL that is not the tag's changes nothing.
        #expect(try check(Self.plain.replacing("000006", with: "000007"), "--seen", file).hasEnded(77))
        #expect(try check(Self.plain, "--seen", file, "--url-prefix", "https://other.example/").hasEnded(77))
        #expect(try folder.text("seen.tsv") == "041E3C8A2D6B80\t00000006\n")
        // Written by hand: comments, other tags, no end of line, and an older counter.
        let kept = "# gate\n04112233445566\t00000099\n041E3C8A2D6B80\t00000005\n04998877665544\t7"
        _ = try folder.write(Array(kept.utf8), as: "seen.tsv")
        #expect(try check(Self.plain, "--seen", file).hasEnded(0))
        #expect(try folder.text("seen.tsv") == kept.replacing("00000005", with: "00000006"))
        _ = try folder.write(Array("04998877665544\t7".utf8), as: "seen.tsv")
        #expect(try check(Self.plain, "--seen", file).hasEnded(0))
        #expect(try folder.text("seen.tsv") == "04998877665544\t7\n041E3C8A2D6B80\t00000006\n")
        _ = try folder.write(Array("04998877665544\t7\nhello\n".utf8), as: "seen.tsv")
        try check(Self.plain, "--seen", file).expectError(65, "line 2 is not a UID and a counter")
        try check(Self.plain, "--seen", "\(folder.path)/no/folder").expectError(73, "cannot be written")
        try check(Self.plain, "--seen", "/dev/null").expectError(73, "cannot be written")
        try Kazasu.run("tag", "verify", "--seen", file).expectError(64, "--seen requires a URL")
    }

    @Test("Of many runs with the same URL at once, --seen lets one pass")
    func race() throws {
        let folder = try TemporaryFolder()
        let line =
            "kazasu tag verify '\(Self.plain)' --key-from env:KEY --seen '\(folder.path)/seen.tsv' -q > /dev/null"
        let result = try Kazasu.shell(
            "for n in 1 2 3 4 5 6; do (\(line); echo $?) & done; wait", environment: ["KEY": Self.zeros])
        #expect(result.output.split(separator: "\n").sorted() == ["0", "77", "77", "77", "77", "77"], "\(result)")
    }

    @Test("Options that need each other, and keys that are none")
    func usage() throws {
        try Kazasu.run("tag", "verify", Self.plain).expectError(64, "a URL requires --key-from")
        try Kazasu.run("tag", "verify", "--key-from", "env:KEY").expectError(64, "--key-from requires a URL")
        try Kazasu.run("tag", "verify", "--after", "1").expectError(64, "--after requires a URL")
        for key in ["00", Self.zeros + "00", "x", ""] { try check(Self.plain, key: key).expectError(64, "the key") }
    }
}
