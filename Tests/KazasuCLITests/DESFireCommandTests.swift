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
}
