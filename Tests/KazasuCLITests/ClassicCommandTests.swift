// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu classic", .waits)
struct ClassicCommandTests {
    private static let card = "virtual:\(TestFiles.root)/Fixtures/virtual/classic-1k.json"
    private static let keys = """
        * A FFFFFFFFFFFF
        0 A A0A1A2A3A4A5
        1 A D3F7D3F7D3F7
        3 A 111111111111
        3 B 222222222222
        """

    private struct Bench {
        let folder: TemporaryFolder
        let keys: String

        init(_ text: String = ClassicCommandTests.keys) throws {
            folder = try TemporaryFolder()
            keys = try folder.write(Array(text.utf8), as: "keys.txt")
        }

        func run(_ arguments: String..., hasKeys: Bool = true) throws -> ChildResult {
            try Kazasu.run(
                arguments + ["-r", ClassicCommandTests.card] + (hasKeys ? ["--keys", keys] : []), environment: [:])
        }
    }

    @Test("Shows the kind of card and which sectors open")
    func info() throws {
        let bench = try Bench()
        for (arguments, hasKeys, name) in [
            (["classic", "info"], false, "info.txt"), (["classic", "info", "--lang", "ja"], true, "info.ja.txt"),
            (["classic", "info", "--json"], true, "info.json"),
        ] {
            let result = try Kazasu.run(
                arguments + ["-r", Self.card] + (hasKeys ? ["--keys", bench.keys] : []))
            #expect(result.hasEnded(0), "\(result.errors)")
            try Snapshot.check(result.output, "answers/classic-1k-\(name)")
        }
    }

    @Test("A dump, and what is withheld without a key")
    func dump() throws {
        let bench = try Bench()
        let all = try bench.run("classic", "dump")
        #expect(all.hasEnded(0) && all.errors.isEmpty, "\(all.errors)")
        try Snapshot.check(all.output, "answers/classic-1k-dump.txt")
        let some = try Bench("FFFFFFFFFFFF\n")
        let partial = try some.run("classic", "dump", "--json")
        #expect(partial.hasEnded(0), "\(partial.errors)")
        #expect(partial.output.contains(#""withheld": [3]"#))
        try Bench("010203040506\n").run("classic", "dump").expectError(77, "no key that was given fits sector 0")
        try bench.run("classic", "dump", hasKeys: false).expectError(64, "needs the card's keys")
    }

    @Test("A dump is a key file, in every format", arguments: ["mfd", "mct", "nfc", "json", "eml"])
    func formats(ending: String) throws {
        let bench = try Bench()
        let file = "\(bench.folder.path)/card.\(ending)"
        #expect(try bench.run("classic", "dump", "-o", file).hasEnded(0))
        let again = try Kazasu.run("classic", "dump", "-r", Self.card, "--keys", file)
        #expect(again.hasEnded(0), "\(again.errors)")
        #expect(try again.output == bench.run("classic", "dump").output)
        try bench.run("classic", "dump", "-o", "\(bench.folder.path)/card.xyz").expectError(64, "the ending must be")
    }

