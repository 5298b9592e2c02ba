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
            genuine.hasEnded(0) && genuine.output.contains("signed for this UID (NXP NTAG21x)"), "\(genuine.errors)")
        try verify(Self.copy).expectError(77, "not signed by a known maker")
        #expect(try verify(Self.copy, "--json").errorDocument().required("reason").text() == "notGenuine")
        try verify((Self.genuine.0, String(repeating: "0", count: 64))).expectError(76, "this chip has none")
        let redacted = try verify(Self.genuine, "--redact", "--json")
        #expect(redacted.hasEnded(0) && !redacted.output.contains("e10cda"))
        for file in ["virtual/ultralight", "virtual/ultralight-c", "tags/type4"] {
            let result = try Kazasu.run("tag", "verify", "-r", "virtual:\(TestFiles.root)/Fixtures/\(file).json")
            result.expectError(76, "this chip has none")
        }
    }

    private func check(_ url: String, _ options: String..., key: String = zeros) throws -> ChildResult {
        try Kazasu.run(["tag", "verify", url, "--key-from", "env:KEY"] + options, environment: ["KEY": key])
    }

    @Test("URLs of an NTAG 424 DNA need no reader")
    func urls() throws {
        let valid = try check(Self.plain)
        #expect(valid.hasEnded(0) && valid.output == "UID      041E3C8A2D6B80\nCounter  6\n", "\(valid.errors)")
        #expect(valid.errors.contains("anybody can make such a URL"))
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

    @Test("Options that need each other, and keys that are none")
    func usage() throws {
        try Kazasu.run("tag", "verify", Self.plain).expectError(64, "a URL requires --key-from")
        try Kazasu.run("tag", "verify", "--key-from", "env:KEY").expectError(64, "--key-from requires a URL")
        try Kazasu.run("tag", "verify", "--after", "1").expectError(64, "--after requires a URL")
        for key in ["00", Self.zeros + "00", "x", ""] { try check(Self.plain, key: key).expectError(64, "the key") }
    }
}
