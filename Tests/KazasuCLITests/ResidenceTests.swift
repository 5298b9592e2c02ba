// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu residence", .waits)
struct ResidenceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let fixtures = "\(TestFiles.root)/Fixtures/iso7816/residence"
    private static let authorities = "\(fixtures)/authorities.pem"

    /// Runs the command without a terminal.
    private func run(
        _ card: String, _ arguments: [String], number: String? = "AA12345678BB"
    ) throws -> ChildResult {
        let source = number == nil ? [] : ["--number-from", "env:N"]
        let line = ["residence", "-r", "virtual:\(Self.fixtures)/\(card).json"] + source + arguments
        let quoted = line.map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(quoted)", environment: ["N": number ?? ""])
    }

    @Test(
        "Each kind of card, in both languages",
        arguments: ["first", "first-child", "first-special", "second", "second-special"], ["en", "ja"])
    func cards(_ card: String, _ language: String) throws {
        let result = try run(card, ["--ca", Self.authorities, "--lang", language])
        // A child's card has no signature: asking for one fails.
        #expect(result.end == .exited(card == "first-child" ? 65 : 0), "\(result.errors)")
        try Snapshot.check(result.output, "answers/residence-\(card).\(language == "ja" ? "ja." : "")txt")
    }

    @Test("As documents, with and without the number")
    func documents() throws {
        for card in ["first", "second", "second-special"] {
            let result = try run(card, ["--ca", Self.authorities, "--json"])
            try Snapshot.check(result.output, "answers/residence-\(card).json")
        }
        let free = try run("second", ["--json"], number: nil)
        #expect(free.end == .exited(0), "\(free.errors)")
        try Snapshot.check(free.output, "answers/residence-free.json")
        let specified = try run("specified", ["--json"])
        #expect(
            specified.end == .exited(76) && specified.errors.contains(#""reason":"specified""#), "\(specified.errors)")
        try Snapshot.check(specified.output, "answers/residence-specified.json")
    }

    /// A card, the authorities, the line of `--check`, its state and reason in JSON, and the exit status.
    typealias Answer = (card: String, authority: String, line: String, state: String, reason: String?, status: Int32)

    static let answers: [Answer] = [
        ("second", "authorities.pem", "valid", "valid", nil, 0),
        ("second-special", "authority-2.der", "valid", "valid", nil, 0),
        ("second-permanent", "authorities.pem", "valid", "valid", nil, 0),
        ("second-expired", "authorities.pem", "expired", "valid", "expired", 65),
        ("second-stay-ended", "authorities.pem", "the period of stay has ended", "valid", "expired", 65),
        (
            "second-stay-unreadable", "authorities.pem", "signature valid, expiry not readable", "valid",
            "expiryUnknown",
            65
        ),
        (
            "second-old-signer", "authorities.pem", "signer's certificate expired or not yet valid",
            "certificateExpired",
            "signature", 65
        ),
        (
            "second-edwards", "authorities.pem", "signature cannot be checked: unknown algorithm or key", "unsupported",
            "signature", 65
        ),
        ("second", "authority-1.der", "signature of an unknown authority", "unknownAuthority", "signature", 65),
        ("first", "authorities.pem", "signature valid, expiry not readable", "valid", "expiryUnknown", 65),
        ("first-child", "authorities.pem", "no signature on the card", "absent", "signature", 65),
    ]

    @Test("--check prints one line, once, and nothing personal", arguments: answers)
    func check(_ answer: Answer) throws {
        let options = ["--check", "--any-authority", "--ca", "\(Self.fixtures)/\(answer.authority)"]
        let result = try run(answer.card, options)
        #expect(result.output == answer.line + "\n" && result.end == .exited(answer.status), "\(result)")
        if answer.status != 0 { #expect(!result.errors.contains(answer.line), "said twice") }
        let document = try run(answer.card, options + ["--json"])
        #expect(document.end == .exited(answer.status), "\(document)")
        let found = JSONCursor(try JSONValue(parsing: Array(document.output.utf8)))
        #expect(try found.required("schema").text() == "kazasu.check/1")
        #expect(try found.object()["valid"] == .bool(answer.status == 0))
        #expect(try found.required("state").text() == answer.state)
        #expect(try found.object()["reason"] == .text(answer.reason))
        if let reason = answer.reason { #expect(try document.errorDocument().required("reason").text() == reason) }
        for personal in ["AA12345678BB", "1990", "VNM", "東京"] {
            for text in [result.output, result.errors, document.output, document.errors] {
                #expect(!text.contains(personal))
            }
        }
    }

    @Test("--check accepts only the ministry's authorities unless any will do; a card of another kind is 76")
    func ministry() throws {
        let result = try run("second", ["--check", "--ca", Self.authorities])
        #expect(result.output == "signature of an unknown authority\n" && result.end == .exited(65), "\(result)")
        #expect(result.errors.contains("not among the certificates that the Immigration Services Agency has published"))
        let specified = try run("specified", ["--check", "--ca", Self.authorities])
        #expect(specified.output == "" && specified.end == .exited(76), "\(specified)")
    }

    /// The card of a fixture with something else in its file.
    private func changed(_ card: String, _ old: String, _ new: String) throws -> String {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/residence/\(card).json"), as: UTF8.self)
        #expect(text.contains(old))
        return String(try folder.card(text.replacing(old, with: new)).dropFirst("virtual:".count))
    }

    private func run(
        path: String, _ arguments: [String], number: String = "AA12345678BB"
    ) throws -> ChildResult {
        let line = ["residence", "-r", "virtual:\(path)", "--number-from", "env:N"] + arguments
        let quoted = line.map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(quoted)", environment: ["N": number])
    }

    @Test("A chip that opens with one number and says another is 65 otherDocument, asked or not")
    func otherDocument() throws {
        let path = try changed("second", #""number": "AA12345678BB""#, #""number": "KZ26061426KZ""#)
        for options in [[], ["--ca", Self.authorities], ["--check", "--any-authority", "--ca", Self.authorities]] {
            let result = try run(path: path, options + ["--json"], number: "KZ26061426KZ")
            #expect(result.end == .exited(65), "\(result)")
            #expect(try result.errorDocument().required("reason").text() == "otherDocument")
            #expect(!result.errors.contains("KZ26061426KZ") && !result.errors.contains("AA12345678BB"))
        }
        // The first generation has its number only in a picture.
        let first = try changed("first", #""number": "AA12345678BB""#, #""number": "KZ26061426KZ""#)
        #expect(try run(path: first, ["--ca", Self.authorities], number: "KZ26061426KZ").end == .exited(0))
    }

    /// A file that the card does not give: its directory's file in the card file, and whether the signature needs it.
    @Test(
        "A file that the card refuses gives no verdict, and fails when one was asked for",
        arguments: [("0001", "the number"), ("0003", "the entries"), ("0004", "the pictures")])
    func unread(_ file: String, _ what: String) throws {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/residence/second.json"), as: UTF8.self)
        let place = try #require(text.firstRange(of: #""D392F0004F02"#))
        let start = text[..<place.lowerBound]
        var rest = String(text[place.lowerBound...])
        let entry = try #require(rest.firstRange(of: "\"\(file)\": {"))
        // Under its short identifier there is nothing.
        let short = try #require(rest[entry.upperBound...].firstRange(of: #""shortID": "#))
        rest.insert("2", at: short.upperBound)
        let path = String(try folder.card(String(start) + rest).dropFirst("virtual:".count))
        let free = try run(path: path, ["--json"])
        #expect(free.end == .exited(0), "\(what): \(free)")
        let asked = try run(path: path, ["--json", "--ca", Self.authorities])
        #expect(asked.end == .exited(77), "\(what): \(asked)")
        #expect(try asked.errorDocument().required("reason").text() == "refused")
        #expect(asked.output.contains(#""state": "incomplete""#), "\(what): \(asked.output)")
        let check = try run(path: path, ["--check", "--any-authority", "--ca", Self.authorities])
        #expect(check.end == .exited(77) && !check.output.contains("signature valid"), "\(check)")
        let picture = try run(path: path, ["--photo", "\(folder.path)/p.jp2"])
        #expect(picture.end == .exited(file == "0004" ? 77 : 0), "\(picture)")
    }

    @Test("A wrong number ends with 77 and says that nothing was counted", arguments: ["first", "second"])
    func wrongNumber(_ card: String) throws {
        let result = try run(card, [], number: "AA12345678BC")
        result.expectError(77, "the card does not accept the number")
        #expect(result.errors.contains("not counted"))
        #expect(try run(card, ["--json"], number: "AA12345678BC").errors.contains(#""reason":"wrongNumber""#))
        #expect(!result.errors.contains("12345678"))
        for text in ["AA1234567BB", "", "hello"] {
            let result = try run(card, [], number: text)
            #expect(result.end == .exited(64), "\(result)")
        }
        for text in ["aa12345678bb", "ＡＡ１２３４５６７８ＢＢ"] {
            #expect(try run(card, ["-q"], number: text).end == .exited(0))
        }
    }

    @Test("A number of another form is asked for again, and none is needed for what is free")
    func typed() throws {
        let reader = "virtual:\(TestFiles.root)/Fixtures/iso7816/residence/second.json"
        let (question, objection) = ("press Enter to skip): ", "two letters; nothing was sent")
        let result = try Typist.run(
            ["residence", "-r", reader], typing: ["\(question)=1234", "\(objection)=AA12345678BB"])
        #expect(result.end == .exited(0) && result.output.contains("1990"), "\(result.output)")
        #expect(!result.output.contains("printed at"), "the question says so: \(result.output)")
        let free = try Typist.run(["residence", "-r", reader], typing: ["\(question)="])
        #expect(free.end == .exited(0) && !free.output.contains("nothing was sent"), "\(free.output)")
    }

    @Test("Pictures are written for the owner alone; one that exists is replaced, and that is said")
    func pictures() throws {
        let (photo, front, address) = ("\(folder.path)/p.jp2", "\(folder.path)/f.tif", "\(folder.path)/a.tif")
        _ = try folder.write([1, 2, 3], as: "p.jp2")
        let result = try run("second", ["--photo", photo, "--front", front, "--address-image", address])
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.errors.contains("p.jp2 was replaced") && !result.errors.contains("f.tif was replaced"))
        #expect(try TestFiles.read(photo) == TestFiles.read("Fixtures/iso7816/license/photo.jp2"))
        for path in [photo, front, address] {
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600, "\(path)")
        }
        let child = try run("first-child", ["--photo", "\(folder.path)/none.jp2"])
        #expect(child.end == .exited(76) && child.errors.contains("no such picture"), "\(child)")
        #expect(child.output.contains("generation 1"))
        let unopened = try run("second", ["--json", "--front", "\(folder.path)/none.jp2"], number: nil)
        #expect(try unopened.end == .exited(77) && unopened.errorDocument().required("reason").text() == "noNumber")
        #expect(!folder.names.contains("none.jp2"))
        #expect(try run("second", ["--photo", "/dev/null/x"]).end == .exited(73))
    }

    @Test("A picture never replaces a file that the command reads")
    func inputs() throws {
        let copy = try folder.write(TestFiles.read(Self.authorities), as: "ca.pem")
        let result = try run("second", ["--ca", copy, "--photo", copy])
        #expect(result.end == .exited(64), "\(result)")
        #expect(try TestFiles.read(copy) == TestFiles.read(Self.authorities))
    }

    @Test(
        "What does not go together is said",
        arguments: [
            (["--check"], 64), (["--any-authority", "--ca", "CA"], 64),
            (["--check", "--ca", "CA", "--photo", "x"], 64),
            (["--ca", "/nowhere"], 66), (["--ca", "\(TestFiles.root)/README.md"], 65),
            (["--redact", "--photo", "x"], 64), (["--number-from", "AA12345678BB"], 64),
        ] as [([String], Int32)])
    func usage(_ arguments: [String], _ status: Int32) throws {
        let arguments = arguments.map { $0 == "CA" ? Self.authorities : $0 }
        let result = try run("second", arguments)
        #expect(result.end == .exited(status), "\(result)")
        #expect(!result.errors.contains("12345678"))
        if arguments == ["--check"] { #expect(result.errors.contains("--ca")) }
    }

    @Test("--redact masks everything personal, in text, JSON and traces", arguments: ["first", "second"])
    func redacted(_ card: String) throws {
        let trace = "\(folder.path)/trace"
        for form in [[], ["--json"]] {
            let result = try run(card, ["--redact", "--ca", Self.authorities, "--trace", trace] + form)
            #expect(result.end == .exited(0), "\(result.errors)")
            let text = result.output + result.errors
            for personal in [
                "AA12345678BB", "1990-04-05", "VNM", "T410010000", "新宿", "131041", "2027-09-14", "2097-09-14", "0103",
            ] {
                #expect(!text.contains(personal), "\(personal)")
            }
        }
    }

    @Test("The number is in no trace, in the clear or as it was sent")
    func trace() throws {
        let trace = "\(folder.path)/trace"
        #expect(try run("second", ["--trace", trace]).end == .exited(0))
        let text = try folder.text("trace")
        #expect(text.contains("082000860000000000000000000000000000000000000000"))
        #expect(!text.contains("414131323334353637384242"))
    }

    @Test("'kazasu apdu' sends VERIFY of the number after SELECT of the application only")
    func apdu() throws {
        let reader = ["-r", "virtual:\(Self.fixtures)/second.json"]
        let select = "00A4040C10D392F0004F0200000000000000000000"
        let verify = "0820008613861101" + String(repeating: "00", count: 16)
        let sent = try Kazasu.run(["apdu"] + reader + [select, verify])
        #expect(sent.output.contains("6982"), "\(sent)")
        let refused = try Kazasu.run(["apdu"] + reader + [verify])
        #expect(refused.end == .exited(77) && refused.errors.contains("VERIFY is not sent"), "\(refused)")
        #expect(
            try Kazasu.run(["apdu"] + reader + [select, "00200086134142434445464748494A4B4C4D4E4F50515253"]).end
                == .exited(77))
    }
}
