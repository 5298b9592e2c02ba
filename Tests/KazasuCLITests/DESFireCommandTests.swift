// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu desfire", .waits)
struct DESFireCommandTests {
    private static let card = "virtual:\(TestFiles.root)/Fixtures/virtual/desfire.json"
    private static let keys = [
        "KEY0": "00112233445566778899AABBCCDDEEFF", "KEY1": "101112131415161718191A1B1C1D1E1F",
        "KEY2": "202122232425262728292A2B2C2D2E2F", "LONG": "00112233445566778899AABBCCDDEEFF0102030405060708",
        "DES": "00112233445566778899AABBCCDDEEFF", "WRONG": "101112131415161718191A1B1C1D1E00", "SHORT": "0011",
    ]

    private static func run(_ line: String) throws -> ChildResult {
        let words = line.split(separator: " ").map(String.init)
        return try Kazasu.run(["desfire"] + words + ["-r", card], environment: keys)
    }

    private static func snapshot(_ line: String, _ name: String) throws {
        let result = try run(line)
        #expect(result.hasEnded(0), "\(result.errors)")
        try Snapshot.check(result.output, "answers/desfire-\(name)")
    }

    @Test(
        "Shows applications, keys and files, and what the card withholds",
        arguments: [("info", "info.txt"), ("info --lang ja", "info.ja.txt"), ("info --json", "info.json")])
    func info(_ line: String, _ name: String) throws { try Self.snapshot(line, name) }