    @Test("Blocks, and the message that the directory names")
    func read() throws {
        let bench = try Bench()
        let blocks = try bench.run("classic", "read", "13,15")
        #expect(
            blocks.output
                == "13 640000009BFFFFFF640000000DF20DF2\n15 00000000000008778F69000000000000\n", "\(blocks.errors)")
        let message = try bench.run("classic", "read", "--ndef", hasKeys: false)
        #expect(message.hasEnded(0) && message.output.contains("https://kazasu.example"), "\(message.errors)")
        #expect(try bench.run("classic", "read", "--ndef", "--json").hasEnded(0))
        try bench.run("classic", "read", "64").expectError(77, "the card has no block 64")
        try bench.run("classic", "read").expectError(64, "block numbers or --ndef")
    }

    @Test("Written and read back; what may not be written is refused before")
    func write() throws {
        let bench = try Bench()
        let data = "00112233445566778899AABBCCDDEEFF"
        let result = try bench.run("classic", "write", "8", data)
        #expect(
            result.hasEnded(0) && result.messages.last == "kazasu: block 8 written and read back", "\(result.errors)")
        try bench.run("classic", "write", "0", data).expectError(77, "it belongs to the manufacturer")
        try bench.run("classic", "write", "11", data).expectError(77, "it is a trailer")
        try bench.run("classic", "write", "1", data).expectError(77, "the access bits do not allow it")
        try bench.run("classic", "write", "8", "0011").expectError(64, "sixteen bytes")
        try bench.run("classic", "write", "8", data, hasKeys: false).expectError(64, "needs the card's keys")
    }

    @Test("Trailers: both keys, and never one that locks its owner out")
    func trailer() throws {
        let bench = try Bench("* A FFFFFFFFFFFF\n* B FFFFFFFFFFFF\n3 A 111111111111\n3 B 222222222222\n")
        func write(_ block: String, _ trailer: String, _ options: String...) throws -> ChildResult {
            let file = try bench.folder.write(Array(trailer.utf8), as: "trailer")
            return try Kazasu.run(
                ["classic", "write", block, "--trailer", "--data-from", "file:\(file)", "--yes", "-r", Self.card]
                    + ["--keys", bench.keys] + options)
        }
        let done = try write("11", "333333333333 787788 00 444444444444")
        #expect(done.hasEnded(0), "\(done.errors)")
        try write("15", "333333333333 078F0F 00 444444444444").expectError(77, "nobody could change")
        #expect(try write("15", "333333333333 078F0F 00 444444444444", "--permanent").hasEnded(0))
        try write("15", "333333333333 000000 00 444444444444").expectError(77, "do not match")
        try write("14", "333333333333 787788 00 444444444444").expectError(64, "is not a trailer")
        try write("11", "33").expectError(64, "32 hexadecimal digits")
        try bench.run("classic", "write", "11", "--trailer", "00112233445566778899AABBCCDDEEFF")
            .expectError(64, "not from the command line")
    }

    @Test("Values are changed in the card")
    func value() throws {
        let bench = try Bench()
        #expect(try bench.run("classic", "value", "13").output == "100\n")
        let sum = try bench.run("classic", "value", "13", "--add", "5")
        #expect(sum.output == "105\n", "\(sum.errors)")
        #expect(try bench.run("classic", "value", "13", "--subtract", "150").output == "-50\n")
        #expect(try bench.run("classic", "value", "13", "--set", "7", "--json").output.contains(#""value": 7"#))
        try bench.run("classic", "value", "12").expectError(77, "is not a value block")
        try bench.run("classic", "value", "13", "--add", "2147483647").expectError(77, "is not a value block")
        try bench.run("classic", "value", "13", "--add", "0").expectError(64, "above 0")
    }

    @Test("A trace has no keys")
    func trace() throws {
        let bench = try Bench()
        let trace = "\(bench.folder.path)/trace"
        #expect(try bench.run("classic", "dump", "--trace", trace).hasEnded(0))
        let text = try bench.folder.text("trace").lowercased()
        for key in ["111111111111", "222222222222", "d3f7d3f7d3f7", "a0a1a2a3a4a5"] { #expect(!text.contains(key)) }
        #expect(text.contains(#""tx":"600300000000000090d307c1""#))
    }

    @Test("--redact leaves keys and UID out")
    func redact() throws {
        let bench = try Bench()
        for format in ["mfd", "mct", "nfc", "json", "eml"] {
            let file = "\(bench.folder.path)/red.\(format)"
            #expect(try bench.run("classic", "dump", "--redact", "-o", file).hasEnded(0))
            let text = String(decoding: try TestFiles.read(file), as: UTF8.self).lowercased()
            for secret in ["222222222222", "d3f7d3f7d3f7", "90d307c1", "22 22 22 22 22 22", "90 d3 07 c1"] {
                #expect(!text.contains(secret), "\(format)")
            }
        }
        let text = try bench.run("classic", "dump", "--redact")
        #expect(!text.output.contains("222222222222") && !text.output.contains("90D307C1"))
    }

    @Test("Other cards, and files that hold no keys")
    func refusals() throws {
        let bench = try Bench()
        let other = try Kazasu.run(
            "classic", "info", "-r", "virtual:\(TestFiles.root)/Fixtures/virtual/ultralight.json")
        other.expectError(76, "expected a MIFARE Classic")
        let broken = try Bench("0 A A0A1A2A3A4A5\n1 A 00\n")
        try broken.run("classic", "dump").expectError(65, "line 2")
        try bench.run("classic", "info", "--key-from", "env:NOTHING_HERE").expectError(64, "the key")
    }
}
