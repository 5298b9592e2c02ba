// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu passport", .waits)
struct PassportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let fixtures = "\(TestFiles.root)/Fixtures/iso7816/passport"
    private static let authority = "\(fixtures)/authority.der"
    private static let second = "SP12345679UTO8004059M3606148<<<<<<<<<<<<<<<0"

    /// Runs the command without a terminal.
    private func run(
        _ card: String, _ arguments: [String], key: String? = "SP1234567,800405,360614"
    ) throws -> ChildResult {
        let source = key == nil ? [] : ["--mrz-from", "env:N"]
        let line = ["passport", "-r", "virtual:\(Self.fixtures)/\(card).json"] + source + arguments
        let quoted = line.map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(quoted)", environment: ["N": key ?? ""])
    }

    @Test("An answer of another form is asked for again, with its remedy; an empty one ends the command")
    func typed() throws {
        let command = ["passport", "-r", "virtual:\(Self.fixtures)/card.json"]
        let question = "bottom of the page: "
        let result = try Typist.run(
            command,
            typing: ["\(question)=SP1234567", "bottom of the page as they are=SP1234567,800405,360614"])
        #expect(result.end == .exited(0) && result.output.contains("SPECIMEN"), "\(result.output)")
        #expect(result.output.contains("nothing was sent"))
        let ended = try Typist.run(command, typing: ["\(question)="])
        #expect(ended.end == .exited(130) && ended.output.contains("interrupted"), "\(ended.output)")
    }

    @Test("In both languages and as a document, under an authority and a master list")
    func answers() throws {
        for language in ["en", "ja"] {
            let result = try run("card", ["--ca", Self.authority, "--lang", language])
            #expect(result.end == .exited(0), "\(result.errors)")
            try Snapshot.check(result.output, "answers/passport.\(language == "ja" ? "ja." : "")txt")
        }
        let document = try run("card", ["--ca", "\(Self.fixtures)/master-list.ml", "--json"])
        #expect(document.end == .exited(0) && document.errors.isEmpty, "\(document.errors)")
        try Snapshot.check(document.output, "answers/passport.json")
        #expect(try run("pss", ["--ca", Self.authority]).end == .exited(0))
    }

    /// A card, its authority, what the answer says, and the exit status.
    typealias Failure = (card: String, authority: String, text: String, status: Int32)

    static let failures: [Failure] = [
        ("forged", "authority.der", "signature wrong", 65),
        ("old-signer", "authority.der", "signer's certificate expired", 65),
        ("card", "other-authority.der", "signature of an unknown authority", 65),
    ]

    @Test("A signature that does not count is 65 after the answer", arguments: failures)
    func signatures(_ failure: Failure) throws {
        let result = try run(failure.card, ["--ca", "\(Self.fixtures)/\(failure.authority)"])
        result.expectError(failure.status, failure.text)
        #expect(result.output.contains("SPECIMEN") && result.output.contains(failure.text))
    }

    /// The card of a fixture with something else in its file.
    private func changed(_ old: String, _ new: String, card: String = "card") throws -> String {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/passport/\(card).json"), as: UTF8.self)
        #expect(text.contains(old))
        return try folder.card(text.replacing(old, with: new))
    }

    private func run(changed reader: String, _ arguments: [String], key: String) throws -> ChildResult {
        let line = ["passport", "-r", reader, "--mrz-from", "env:N"] + arguments
        let quoted = line.map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(quoted)", environment: ["N": key])
    }

    @Test("An answer whose code does not fit is not blamed on how the card lies")
    func wrongCode() throws {
        let information = #""information": "SP1234567980040593606148""#
        let reader = try changed(information, information + #", "quirks": {"spoilsLastCode": true}"#)
        let result = try run(changed: reader, [], key: "SP1234567,800405,360614")
        result.expectError(74, "code")
        #expect(result.errors.contains("checksum of the card's answer") && !result.errors.contains("move the card"))
    }

    @Test("A chip that opens with one document's data and says another's is 65 otherDocument, asked or not")
    func otherDocument() throws {
        let information = MachineReadableZone.keyInformation(
            number: Array("XX0000001".utf8), birth: Array("850101".utf8), expiry: Array("330101".utf8))
        let reader = try changed("SP1234567980040593606148", String(decoding: information, as: UTF8.self))
        for options in [[], ["--ca", Self.authority], ["--ca", Self.authority, "--check"]] {
            let result = try run(changed: reader, options + ["--json"], key: "XX0000001,850101,330101")
            #expect(result.end == .exited(65), "\(result)")
            #expect(try result.errorDocument().required("reason").text() == "otherDocument")
            #expect(!result.errors.contains("XX0000001") && !result.errors.contains("SP1234567"))
            #expect(result.output.contains(#""state": "otherDocument""#), "\(result.output)")
        }
        let text = try run(changed: reader, [], key: "XX0000001,850101,330101")
        #expect(text.end == .exited(65) && text.output.contains("belongs to another document"), "\(text)")
    }

    /// What a forger changes in the chip, the state with an authority, and the statuses without and with one.
    static let forged: [(old: String, new: String, state: String, free: Int32, asked: Int32)] = [
        // The photo, the signature and the zone are not there.
        (#""0102": {"#, #""0152": {"#, "incomplete", 77, 77), (#""011D": {"#, #""015D": {"#, "incomplete", 77, 77),
        (#""0101": {"#, #""0151": {"#, "incomplete", 77, 77),
        // A digest that nobody knows, and a name with it.
        ("608648016503040201", "60864801650304027f", "unsupported", 0, 65),
    ]

    @Test("A check that a forger can prevent never succeeds when it was asked for", arguments: forged)
    func unchecked(_ row: (old: String, new: String, state: String, free: Int32, asked: Int32)) throws {
        let reader = try changed(row.old, row.new)
        let key = "SP1234567,800405,360614"
        let free = try run(changed: reader, ["--json"], key: key)
        #expect(free.end == .exited(row.free), "\(free)")
        let asked = try run(changed: reader, ["--json", "--ca", Self.authority], key: key)
        #expect(asked.end == .exited(row.asked), "\(asked)")
        #expect(asked.output.contains("\"state\": \"\(row.state)\""), "\(asked.output)")
        let check = try run(changed: reader, ["--check", "--ca", Self.authority], key: key)
        #expect(check.end == .exited(row.asked) && check.output != "valid\n", "\(check)")
        guard row.old.contains("0102") else { return }
        let photo = try run(changed: reader, ["--photo", "\(folder.path)/none"], key: key)
        #expect(photo.end == .exited(77) && !folder.names.contains("none"), "\(photo)")
    }

    /// A card, the authorities, the line of `--check`, its state and reason in JSON, and the exit status.
    struct Check: Sendable {
        let card: String
        let authority: String
        let line: String
        let state: String
        let reason: String?
        let status: Int32

        init(_ card: String, _ authority: String, _ line: String, _ state: String, _ reason: String?, _ status: Int32) {
            (self.card, self.authority, self.line) = (card, authority, line)
            (self.state, self.reason, self.status) = (state, reason, status)
        }
    }

    static let checks: [Check] = [
        Check("card", "authority.der", "valid", "valid", nil, 0),
        Check("pss", "master-list.ml", "valid", "valid", nil, 0),
        Check("forged", "authority.der", "signature wrong", "wrong", "signature", 65),
        Check("card", "other-authority.der", "signature of an unknown authority", "unknownAuthority", "signature", 65),
    ]

    @Test("--check prints one line, once, and nothing personal", arguments: checks)
    func printsOneLine(_ answer: Check) throws {
        let options = ["--check", "--ca", "\(Self.fixtures)/\(answer.authority)"]
        let result = try run(answer.card, options)
        #expect(result.output == answer.line + "\n" && result.end == .exited(answer.status), "\(result)")
        if answer.status != 0 { #expect(!result.errors.contains(answer.line), "said twice") }
        let document = try run(answer.card, options + ["--json"])
        let found = JSONCursor(try JSONValue(parsing: Array(document.output.utf8)))
        #expect(try found.required("state").text() == answer.state)
        #expect(try found.object()["valid"] == .bool(answer.status == 0))
        #expect(try found.object()["reason"] == .text(answer.reason))
        for text in [result.output, result.errors, document.output, document.errors] {
            #expect(!text.contains("SP1234567") && !text.contains("SPECIMEN") && !text.contains("2036"))
        }
    }

    @Test("--check of a passport that has expired, and without an authority")
    func expired() throws {
        let result = try run("expired", ["--check", "--ca", Self.authority], key: "SP1234567,800405,250614")
        #expect(result.output == "expired\n" && result.end == .exited(65), "\(result)")
        // Without --check its signature is still right.
        #expect(try run("expired", ["--ca", Self.authority], key: "SP1234567,800405,250614").end == .exited(0))
        for options in [["--check"], ["--check", "--ca", Self.authority, "--photo", "x"]] {
            #expect(try run("card", options).end == .exited(64))
        }
    }

    @Test("An unknown PACE is 76; a wrong number is 77 and not counted; no form of a number sends nothing")
    func refused() throws {
        let reader = try changed("04007f00070202040202", "04007f00070202040902", card: "pace")
        let pace = try run(changed: reader, ["--json"], key: "SP1234567,800405,360614")
        #expect(pace.end == .exited(76) && pace.errors.contains(#""reason":"pace""#), "\(pace)")
        let wrong = try run("card", [], key: "SP1234568,800405,360614")
        wrong.expectError(77, "does not accept this number")
        #expect(wrong.errors.contains("not counted") && !wrong.errors.contains("SP123456"))
        for text in ["SP1234567", "hello", "SP1234567,800405"] {
            let result = try run("card", [], key: text)
            #expect(result.end == .exited(64) && !result.errors.contains(text), "\(result)")
        }
        let line = "SPI2345679UTO8004059M3606148<<<<<<<<<<<<<<<0"
        try run("card", [], key: line).expectError(64, "check digit")
        #expect(try run("card", [], key: line).errors.contains("character 3 of the line is probably 1, not I"))
        #expect(try run("card", ["-q"], key: "SP1234567;1980-04-05;2036-06-14").end == .exited(0))
        #expect(try run("card", [], key: "").end == .exited(64))
        let nobody = try run("card", ["--json"], key: nil)
        #expect(nobody.end == .exited(64) && nobody.errors.contains(#""reason":"noNumber""#), "\(nobody)")
        #expect(try run("card", ["--mrz-from", "SP1234567,800405,360614"], key: nil).end == .exited(64))
    }

    private static let chipAuthority = "\(fixtures)/chip-authority.der"

    /// Runs the command with an access number.
    private func run(number: String, _ reader: String, _ arguments: [String]) throws -> ChildResult {
        let line = ["passport", "-r", reader, "--can-from", "env:N"] + arguments
        let quoted = line.map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(quoted)", environment: ["N": number])
    }

    @Test("PACE by number and dates or by access number, and the chip is not a copy: text and document")
    func chips() throws {
        for language in ["en", "ja"] {
            let result = try run("chip-pace", ["--ca", Self.chipAuthority, "--lang", language])
            #expect(result.end == .exited(0), "\(result.errors)")
            try Snapshot.check(result.output, "answers/passport-chip.\(language == "ja" ? "ja." : "")txt")
        }
        let reader = "virtual:\(Self.fixtures)/chip-mapping.json"
        let document = try run(number: "123456", reader, ["--ca", Self.chipAuthority, "--json", "--require-chip"])
        #expect(document.end == .exited(0) && document.errors.contains("compare the name"), "\(document)")
        try Snapshot.check(document.output, "answers/passport-mapping.json")
        for card in ["chip-pace", "chip-mapping"] {
            let check = try run(card, ["--ca", Self.chipAuthority, "--check", "--require-chip"])
            #expect(check.end == .exited(0) && check.output == "valid\n", "\(card): \(check)")
        }
    }

    @Test("A copy is always 65; a chip that proves nothing is 65 only with --require-chip")
    func copies() throws {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/passport/chip-pace.json"), as: UTF8.self)
        let key = try #require(text.firstMatch(of: /"chipKeys": \[\s*\{[^}]*"key": "([0-9a-f]+)"/)?.output.1)
        let copy = try changed(String(key), "0" + String(key.dropFirst().reversed()), card: "chip-pace")
        func isRefused(_ reader: String) throws {
            for options in [[], ["--ca", Self.chipAuthority], ["--ca", Self.chipAuthority, "--check"]] {
                let result = try run(changed: reader, options + ["--json"], key: "SP1234567,800405,360614")
                #expect(result.end == .exited(65) && result.errors.contains(#""reason":"copy""#), "\(result)")
            }
        }
        try isRefused(copy)
        let check = try run(
            changed: copy, ["--ca", Self.chipAuthority, "--check"], key: "SP1234567,800405,360614")
        #expect(check.output == "a copy: the chip does not have the key\n" && check.end == .exited(65), "\(check)")
        try isRefused(try changed("\"010F\": {", "\"015F\": {", card: "chip-active"))
        // Without a key on the chip, and without an authority.
        for (card, options) in [("card", ["--ca", Self.authority]), ("chip-pace", [])] {
            #expect(try run(card, options).end == .exited(0))
            let result = try run(card, options + ["--require-chip", "--json"])
            #expect(result.end == .exited(65) && result.errors.contains(#""reason":"chipNotProved""#), "\(result)")
        }
        // The signature of RSA with 2048 bits is too long for this reader.
        let long = try run("chip-active", ["--ca", Self.chipAuthority, "--check", "--require-chip"])
        #expect(long.end == .exited(65) && long.output.contains("the reader cannot carry it"), "\(long)")
        let strict = try run("card", ["--ca", Self.authority, "--check", "--require-chip"])
        #expect(strict.end == .exited(65) && strict.output.contains("put no key on the chip"), "\(strict)")
    }

    @Test("Access numbers: none without PACE, none beside number and dates, told tries, and never printed")
    func accessNumbers() throws {
        let old = try run(number: "123456", "virtual:\(Self.fixtures)/card.json", ["--json"])
        #expect(old.end == .exited(76) && old.errors.contains(#""reason":"noPACE""#), "\(old)")
        #expect(try run("chip-pace", ["--can-from", "env:N"]).end == .exited(64))
        for text in ["12345", "1234567", "abcdef"] {
            let result = try run(number: text, "virtual:\(Self.fixtures)/chip-pace.json", ["--json"])
            #expect(result.end == .exited(64) && result.errors.contains(#""reason":"numberForm""#), "\(result)")
            #expect(!result.errors.contains(text))
        }
        let counting = try changed("\"can\": \"123456\",", "\"can\": \"123456\", \"triesLeft\": 3,", card: "chip-pace")
        let trace = "\(folder.path)/trace"
        let wrong = try run(number: "654321", counting, ["--json", "--trace", trace])
        #expect(wrong.end == .exited(77) && wrong.errors.contains(#""reason":"wrongNumber""#), "\(wrong)")
        #expect(wrong.errors.contains(#""triesLeft":2"#), "\(wrong)")
        #expect(!(wrong.errors + (try folder.text("trace"))).contains("654321"))
        let last = try changed("\"can\": \"123456\",", "\"can\": \"123456\", \"triesLeft\": 1,", card: "chip-pace")
        let refused = try run(number: "123456", last, ["--json"])
        #expect(refused.end == .exited(77) && refused.errors.contains(#""reason":"lastTry""#), "\(refused)")
        #expect(try run(number: "123456", last, ["--use-last-try"]).end == .exited(0))
    }

    @Test("The printed lines open it, from a file with one or two of them")
    func lines() throws {
        let first = "P<UTOSPECIMEN<<SAMPLE<TARO<<<<<<<<<<<<<<<<<<"
        for text in [first + "\n" + Self.second + "\n", Self.second, "SP1234567,800405,360614\nmore\n"] {
            let path = try folder.write(Array(text.utf8), as: "mrz")
            let result = try run("card", ["--mrz-from", "file:\(path)"], key: nil)
            #expect(result.end == .exited(0), "\(result.errors)")
        }
    }

    @Test("The photo is written for the owner alone; a file that is there is replaced, which is said")
    func photo() throws {
        let path = "\(folder.path)/face.jp2"
        #expect(try run("card", ["--photo", path]).end == .exited(0))
        #expect(try TestFiles.read(path) == TestFiles.read("Fixtures/iso7816/license/photo.jp2"))
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let again = try run("card", ["--json", "--photo", path])
        #expect(again.end == .exited(0) && again.errors.contains("\(path) was replaced"), "\(again)")
        let zone = try folder.write(Array("SP1234567,800405,360614\n".utf8), as: "zone")
        let own = try run("card", ["--mrz-from", "file:\(zone)", "--photo", zone], key: nil)
        #expect(own.end == .exited(64), "\(own)")
        #expect(try run("card", ["--photo", "-"]).end == .exited(64))
        #expect(try run("card", ["--photo", "/dev/null"]).end == .exited(64))
        #expect(try run("card", ["--redact", "--photo", "\(folder.path)/x"]).end == .exited(64))
    }

    @Test("--redact masks everything personal, in text, JSON and traces")
    func redacted() throws {
        let trace = "\(folder.path)/trace"
        for form in [[], ["--json"]] {
            let result = try run("card", ["--redact", "--ca", Self.authority, "--trace", trace] + form)
            #expect(result.end == .exited(0), "\(result.errors)")
            let text = result.output + result.errors + (try folder.text("trace"))
            for personal in ["SP1234567", "SPECIMEN", "TARO", "1980-04-05", "2036-06-14", "800405"] {
                #expect(!text.contains(personal), "\(personal)")
            }
            // The country of a passport is in its issuer and its authority, too; the stars are as many for each value.
            #expect(!result.output.contains("UTO") && !result.output.contains("Utopia"), "\(result.output)")
            #expect(result.output.matches(of: /\*+/).allSatisfy { $0.output.count == 8 }, "\(result.output)")
        }
    }
}
