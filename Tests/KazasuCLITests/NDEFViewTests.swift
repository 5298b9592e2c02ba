// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import TestSupport
import Testing

/// How records are displayed, whatever is written on the tag.
@Suite("Records of an NDEF message", .waits)
struct NDEFViewTests {
    /// A record whose lengths have one byte; `header` without MB and ME.
    private static func record(
        _ header: UInt8, _ type: String, _ payload: [UInt8], id: String? = nil, first: Bool = false, last: Bool = false
    ) -> [UInt8] {
        let flags = header | 0x10 | (first ? 0x80 : 0) | (last ? 0x40 : 0) | (id == nil ? 0 : 0x08)
        let lengths = [flags, UInt8(type.utf8.count), UInt8(payload.count)] + (id.map { [UInt8($0.utf8.count)] } ?? [])
        return lengths + type.utf8 + (id.map { Array($0.utf8) } ?? []) + payload
    }

    private static let poster: [UInt8] =
        record(0x01, "U", [0x04] + "kazasu.example".utf8, first: true)
        + record(0x01, "T", [0x02] + "enhold it".utf8) + record(0x01, "T", [0x02] + "jaかざす".utf8)
        + record(0x01, "act", [0x01]) + record(0x01, "s", [0x00, 0x00, 0x10, 0x00])
        + record(0x01, "t", Array("text/html".utf8)) + record(0x02, "image/png", [0x89, 0x50, 0x4E, 0x47], last: true)

    /// One record of each kind, well made or not.
    private static let everything: [UInt8] =
        record(0x01, "Sp", poster, first: true)
        // A text without its status byte, an address with a number that no prefix has, an action that is none.
        + record(0x01, "T", []) + record(0x01, "U", [0x40] + "kazasu.example".utf8)
        + record(0x01, "Sp", record(0x01, "U", [0x00], first: true) + record(0x01, "act", [0x09], last: true))
        + record(0x02, "application/octet-stream", Array(0..<40)) + record(0x02, "text/plain", Array("two\nlines".utf8))
        + record(0x04, "example.com:x", [0xFF, 0x00], id: "1") + record(0x01, "Hs", [0x12])
        + record(0x03, "http://a.example/", [0x01]) + record(0x05, "", [0xCA, 0xFE]) + record(0x00, "", [])
        // What a terminal would obey.
        + record(0x01, "T", [0x02] + "en\u{1B}[2J\u{202E}x".utf8, last: true)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The ID of a Type 4 Tag with a message.
    private func tag(_ message: [UInt8]) throws -> String {
        let length = [UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
        return try folder.card(
            """
            {"schema":"kazasu.card/1","typeA":{"uid":"04112233445566"},
             "applications":[{"aid":"d2760000850101","files":{
              "E103":"000f20003b00340406e10404000000",
              "E104":{"data":"\(Hex.encode(length + message))","size":1024}}}]}
            """)
    }

    static let answers: [(arguments: [String], name: String)] = [
        ([], "records.txt"), (["--lang", "ja"], "records.ja.txt"), (["--redact"], "records-redacted.txt"),
        (["--json"], "records.json"), (["--json", "--redact"], "records-redacted.json"),
    ]

    @Test("Every kind of record", arguments: answers)
    func everything(_ row: (arguments: [String], name: String)) throws {
        let result = try Kazasu.run(["tag", "read", "-r", try tag(Self.everything)] + row.arguments)
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.errors.isEmpty)
        #expect(!result.output.contains("\u{1B}"))
        #expect(!result.output.contains("\u{202E}") || row.arguments.contains("--json"))
        try Snapshot.check(result.output, "answers/tag-\(row.name)")
    }

    @Test("A URI that was filled up with zeros is shown beside its error")
    func paddedURI() throws {
        let payload = [0x04] + Array("www.example.com".utf8) + [UInt8](repeating: 0, count: 6)
        let reader = try tag([0xD1, 0x01, UInt8(payload.count), 0x55] + payload)
        let result = try Kazasu.run("tag", "read", "-r", reader)
        #expect(result.hasEnded(0) && result.output.contains("not a valid URI"), "\(result.output)\(result.errors)")
        #expect(result.output.contains("https://www.example.com (followed by zeros)"), "\(result.output)")
        let japanese = try Kazasu.run("tag", "read", "-r", reader, "--lang", "ja")
        #expect(japanese.output.contains("https://www.example.com（後ろにゼロが続いています）"), "\(japanese.output)")
        let json = try Kazasu.run("tag", "read", "-r", reader, "--json")
        #expect(json.output.contains("\"uri\": \"https://www.example.com\"") && json.output.contains("notAURI"))
        #expect(try !Kazasu.run("tag", "read", "-r", reader, "--redact").output.contains("example.com"))
    }

    @Test("A tag with an empty message")
    func empty() throws {
        let result = try Kazasu.run("tag", "read", "-r", try tag([]))
        #expect(result.hasEnded(0))
        #expect(result.output == "Message  empty\n")
    }

    @Test(
        "Bytes that are not a message", arguments: [[0xD1], [0xD1, 0x01, 0x05, 0x55, 0x00], [0x11, 0x01, 0x00, 0x54]])
    func broken(_ bytes: [UInt8]) throws {
        let reader = try tag(bytes)
        let result = try Kazasu.run("tag", "read", "-r", reader)
        result.expectError(76, "no NDEF message: ")
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("--raw FILE saves the bytes unchanged"))
        try Kazasu.run("tag", "read", "-r", reader, "--lang", "ja").expectError(76, "NDEF メッセージではありません")
        // The document is whole, and says what is wrong in it.
        let json = try Kazasu.run("tag", "read", "-r", reader, "--json")
        #expect(json.hasEnded(76))
        #expect(json.output.contains("\"records\": [],\n  \"error\": "), "\(json.output)")
        let file = "\(folder.path)/raw"
        #expect(try Kazasu.run("tag", "read", "-r", reader, "--raw", file).hasEnded(0))
        #expect(try TestFiles.read(file) == bytes)
    }
}