    @Test(
        "Reads files of every kind in every kind of session",
        arguments: [
            ("F5A1C0:1", "4D656D626572203030343217" + String(repeating: "00", count: 20) + "\n"),
            ("F5A1C0:3 --key-from env:KEY1 --key-number 1", "1250\n"),
            ("F5A1C0:3 --key-from env:KEY1 --key-number 1 --auth aes", "1250\n"),
            ("F5A1C0:4 --key-from env:KEY1 --key-number 1", "20260105000000FA\n20260212000001F4\n"),
            ("F5A1C0:5", "CAFE0001\n"), ("030201:0 --key-from env:LONG", "5365637265740000\n"),
            ("F48020:0 --key-from env:DES", "00112233\n"), ("F48020:0 --key-from env:DES --auth d40", "00112233\n"),
            ("F5A1C0:1 --redact", "********\n"),
        ])
    func read(_ line: String, _ output: String) throws {
        let result = try Self.run("read \(line)")
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.output == output)
    }

    @Test("The document has one of data, value and records")
    func documents() throws {
        try Self.snapshot("read F5A1C0:3 --key-from env:KEY1 --key-number 1 --json", "value.json")
        try Self.snapshot("read F5A1C0:4 --key-from env:KEY1 --key-number 1 --json", "records.json")
    }

    @Test(
        "Says why a file is not read or written",
        arguments: [
            ("read F5A1C0:9", 66, "noSuchFile"), ("read F5A1C1:1", 66, "noSuchFile"),
            ("read F5A1C0:2", 77, "notAllowed"), ("read F5A1C0:3 --key-from env:KEY0", 77, "notAllowed"),
            ("read 030201:0", 77, "notAllowed"),
            ("read F5A1C0:2 --key-from env:WRONG --key-number 1", 77, "wrongKey"),
            ("read F48020:0 --key-from env:LONG", 64, "badKey"), ("read F5A1C0:2 --key-from env:SHORT", 64, "badKey"),
            ("read F5A1C0:2 --key-from env:KEY1 --key-number 1 --auth d40", 77, "refused"),
            ("write F5A1C0:1 --hex 00", 77, "notAllowed"), ("write F5A1C0:6 --hex 0011 --offset 15", 64, "outOfRange"),
            ("write F5A1C0:7 --hex 00", 64, "usage"), ("value F5A1C0:7 --credit 91", 64, "outOfRange"),
            ("value F5A1C0:6 --credit 1", 77, "notAllowed"),
        ])
    func failures(_ line: String, _ status: Int, _ reason: String) throws {
        let result = try Self.run("\(line) --json")
        #expect(result.hasEnded(Int32(status)), "\(result.errors)")
        #expect(result.errors.contains(#""reason":"\#(reason)""#) || result.errors.contains(#""reason": "\#(reason)""#))
        for key in Self.keys.values where key.count > 4 { #expect(!result.errors.contains(key)) }
    }

    @Test("Dumps what everybody or a key may read, and lists the rest; keys are not in it")
    func dump() throws {
        let folder = try TemporaryFolder()
        let open = try Self.run("dump")
        #expect(open.hasEnded(0), "\(open.errors)")
        #expect(
            open.output.contains(#""data": "4d656d626572203030343217"#) && open.output.contains(#""part": "files""#))
        #expect(open.output.contains(#""part": "contents""#))
        #expect(!open.output.contains(#""value": 1250"#))
        let text = """
            # the club's
            F5A1C0 1 \(Self.keys["KEY1"] ?? "") 02
            030201 0 \(Self.keys["LONG"] ?? "")
            F48020 0 \(Self.keys["WRONG"] ?? "")
            """
        let keys = try folder.write(Array(text.utf8), as: "keys.txt")
        chmod(keys, 0o600)
        let file = "\(folder.path)/card.json"
        let closed = try Self.run("dump --keys \(keys) -o \(file)")
        #expect(closed.hasEnded(0) && closed.output.isEmpty, "\(closed.errors)")
        #expect(closed.errors.contains("the card refused key 0 of F48020"))
        let dump = String(decoding: try TestFiles.read(file), as: UTF8.self)
        for part in [#""value": 1250"#, "5365637265740000", "20260105000000fa", "cafe0001", #""complete": true"#] {
            #expect(dump.contains(part), "\(part)")
        }
        for key in Self.keys.values where key.count > 8 { #expect(!dump.lowercased().contains(key.lowercased())) }
        let masked = try Self.run("dump --keys \(keys) --redact")
        #expect(masked.hasEnded(0) && !masked.output.contains("4d656d62") && !masked.output.contains("5ea5c0"))
        let bad = try folder.write(Array("F5A1C0 14 00".utf8), as: "bad.txt")
        chmod(bad, 0o600)
        try Self.run("dump --keys \(bad)").expectError(65, "line 1")
        try Self.run("dump --keys \(folder.path)/none.txt").expectError(66, "none.txt")
    }

    @Test("Writes bytes and records and changes values; the card keeps them")
    func writing() throws {
        let folder = try TemporaryFolder()
        var path = "\(TestFiles.root)/Fixtures/virtual/desfire.json"
        let second = "--key-from env:KEY2 --key-number 2"
        for (place, (line, output)) in [
            ("write F5A1C0:2 --hex CAFE77 --offset 3 \(second)", ""), ("write F5A1C0:4 --hex 2026 \(second)", ""),
            ("write F5A1C0:6 --hex FFFF", ""), ("value F5A1C0:3 --credit 250 \(second)", "1500\n"),
            ("value F5A1C0:3 --debit 500 \(second)", "1000\n"), ("value F5A1C0:7 --debit 30", "-20\n"),
            (
                "read F5A1C0:4 --key-from env:KEY1 --key-number 1",
                "20260105000000FA\n20260212000001F4\n2026000000000000\n"
            ), ("read F5A1C0:3 \(second)", "1000\n"),
        ].enumerated() {
            let next = "\(folder.path)/\(place).json"
            let words = line.split(separator: " ").map(String.init)
            let result = try Kazasu.run(
                ["desfire"] + words + ["-r", "virtual:\(path)", "--virtual-writes", next], environment: Self.keys)
            #expect(result.hasEnded(0), "\(line): \(result.errors)")
            #expect(result.output == output, "\(line)")
            if !line.hasPrefix("read") { path = next }
        }
        let read = try Kazasu.run(
            ["desfire", "read", "F5A1C0:2", "--key-from", "env:KEY1", "--key-number", "1", "-r", "virtual:\(path)"],
            environment: Self.keys)
        #expect(read.output.hasPrefix("000102CAFE7700"))
    }

    // MARK: Dumps

    /// A dump of the card with key 1 of the club's application.
    private static func dump(in folder: TemporaryFolder) throws -> String {
        let keys = try folder.write(Array("F5A1C0 1 \(Self.keys["KEY1"] ?? "") 02".utf8), as: "keys.txt")
        chmod(keys, 0o600)
        let file = "\(folder.path)/card.json"
        let result = try run("dump --keys \(keys) -o \(file)")
        #expect(result.hasEnded(0), "\(result.errors)")
        return file
    }

    @Test("decode shows a dump as info shows the card, with contents and what was withheld")
    func decode() throws {
        let folder = try TemporaryFolder()
        let file = try Self.dump(in: folder)
        for (words, name) in [([], "decode.txt"), (["--lang", "ja"], "decode.ja.txt"), (["--json"], "decode.json")] {
            let result = try Kazasu.run(["decode", file] + words)
            #expect(result.hasEnded(0) && result.errors.isEmpty, "\(result.errors)")
            try Snapshot.check(result.output, "answers/desfire-\(name)")
        }
        for words in [[], ["--json"]] {
            let masked = try Kazasu.run(["decode", file, "--redact"] + words)
            #expect(masked.hasEnded(0) && masked.output.contains("F5A1C0"))
            for secret in ["4d656d62", "1250", "20260105"] { #expect(!masked.output.lowercased().contains(secret)) }
        }
    }

    @Test("diff lists bytes, values and records that differ, masked with --redact")
    func diff() throws {
        let folder = try TemporaryFolder()
        let file = try Self.dump(in: folder)
        let text = String(decoding: try TestFiles.read(file), as: UTF8.self)
            .replacing(#""value": 1250"#, with: #""value": 1300"#).replacing("cafe0001", with: "cafe0002")
            .replacing("4d656d626572", with: "4d656d626573")
        let new = try folder.write(Array(text.utf8), as: "new.json")
        for (words, name) in [([], "diff.txt"), (["--lang", "ja"], "diff.ja.txt"), (["--json"], "diff.json")] {
            let result = try Kazasu.run(["diff", file, new] + words)
            #expect(result.hasEnded(0), "\(result.errors)")
            try Snapshot.check(result.output, "answers/desfire-\(name)")
            let masked = try Kazasu.run(["diff", file, new, "--redact"] + words)
            #expect(masked.output.contains("F5A1C0") && !masked.output.contains("1300"))
            #expect(!masked.output.lowercased().contains("cafe0002"))
        }
        let same = try Kazasu.run(["diff", file, file, "--exit-code"])
        #expect(same.hasEnded(0) && same.output == "no difference\n")
    }

    @Test("convert keeps applications and files in Kazasu's own format alone, and refuses a damaged dump")
    func convert() throws {
        let folder = try TemporaryFolder()
        let file = try Self.dump(in: folder)
        let kept = try Kazasu.run(["convert", file, "--to", "json"])
        let text = String(decoding: try TestFiles.read(file), as: UTF8.self)
        #expect(kept.hasEnded(0) && kept.output == text)
        for format in ["hex", "flipper", "proxmark", "mfd"] {
            try Kazasu.run(["convert", file, "--to", format]).expectError(65, "cannot write this dump as \(format)")
        }
        let damaged = text.replacing("cafe0001", with: "cafe00")
        let bad = try folder.write(Array(damaged.utf8), as: "bad.json")
        for words in [
            ["decode", bad], ["convert", bad, "--to", "json"], ["desfire", "info", "-r", "virtual:\(bad)"],
        ] {
            try Kazasu.run(words).expectError(65, "desfire.applications")
        }
    }

    @Test("A dump is a card: what it contains is read by everybody, what was withheld is refused")
    func dumpAsCard() throws {
        let folder = try TemporaryFolder()
        let file = try Self.dump(in: folder)
        func read(_ words: String...) throws -> ChildResult {
            try Kazasu.run(["desfire"] + words + ["-r", "virtual:\(file)"], environment: Self.keys)
        }
        #expect(try read("read", "F5A1C0:3").output == "1250\n")
        #expect(try read("read", "F5A1C0:4").output == "20260105000000FA\n20260212000001F4\n")
        try read("read", "F48020:0").expectError(77, "F48020:0", after: 1)
        try read("read", "030201:0").expectError(77, "030201:0", after: 1)
        // Nobody knows the keys of such a card, not even those of the card that was read.
        try read("read", "F48020:0", "--key-from", "env:DES").expectError(77, "key", after: 1)
        let again = try read("dump")
        let (old, new) = (
            try CardDump(parsing: TestFiles.read(file)), try CardDump(parsing: Array(again.output.utf8))
        )
        #expect(old.desfire?.withheld == new.desfire?.withheld)
        let contents = [old, new].map { $0.desfire?.applications.map { $0.files.map(\.contents) } }
        #expect(contents[0] == contents[1] && old.desfire?.card == new.desfire?.card)
        // Writes are kept in the dump.
        let written = "\(folder.path)/written.json"
        let result = try read("write", "F5A1C0:6", "--hex", "CAFE77", "--virtual-writes", written)
        #expect(result.hasEnded(0), "\(result.errors)")
        let change = try Kazasu.run(["diff", file, written])
        #expect(change.output.contains("F5A1C0:6 0000  bytes 0-2\n"), "\(change.output)")
        // Another card of type A.
        let other = "virtual:\(TestFiles.root)/Fixtures/virtual/ntag424.json"
        try Kazasu.run(["desfire", "info", "-r", other]).expectError(76, "DESFire")
    }
}
