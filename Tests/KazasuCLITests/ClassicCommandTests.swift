// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu classic", .waits)
struct ClassicCommandTests {
    private static let card = "virtual:\(TestFiles.root)/Fixtures/virtual/classic-1k.json"
    static let keys = """
        * A FFFFFFFFFFFF
        0 A A0A1A2A3A4A5
        1 A D3F7D3F7D3F7
        2 A D3F7D3F7D3F7
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
        #expect(partial.output.contains(#""withheld": [3]"#) && partial.output.contains(#""withheldBlocks": []"#))
        #expect(partial.output.contains(#""12": null"#))
        #expect(partial.messages.last == "kazasu: none of the given keys opens sector 3")
        try Bench("010203040506\n").run("classic", "dump").expectError(77, "none of the given keys opens sector 0")
        try bench.run("classic", "dump", hasKeys: false).expectError(64, "needs the card's keys")
    }

    @Test("A dump is a key file, in every format", arguments: ["json", "hex", "mfd", "mct", "nfc", "eml"])
    func formats(ending: String) throws {
        let bench = try Bench()
        let file = "\(bench.folder.path)/card.\(ending)"
        #expect(try bench.run("classic", "dump", "-o", file).hasEnded(0))
        let again = try Kazasu.run("classic", "dump", "-r", Self.card, "--keys", file)
        #expect(again.hasEnded(0), "\(again.errors)")
        #expect(try again.output == bench.run("classic", "dump").output)
        try bench.run("classic", "dump", "-o", "\(bench.folder.path)/card.xyz").expectError(64, "the ending must be")
        try bench.run("classic", "dump", "--format", "mct").expectError(64, "--format requires -o")
        try bench.run("classic", "dump", "-o", file, "--format", ending == "mct" ? "mfd" : "mct")
            .expectError(64, "does not fit the ending")
    }

    @Test("Blocks, and the message that the directory names")
    func read() throws {
        let bench = try Bench()
        let blocks = try bench.run("classic", "read", "13,15")
        #expect(
            blocks.output
                == "13 640000009BFFFFFF640000000DF20DF2\n15 ------------08778F69------------\n", "\(blocks.errors)")
        let document = try bench.run("classic", "read", "7,15", "--json")
        #expect(document.output.contains(#""15": "????????????08778f69????????????""#), "\(document)")
        let masked = try bench.run("classic", "read", "0", "--redact")
        #expect(masked.output.hasPrefix("0 90------------"), "\(masked)")
        let message = try bench.run("classic", "read", "--ndef", hasKeys: false)
        #expect(message.hasEnded(0) && message.output.contains("https://kazasu.example"), "\(message.errors)")
        #expect(try bench.run("classic", "read", "--ndef", "--json").hasEnded(0))
        try bench.run("classic", "read", "64").expectError(77, "the card has no block 64")
        try bench.run("classic", "read").expectError(64, "block numbers or --ndef")
    }

    /// A card whose sector 1 has these data and trailer.
    private func card(_ trailer: String, in folder: TemporaryFolder) throws -> String {
        let data = String(repeating: "a5", count: 16)
        let blocks = (4...6).map { "\"\($0)\": \"\(data)\"" } + ["\"7\": \"\(trailer)\""]
        return try folder.card(
            #"{"schema":"kazasu.card/1","classic":{"size":"1K","uid":"01020304","blocks":{"#
                + blocks.joined(separator: ",") + "}}}", as: "closed.json")
    }

    /// What a key opens and does not let be read: key B that is data, with a wrong key A; all data blocks 111.
    static let closed: [(trailer: String, keys: String, blocks: String, hasAccess: Bool)] = [
        ("111111111111ff078069222222222222", "1 B 222222222222", "[4, 5, 6, 7]", false),
        ("11111111111100f0ff69222222222222", "1 A 111111111111", "[4, 5, 6]", true),
        ("1111111111110870ff69222222222222", "1 A 111111111111\n1 B 222222222222", "[4, 5, 6]", true),
    ]

    @Test("F8: blocks that no key may read are not known in any form", arguments: closed)
    func unread(row: (trailer: String, keys: String, blocks: String, hasAccess: Bool)) throws {
        let folder = try TemporaryFolder()
        let card = try card(row.trailer, in: folder)
        let keys = try folder.write(Array((row.keys + "\n* A FFFFFFFFFFFF\n").utf8), as: "keys.txt")
        func dump(_ options: String...) throws -> ChildResult {
            try Kazasu.run(["classic", "dump", "-r", card, "--keys", keys] + options)
        }
        let text = try dump()
        #expect(text.hasEnded(0), "\(text)")
        #expect(text.output.contains("\n4 \(String(repeating: "-", count: 32))\n"))
        #expect(text.errors.contains("let no given key read blocks 4-"))
        let json = try dump("--json")
        #expect(json.output.contains(#""withheldBlocks": \#(row.blocks)"#) && json.output.contains(#""4": null"#))
        let unknown = [
            "mct": "+Sector: 1\n" + String(repeating: String(repeating: "-", count: 32) + "\n", count: 3),
            "nfc": "Block 4: " + [String](repeating: "??", count: 16).joined(separator: " "), "json": #""4": null"#,
            "hex": "\n4 --------------------------------\n",
        ]
        for (ending, text) in unknown {
            #expect(try dump("-o", "\(folder.path)/card.\(ending)").hasEnded(0))
            let file = try folder.text("card.\(ending)")
            #expect(file.contains(text) && !file.contains(#""4":""#), "\(ending)")
        }
        for ending in ["mfd", "eml"] {
            let file = try dump("-o", "\(folder.path)/card.\(ending)")
            if row.hasAccess {
                #expect(file.hasEnded(0) && file.errors.contains("zeros for unknown bytes of blocks 4-"), "\(file)")
            } else {
                #expect(
                    file.hasEnded(73) && file.errors.contains("the access bits of sector 1 are unknown"), "\(file)")
                #expect(!folder.names.contains("card.\(ending)"))
            }
        }
    }

    /// The dumps of every form that `-o` writes, and the options.
    static let forms: [[String]] =
        ["json", "hex", "mfd", "bin", "mct", "nfc", "eml"].map { ["-o", "card.\($0)"] }
        + [["-o", "card.json", "--format", "proxmark"]]

    @Test("A13: decode, convert, diff and virtual readers take a dump in every form", arguments: forms)
    func isADump(form: [String]) throws {
        let bench = try Bench()
        let file = "\(bench.folder.path)/\(form[1])"
        let options = ["classic", "dump", "-r", Self.card, "--keys", bench.keys, "-o", file] + form.dropFirst(2)
        #expect(try Kazasu.run(options).hasEnded(0))
        for arguments in [["decode", file], ["decode", file, "--json"], ["decode", file, "--lang", "ja"]] {
            let shown = try Kazasu.run(arguments)
            #expect(shown.hasEnded(0) && shown.output.contains("https://kazasu.example"), "\(shown)")
            for key in ["111111111111", "222222222222", "D3F7D3F7D3F7"] {
                #expect(!shown.output.uppercased().contains(key))
            }
        }
        let own = "\(bench.folder.path)/own.json"
        #expect(try Kazasu.run("convert", file, "--to", "json", "-o", own).hasEnded(0))
        let same = try Kazasu.run("diff", "--exit-code", file, own)
        #expect(same.hasEnded(0), "\(same)")
        for reader in [file, own] {
            let again = try Kazasu.run("classic", "dump", "-r", "virtual:\(reader)", "--keys", bench.keys)
            #expect(again.hasEnded(0), "\(again)")
            #expect(try again.output == bench.run("classic", "dump").output, "\(reader)")
        }
        let masked = try Kazasu.run("convert", file, "--to", "mct", "--redact")
        #expect(masked.hasEnded(0) && !masked.output.contains("222222222222") && !masked.output.contains("90D307C1"))
    }

    @Test("Unknown bytes of a dump stay unknown on its virtual card, in decode and in every conversion")
    func unknownStaysUnknown() throws {
        let some = try Bench("* A FFFFFFFFFFFF\n0 A A0A1A2A3A4A5\n1 A D3F7D3F7D3F7\n")
        let file = "\(some.folder.path)/part.json"
        #expect(try some.run("classic", "dump", "-o", file).hasEnded(0))
        let shown = try Kazasu.run("decode", file)
        #expect(shown.hasEnded(0) && shown.output.contains("8-15"), "\(shown)")
        #expect(try Kazasu.run("decode", file, "--json").output.contains(#""unknownBlocks": ["#))
        let all = try Bench()
        let again = try Kazasu.run("classic", "dump", "-r", "virtual:\(file)", "--keys", all.keys)
        #expect(again.messages.last?.contains("none of the given keys opens sectors 2-3") == true, "\(again)")
        #expect(again.output.contains("\n8 --------------------------------\n"))
        try Kazasu.run("convert", file, "--to", "mfd").expectError(73, "the access bits of sectors 2, 3 are unknown")
        let lines = try Kazasu.run("convert", file, "--to", "mct")
        #expect(lines.hasEnded(0) && lines.output.contains("+Sector: 2\n--------------------------------\n"))
    }

    @Test("diff shows changed blocks and which bytes of a trailer changed, and never a key")
    func difference() throws {
        let bench = try Bench("* A FFFFFFFFFFFF\n* B FFFFFFFFFFFF\n")
        func path(_ name: String) -> String { "\(bench.folder.path)/\(name)" }
        let data = try bench.folder.write(Array("333333333333 FF0780 69 FFFFFFFFFFFF".utf8), as: "trailer")
        #expect(try bench.run("classic", "dump", "-o", path("before.json")).hasEnded(0))
        let steps = [
            ["classic", "write", "20", "00112233445566778899AABBCCDDEEFF", "--yes"],
            ["classic", "write", "27", "--trailer", "--data-from", "file:\(data)", "--yes"],
        ]
        var card = path("before.json")
        for (step, arguments) in steps.enumerated() {
            let next = path("after\(step).json")
            let result = try Kazasu.run(
                arguments + ["--keys", bench.keys, "-r", "virtual:\(card)", "--virtual-writes", next])
            #expect(result.hasEnded(0), "\(result)")
            card = next
        }
        let text = try Kazasu.run("diff", "--exit-code", path("before.json"), card)
        #expect(text.hasEnded(1), "\(text)")
        #expect(text.output.contains("block 20") && text.output.contains("+ 00112233445566778899AABBCCDDEEFF"))
        #expect(text.output.contains("block 27  bytes 0-5\n  - ------------FF078069------------\n"), "\(text)")
        let json = try Kazasu.run("diff", "--json", path("before.json"), card)
        #expect(json.output.contains(#""classicBlocks""#) && json.output.contains("????????????ff078069????????????"))
        #expect(![text.output, json.output].contains { $0.contains("333333333333") })
    }

    @Test("V2: what read shows of a trailer cannot be written back")
    func readTrailer() throws {
        let bench = try Bench()
        let shown = try #require(try bench.run("classic", "read", "15").output.split(separator: " ").last)
        let file = try bench.folder.write(Array(shown.utf8), as: "trailer")
        try bench.run("classic", "write", "15", "--trailer", "--data-from", "file:\(file)", "--yes")
            .expectError(64, "32 hexadecimal digits")
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
        let done = try write("19", "333333333333 787788 00 444444444444")
        #expect(done.hasEnded(0), "\(done.errors)")
        try write("15", "333333333333 078F0F 00 444444444444")
            .expectError(77, "afterwards no key could change the access bits or write blocks 12-14")
        // A1: data blocks 111, trailer 000.
        try write("19", "A1A2A3A4A5A6 88787769 B1B2B3B4B5B6")
            .expectError(77, "no key could change the access bits or read blocks 16-18 or write blocks 16-18")
        #expect(try write("15", "333333333333 078F0F 00 444444444444", "--permanent").hasEnded(0))
        try write("15", "333333333333 000000 00 444444444444").expectError(77, "do not match")
        try write("14", "333333333333 787788 00 444444444444").expectError(64, "is not a trailer")
        try write("19", "33").expectError(64, "32 hexadecimal digits")
        try bench.run("classic", "write", "19", "--trailer", "00112233445566778899AABBCCDDEEFF")
            .expectError(64, "not from the command line")
    }

    @Test("Values are changed in the card")
    func value() throws {
        let bench = try Bench()
        #expect(try bench.run("classic", "value", "13").output == "100\n")
        let sum = try bench.run("classic", "value", "13", "--add", "5")
        #expect(sum.output == "105\n", "\(sum.errors)")
        #expect(try bench.run("classic", "value", "13", "--subtract", "150").output == "-50\n")
        #expect(try bench.run("classic", "value", "13", "--set", "7", "--json", "-y").output.contains(#""value": 7"#))
        #expect(try bench.run("classic", "value", "14", "--set", "7").output == "7\n", "a blank block")
        try bench.run("classic", "value", "13", "--add", "1", "--yes").expectError(64, "--yes requires --set")
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
        for format in ["json", "hex", "mfd", "mct", "nfc", "eml"] {
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
