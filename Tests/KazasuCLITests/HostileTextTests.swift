// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("Text that others wrote", .waits)
struct HostileTextTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// It clears a screen, in C0 and in C1, turns what follows around, hides a tag, and begins a line of its own.
    static let hostile = "a\u{1B}[2J\u{9B}2J\u{202E}b\u{2066}\u{E0041}\u{7F}\u{2028}\nkazusa: fine"

    /// Nothing that a terminal obeys or does not show, but line ends.
    private func expectVisible(
        _ result: ChildResult, _ words: String = #"\u{1B}"#, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for text in [result.output, result.errors] {
            let hidden = text.unicodeScalars.filter { scalar in
                switch scalar.properties.generalCategory {
                case .control: scalar != "\n"
                case .format, .lineSeparator, .paragraphSeparator: true
                default: false
                }
            }
            #expect(hidden.isEmpty, "\(hidden.map(\.value)) \(text.debugDescription)", sourceLocation: sourceLocation)
            #expect(!text.contains("\nkazusa: fine"), "a line of its own", sourceLocation: sourceLocation)
        }
        #expect(
            (result.output + result.errors).contains(words), "\(result.output)\(result.errors)",
            sourceLocation: sourceLocation)
    }

    /// A My Number card whose holder has a strange name, address and sex, as bytes of the same length.
    private func myNumberCard() throws -> String {
        var text = String(decoding: try TestFiles.read("Fixtures/iso7816/mynumber/card.json"), as: UTF8.self)
        for (plain, hostile) in [
            ("e88ab1e5ad90", "1b5b324ae280ae".prefix(8) + "c29b"), ("e69db1e4baace983bd", "e280aee281a61b5b4a"),
            ("df250132", "df25011b"),
        ] {
            #expect(text.contains(plain))
            text = text.replacing(plain, with: hostile)
        }
        let path = try folder.write(Array(text.utf8), as: "mynumber.json")
        return "virtual:\(path)"
    }

    @Test("Name, address and sex on a My Number card", arguments: [[], ["--json"]])
    func myNumber(options: [String]) throws {
        let words = options.isEmpty ? #"\u{1B}[2J"# : #"\u001b[2J\u009b"#
        let dump = "\(folder.path)/dump.json"
        let line = ["mynumber", "--pin1-from", "env:P1", "-o", dump, "-r", try myNumberCard()]
        expectVisible(try Kazasu.run(line + options, environment: ["P1": "2222"]), words)
        expectVisible(try Kazasu.run(["decode", dump] + options), words)
    }

    @Test("Other users' processes, and libnfc's configuration", arguments: [[], ["--json"]])
    func doctor(options: [String]) throws {
        let tree = try FileTree()
        try tree.plugIn("072f:2200", interfaces: [("0b", "usbfs")])
        try tree.run(Self.hostile, process: 612, holding: "/dev/bus/usb/001/005")
        try tree.write("/etc/nfc/libnfc.conf", "device.connstring = \"pn532_uart:/dev/x\u{1B}[2J\u{202E}\"")
        let result = try Kazasu.run(["doctor", "--root", tree.root] + options)
        expectVisible(result, options.isEmpty ? #"a\u{1B}[2J"# : #"a\u001b[2J"#)
        #expect(result.output.contains(options.isEmpty ? #"x\u{1B}[2J\u{202E}"# : #"x\u001b[2J\u202e"#))
    }

    @Test("Schemas, keys, file names and reader IDs in errors", arguments: [[], ["--json"]])
    func errors(options: [String]) throws {
        let escaped = options.isEmpty ? #"\u{1B}"# : #"\u001b"#
        let schema = JSONValue.object(JSONObject([("schema", .string(Self.hostile))])).compactText
        let bad = try folder.write(Array(schema.utf8), as: "schema.json")
        expectVisible(try Kazasu.run(["decode", bad] + options), escaped)
        let key = #"{"schema":"kazasu.card/1","idm":"0102030405060708","\#(#"a\u001b[2J\u202e\nkazusa: fine"#)":1}"#
        let card = try folder.write(Array(key.utf8), as: "key.json")
        expectVisible(try Kazasu.run(["poll", "-r", "virtual:\(card)"] + options), escaped)
        let name = try folder.write(Array("hello".utf8), as: Self.hostile)
        for line in [
            ["decode", name], ["decode", folder.path], ["decode", name + ".missing"], ["poll", "-r", Self.hostile],
            ["poll", "-r", "virtual:\(name)"],
            ["convert", Card.file("edy"), "--to", "json", "-o", "/nowhere/\(Self.hostile)"], ["poll", Self.hostile],
            ["poll", "--trace", "/nowhere/\(Self.hostile)", "-r", Card.fixture("edy")],
        ] {
            expectVisible(try Kazasu.run(line + options), escaped)
        }
    }

    @Test("Escaped JSON decodes to the same text")
    func roundTrip() throws {
        let name = try folder.write(try TestFiles.read(Card.file("edy")), as: "\u{202E}\u{85}\u{E0041}.json")
        let result = try Kazasu.run("decode", "--format", "ndjson", folder.path)
        #expect(result.output.contains(#"\u202e\u0085\udb40\udc41.json"#))
        let document = JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
        #expect(try document.required("file").text() == name)
    }

    @Test("No cell of a CSV is a formula, and numbers stay numbers")
    func formulas() throws {
        let names = ["=HYPERLINK(\"\"http://x\"\",1)", "+1", "-1", "@SUM(1)", "\t=1", "plain", "\u{202E}x"]
        for name in names {
            let table = """
                area,line,station,company,line_name,station_name
                0,E3,3B,a,b,"\(name)"
                0,E6,21,東京地下鉄,11号線半蔵門,半蔵門
                0,E3,38,東京地下鉄,3号線銀座,虎ノ門

                """
            let path = try folder.write(Array(table.utf8), as: "stations.csv")
            let result = try Kazasu.run(
                "history", "--format", "csv", "--stations", path, "-r", Card.fixture("suica-p1"))
            #expect(result.hasEnded(0), "\(result.errors)")
            let rows = result.output.split(separator: "\r\n").dropFirst()
            let row = try #require(rows.first { $0.contains("2011-03-12,12:52") })
            let isFormula = "=+-@\t".contains(name.first ?? " ")
            #expect(!isFormula || row.contains("'" + name.replacing("\t", with: #"\u{9}"#)), "\(row)")
            #expect(row.contains(",-160,10,"), "an amount has no apostrophe: \(row)")
            #expect(!result.output.contains("\u{202E}"))
        }
    }
}
