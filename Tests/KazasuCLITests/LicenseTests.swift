// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu license", .waits)
struct LicenseTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static func reader(_ card: String) -> String { "virtual:\(TestFiles.root)/Fixtures/iso7816/license/\(card).json" }

    private static let both = ["--pin1-from", "env:P1", "--pin2-from", "env:P2"]

    /// Runs the command, PINs from the environment; `setsid` takes the terminal of whoever runs the tests away.
    private func run(
        _ card: String, _ arguments: [String], pins: (String, String) = ("1234", "5678")
    ) throws -> ChildResult {
        let quoted = (["license", "-r", card.contains(":") ? card : Self.reader(card)] + arguments)
            .map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell(
            "exec setsid -w \"$KAZASU\" \(quoted)", environment: ["P1": pins.0, "P2": pins.1])
    }

    @Test("The whole card through libnfc, in both languages", arguments: ["sample", "gaiji", "broken"], ["en", "ja"])
    func wholeCard(card: String, language: String) throws {
        let result = try run(card, Self.both + ["--lang", language])
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.errors.isEmpty)
        try Snapshot.check(result.output, "answers/license-\(card).\(language == "ja" ? "ja." : "")txt")
    }

    @Test("The documents", arguments: ["sample", "gaiji", "broken", "edition-007", "plain"])
    func documents(card: String) throws {
        let result = try run(card, Self.both + ["--json"])
        #expect(result.end == .exited(0), "\(result.errors)")
        try Snapshot.check(result.output, "answers/license-\(card).json")
    }

    @Test("Without PINs")
    func free() throws {
        for arguments in [["--free"], []] {
            let result = try run("sample", arguments)
            #expect(result.end == .exited(0), "\(result.errors)")
            try Snapshot.check(result.output, "answers/license-free.txt")
            #expect(result.errors.isEmpty == (arguments == ["--free"]))
        }
        let note = try run("sample", []).errors
        #expect(
            note
                == "kazasu: cannot ask for PIN 1 without a terminal; use --pin1-from, or --free to skip it\n")
        #expect(try run("sample", ["--lang", "ja"]).errors.contains("暗証番号1を尋ねられません。--pin1-from"))
        #expect(try run("sample", ["-q"]).errors.isEmpty)
        try Snapshot.check(try run("sample", ["--free", "--json"]).output, "answers/license-free.json")
    }

    @Test("The license on a My Number card")
    func myNumberLicense() throws {
        let result = try run("my-number-licence", ["--pin1-from", "env:P1"], pins: ("2580", ""))
        #expect(result.end == .exited(0), "\(result.errors)")
        try Snapshot.check(result.output, "answers/license-my-number.txt")
        let json = try run("my-number-licence", ["--pin1-from", "env:P1", "--json"], pins: ("2580", ""))
        try Snapshot.check(json.output, "answers/license-my-number.json")
    }

    @Test("The photo is the file that the card holds, and a dump says the same as the card")
    func files() throws {
        let photo = "\(folder.path)/photo.jp2"
        let dump = "\(folder.path)/license.json"
        let result = try run("sample", Self.both + ["--photo", photo, "-o", dump])
        #expect(result.end == .exited(0), "\(result.errors)")
        let written = try TestFiles.read(photo)
        #expect(written.count == 2_000)
        #expect(try written.starts(with: TestFiles.read("Fixtures/iso7816/license/photo.jp2")))
        let decoded = try Kazasu.run("decode", dump)
        #expect(decoded.end == .exited(0), "\(decoded.errors)")
        let plain = try run("sample", Self.both)
        #expect(decoded.output == plain.output)
        let saved = "\(folder.path)/saved.jp2"
        let again = try Kazasu.run("decode", dump, "--photo", saved)
        #expect(again.hasEnded(0) && again.output.contains("written to \(saved)"), "\(again.errors)")
        #expect(try TestFiles.read(saved) == written)
        #expect(try Kazasu.run("decode", dump, "--json", "--photo", saved).output.contains(#""photo": "\#(saved)""#))
        try Kazasu.run("decode", dump, dump, "--photo", saved).expectError(64, "--photo takes one dump")
        let none = try Kazasu.run("decode", Card.file("edy"), "--photo", "\(folder.path)/none.jp2")
        #expect(none.hasEnded(76) && none.errors.contains("no such picture"), "\(none.errors)")
        #expect(access("\(folder.path)/none.jp2", F_OK) != 0)
        let text = String(decoding: try TestFiles.read(dump), as: UTF8.self)
        #expect(!text.contains("\"1234\"") && !text.contains("5678"))
        let json = try Kazasu.run("decode", "--json", dump)
        #expect(json.output.contains(#""kind": "license""#) && json.output.contains("霞が関"))
    }

    @Test("--redact leaves nothing of the holder, on the screen, in the dump and in the trace")
    func redact() throws {
        let dump = "\(folder.path)/license.json"
        let trace = "\(folder.path)/trace"
        let personal = ["花子", "ハナコ", "霞が関", "123456789000", "1975", "12345", "467c4b5c", "456c357e", "33353030363031"]
        for output in [["--json"], []] {
            let result = try run("gaiji", Self.both + ["--redact", "-o", dump, "--trace", trace] + output)
            #expect(result.end == .exited(0), "\(result.errors)")
            for text in [
                result.output, result.errors, String(decoding: try TestFiles.read(dump), as: UTF8.self),
                String(decoding: try TestFiles.read(trace), as: UTF8.self),
            ] {
                for word in personal { #expect(!text.contains(word), "\(word)") }
            }
        }
    }

    @Test("No PIN is in a trace, a message or a dump, and the trace can be played")
    func secrets() throws {
        let trace = "\(folder.path)/trace"
        let result = try run("sample", Self.both + ["--trace", trace, "-v"])
        #expect(result.end == .exited(0), "\(result.errors)")
        let text = String(decoding: try TestFiles.read(trace), as: UTF8.self)
        #expect(text.contains("00200081"))
        for secret in ["0431323334", "0435363738"] {
            #expect(!text.contains(secret) && !result.errors.contains(secret))
        }
        let replayed = try run("replay:\(trace)", Self.both)
        #expect(replayed.end == .exited(0), "\(replayed.errors)")
        #expect(replayed.output == result.output)
    }

    /// A card, PINs, and how the command ends.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let card: String
        let pins: (String, String)
        let reason: String
        /// What is left when the command ends.
        let triesLeft: (Int?, Int?)
        var arguments: [String] = []
        var testDescription: String { "\(card) \(reason)" }
    }

    static let refusals = [
        Refusal(card: "sample", pins: ("0000", "5678"), reason: "wrongPIN", triesLeft: (2, 3)),
        Refusal(card: "sample", pins: ("1234", "0000"), reason: "wrongPIN", triesLeft: (3, 2)),
        Refusal(card: "sample", pins: ("12345", "5678"), reason: "pinForm", triesLeft: (3, 3)),
        Refusal(card: "sample", pins: ("1234", "567x"), reason: "pinForm", triesLeft: (3, 3)),
        Refusal(card: "locked", pins: ("1234", "5678"), reason: "pinLocked", triesLeft: (0, 3)),
        Refusal(card: "last-try", pins: ("1234", "5678"), reason: "lastTry", triesLeft: (1, 3)),
        Refusal(
            card: "last-try", pins: ("1234", "5678"), reason: "lastTry", triesLeft: (1, 3),
            arguments: ["--allow-last-try"]),
        Refusal(card: "second-last-try", pins: ("1234", "5678"), reason: "lastTry", triesLeft: (3, 1)),
        Refusal(card: "unknown-tries", pins: ("1234", "5678"), reason: "lastTry", triesLeft: (nil, nil)),
    ]

    @Test("The card or the guard says no: status 77, and what needs no PIN is shown all the same", arguments: refusals)
    func refused(refusal: Refusal) throws {
        let result = try run(refusal.card, Self.both + ["--json"] + refusal.arguments, pins: refusal.pins)
        #expect(result.end == .exited(77))
        let error = try result.errorDocument()
        #expect(try error.required("reason").text() == refusal.reason)
        for secret in [refusal.pins.0, refusal.pins.1] { #expect(!result.errors.contains(secret)) }
        let document = JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
        #expect(try document.required("specificationVersion").text() == "008")
        #expect(try document.object()["pin1TriesLeft"] == .optional(refusal.triesLeft.0))
        #expect(try document.object()["pin2TriesLeft"] == .optional(refusal.triesLeft.1))
        #expect(try document.required("withheld").elements().contains { try $0.text() == "photo" })
        #expect(try document.required("withheldReason").text() == refusal.reason)
    }

    /// A card, PINs, and lines of the answer for people.
    static let toldRefusals: [(card: String, pins: (String, String), language: String, lines: [String])] = [
        (
            "sample", ("0000", "5678"), "en",
            ["  PIN 1              2 tries left", "Not read, as PIN 1 was wrong: what"]
        ),
        ("sample", ("0000", "5678"), "ja", ["残り 2 回\n", "\n暗証番号1が違うため読んでいない項目: 記載事項"]),
        (
            "sample", ("1234", "0000"), "en",
            [
                "  PIN 1              verified (3 tries were left before)", "  PIN 2              2 tries left",
                "Not read, as PIN 2 was wrong: registered",
            ]
        ),
        ("locked", ("1234", "5678"), "en", ["  PIN 1              locked", "Not read, as PIN 1 is locked: what"]),
        ("locked", ("1234", "5678"), "ja", ["閉塞\n", "\n暗証番号1が閉塞しているため読んでいない項目: 記載事項"]),
        (
            "last-try", ("1234", "5678"), "en",
            ["1 try left\n", "PIN 1 was not sent for what may be the last try: what"]
        ),
        ("last-try", ("1234", "5678"), "ja", ["残り 1 回\n", "\n暗証番号1を送っていない（最後の 1 回のおそれがある）ため"]),
        (
            "sample", ("123", "5678"), "en",
            ["3 tries left\n", "Not read, as PIN 1 has the wrong form and was not sent: what"]
        ),
    ]

    @Test("The answer says how many tries are left now, and why items were not read", arguments: toldRefusals)
    func toldRefusal(_ row: (card: String, pins: (String, String), language: String, lines: [String])) throws {
        let dump = "\(folder.path)/license.json"
        let result = try run(row.card, Self.both + ["-o", dump, "--lang", row.language], pins: row.pins)
        #expect(result.end == .exited(77))
        for line in row.lines { #expect(result.output.contains(line), "\(result.output)") }
        let decoded = try Kazasu.run("decode", dump, "--lang", row.language)
        #expect(decoded.output.hasSuffix(result.output), "a dump says the same")
    }

    /// Without a PIN to send, the refusal is an error all the same: who wants less says so.
    static let unsent: [(card: String, options: [String], status: Int32, words: String)] = [
        ("locked", [], 77, "--free reads what needs no PIN"), ("locked", ["--lang", "ja"], 77, "--free で読めます"),
        ("last-try", [], 77, "add --allow-last-try and type yes"),
        ("last-try", ["--lang", "ja"], 77, "--allow-last-try"),
        ("last-try", ["--allow-last-try"], 77, "type yes"), ("unknown-tries", [], 77, "--allow-last-try"),
        ("locked", ["--free"], 0, ""), ("last-try", ["--free"], 0, ""),
    ]

    @Test("A locked PIN or a last try is status 77 also when no PIN was given", arguments: unsent)
    func nothingSent(_ row: (card: String, options: [String], status: Int32, words: String)) throws {
        let result = try run(row.card, row.options)
        #expect(result.end == .exited(row.status), "\(result.errors)")
        if row.status != 0 { result.expectError(77, row.words) }
        #expect(result.output.contains("008"), "what needs no PIN is shown")
    }

    @Test("The last try goes only with the flag and the typed word", arguments: [("yes", Int32(0)), ("no", 77)])
    func lastTry(word: String, status: Int32) throws {
        let result = try Typist.run(
            ["license", "-r", Self.reader("last-try"), "--allow-last-try"],
            typing: ["continue: =\(word)"]
                + (status == 0
                    ? ["PIN 1 (4 digits, 1 try is left; press Enter to skip): =1234", "PIN 2 (4=5678"] : []))
        #expect(result.end == .exited(status), "\(result.output)")
        #expect(result.output.contains("花子") == (status == 0))
        #expect(result.output.contains("PIN 1 (4") == (status == 0), "the question comes before any PIN")
        #expect(!result.output.contains("1234\r") && !result.output.contains("5678\r"))
    }

    @Test("On a terminal the PINs are asked for with the tries that are left, and Enter skips one")
    func typed() throws {
        let card = Self.reader("sample")
        let result = try Typist.run(
            ["license", "-r", card],
            typing: ["PIN 1 (4 digits, 3 tries are left; press Enter to skip): =1234", "PIN 2 (4 digits, 3 tries=5678"])
        #expect(result.end == .exited(0), "\(result.output)")
        #expect(result.output.contains("花子"))
        let without = try Typist.run(["license", "-r", card], typing: ["PIN 1 (4 digits="])
        #expect(without.end == .exited(0))
        #expect(!without.output.contains("花子") && without.output.contains("Not read without a PIN"))
        let locked = try Typist.run(["license", "-r", Self.reader("locked"), "--lang", "ja"], typing: [])
        #expect(locked.end == .exited(77))
        #expect(locked.output.contains("暗証番号1は閉塞しています") && !locked.output.contains("Enter で省略"))
    }

    @Test("A PIN of the wrong length is asked for again, and uses no try", arguments: ["123", "12345", "12a4"])
    func wrongLength(pin: String) throws {
        let card = Self.reader("sample")
        let objection = "PIN 1 must be 4 digits; nothing was sent"
        let result = try Typist.run(
            ["license", "-r", card],
            typing: ["PIN 1 (4 digits=\(pin)", "\(objection)=\(pin)", "PIN 1 (4 digits, 3 tries=1234", "PIN 2 (4="])
        #expect(result.end == .exited(0), "\(result.output)")
        #expect(result.output.contains("花子") && result.output.contains("verified (3 tries were left before)"))
        let skipped = try Typist.run(["license", "-r", card], typing: ["PIN 1 (4 digits=\(pin)", "\(objection)="])
        #expect(skipped.end == .exited(0), "\(skipped.output)")
        #expect(!skipped.output.contains("PIN 2 (4") && skipped.output.contains("Not read without a PIN"))
    }

    @Test(
        "The last try of PIN 2: its question comes before PIN 1 is typed", arguments: [("yes", Int32(0)), ("no", 77)])
    func secondLastTry(word: String, status: Int32) throws {
        let result = try Typist.run(
            ["license", "-r", Self.reader("second-last-try"), "--allow-last-try"],
            typing: ["PIN 2 has 1 try left=\(word)", "PIN 1 (4=1234"] + (status == 0 ? ["PIN 2 (4=5678"] : []))
        #expect(result.end == .exited(status), "\(result.output)")
        #expect(result.output.contains("花子"), "PIN 1 opens what it opens")
        #expect(result.output.contains("霞が関二丁目") == (status == 0))
    }

    @Test("PIN 2 is not asked for where PIN 1 is wrong")
    func wrongFirst() throws {
        let result = try Typist.run(["license", "-r", Self.reader("sample")], typing: ["PIN 1 (4 digits=9999"])
        #expect(result.end == .exited(77), "\(result.output)")
        #expect(result.output.contains("PIN 1 is wrong; 2 tries are left") && !result.output.contains("PIN 2 (4"))
    }

    @Test("Where no PINs are set none is asked for")
    func unset() throws {
        let result = try run("unset", [])
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.output.contains("花子") && result.output.contains("霞が関二丁目"))
        #expect(result.errors == "kazasu: no PINs are set on this license, so none are needed\n")
        #expect(!result.output.contains("verified"), "the placeholder is nobody's PIN")
    }

    @Test("When the card goes away what was read is shown, and the status is 74", arguments: [8, 14, 20, 26])
    func lost(number: Int) throws {
        let text = String(
            decoding: try TestFiles.read("Fixtures/iso7816/license/sample.json"), as: UTF8.self)
        let faults =
            #""virtual": {"faults": [{"fault": "absent", "from": \#(number), "of": "apdus"}]}, "applications": ["#
        let file = try folder.write(Array(text.replacing("\"applications\": [", with: faults).utf8), as: "card.json")
        let result = try run("virtual:\(file)", Self.both + ["--json"])
        #expect(result.end == .exited(74), "\(result.errors)")
        _ = try result.errorDocument()
    }

    @Test("Other cards, and no card")
    func others() throws {
        let other = "virtual:\(TestFiles.root)/Fixtures/iso7816/mynumber/card.json"
        for card in [other, other.replacing("card.json", with: "face.json")] {
            try run(card, ["--free"]).expectError(76, "this My Number card holds no driver's license")
            try run(card, ["--free", "--lang", "ja"]).expectError(76, "このマイナンバーカードには免許情報が記録されていません")
        }
        try run(Card.fixture("edy"), ["--free", "-t", "0"]).expectError(76, "wrong kind of card (FE00")
        for command in ["balance", "history", "scan", "read 000B"] {
            let words = command.split(separator: " ").map(String.init) + ["-t", "0", "-r", Self.reader("sample")]
            try Kazasu.run(words).expectError(76, "wrong kind of card (Japanese driver's license)")
            try Kazasu.run(words + ["--lang=ja"]).expectError(76, "このカード（運転免許証）は対象外です")
        }
    }

    @Test("Command lines that are wrong, before any card is read")
    func usage() throws {
        #expect(try run("sample", ["--free", "--photo", "x"]).end == .exited(64))
        #expect(try run("sample", ["--free", "--pin1-from", "env:P1"]).end == .exited(64))
        #expect(try run("sample", ["--pin2-from", "env:P2"]).end == .exited(64))
        #expect(try run("sample", ["--pin1-from", "1234"]).end == .exited(64))
        #expect(try run("sample", ["--pin1-from", "env:NOBODY_SET_THIS"]).end == .exited(64))
        #expect(try run("sample", Self.both + ["--photo", "/dev/null/x"]).end == .exited(73))
    }
}
