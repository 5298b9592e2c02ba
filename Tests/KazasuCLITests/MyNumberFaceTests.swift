// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import TestSupport
import Testing

@Suite("kazasu mynumber --face, and signatures", .waits)
struct MyNumberFaceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let fixtures = "\(TestFiles.root)/Fixtures/iso7816/mynumber"
    private static let authority = "\(fixtures)/authority.bin"
    private static let number = "50060120311234"

    /// Runs the command without a terminal.
    private func run(
        _ arguments: [String], card: String = "\(fixtures)/face.json", secret: String = number
    ) throws -> ChildResult {
        let line = ["mynumber", "-r", "virtual:\(card)"] + arguments
        let quoted = line.map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(quoted)", environment: ["S": secret])
    }

    private func face(_ arguments: [String], secret: String = number) throws -> ChildResult {
        try run(["--face", "--number-from", "env:S"] + arguments, secret: secret)
    }

    private func items(_ arguments: [String]) throws -> ChildResult {
        try run(["--pin-from", "env:S"] + arguments, secret: "2222")
    }

    @Test("The face and the items in both languages and as documents")
    func answers() throws {
        for language in ["en", "ja"] {
            let ending = language == "ja" ? "ja.txt" : "txt"
            let face = try face(["--ca", Self.authority, "--lang", language])
            #expect(face.end == .exited(0), "\(face.errors)")
            try Snapshot.check(face.output, "answers/mynumber-face.\(ending)")
            let items = try items(["--ca", Self.authority, "--lang", language])
            #expect(items.end == .exited(0), "\(items.errors)")
            try Snapshot.check(items.output, "answers/mynumber-signed.\(ending)")
        }
        let document = try face(["--ca", Self.authority, "--json"])
        #expect(document.end == .exited(0) && document.errors.isEmpty, "\(document.errors)")
        try Snapshot.check(document.output, "answers/mynumber-face.json")
        let signed = try items(["--ca", Self.authority, "--json"])
        #expect(signed.end == .exited(0) && signed.errors.isEmpty, "\(signed.errors)")
        try Snapshot.check(signed.output, "answers/mynumber-signed.json")
    }

    @Test("Signatures of an unknown authority and of another card are 65 after the answer")
    func signatures() throws {
        for result in [
            try face([]), try face(["--ca", "\(Self.fixtures)/other-authority.bin"]), try items([]),
            try items(["--json"]),
        ] {
            #expect(result.end == .exited(65), "\(result)")
            #expect(result.errors.contains("signature") && result.output.contains("1975-06-01"))
        }
        let text = String(decoding: try TestFiles.read("\(Self.fixtures)/face.json"), as: UTF8.self)
        let forged = try folder.card(text.replacing("e88ab1e5ad90", with: "e88ab1e5ad91"))
        let result = try run(
            ["--pin-from", "env:S", "--ca", Self.authority, "--json"],
            card: String(forged.drop { $0 != ":" }.dropFirst()), secret: "2222")
        #expect(try result.end == .exited(65) && result.errorDocument().required("reason").text() == "signature")
        let document = JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
        #expect(try document.required("signature").required("state").text() == "wrong")
    }

    @Test("Chains of certificates under their authorities")
    func chains() throws {
        let result = try run(["--free", "--json", "--ca", "\(Self.fixtures)/authentication-ca.der"])
        #expect(result.end == .exited(0), "\(result.errors)")
        let document = JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
        let states = try document.required("certificates").elements().map {
            try $0.required("chain").required("state").text()
        }
        #expect(states == ["valid", "valid", "unknownAuthority"])
        #expect(try document.object()["signature"] == nil)
    }

    @Test("A number that is wrong, of another form, missing, or not for this")
    func refused() throws {
        let wrong = try face(["--json"], secret: "50060120311235")
        #expect(try wrong.end == .exited(77) && wrong.errorDocument().required("reason").text() == "wrongPIN")
        let document = JSONCursor(try JSONValue(parsing: Array(wrong.output.utf8)))
        #expect(try document.required("withheldReason").text() == "wrongPIN")
        let form = try face(["--json"], secret: "5006012031123")
        #expect(try form.end == .exited(64) && form.errorDocument().required("reason").text() == "numberForm")
        #expect(wrong.errors.contains("compare it with the front of the card"), "\(wrong)")
        #expect(form.errors.contains("all printed on the front"), "\(form)")
        for result in [wrong, form] { #expect(!(result.output + result.errors).contains("5006012031")) }
        #expect(try face([], secret: "").end == .exited(64))
        // Blanks between the parts do not matter.
        #expect(try face(["--ca", Self.authority], secret: "50 06 01 - 2031 - 1234").end == .exited(0))
        let nobody = try run(["--face"])
        #expect(nobody.hasEnded(0) && nobody.errors.contains("without a terminal; use --number-from"), "\(nobody)")
        #expect(nobody.output.contains("the front of the card"))
        for arguments in [
            ["--face", "--free"], ["--face", "--pin-from", "env:S"], ["--number-from", "env:S"], ["--photo", "x"],
            ["--name-image", "x"], ["--address-image", "x"], ["--face", "--number-from", Self.number],
        ] {
            let result = try run(arguments)
            #expect(result.end == .exited(64) && !result.errors.contains(Self.number), "\(result)")
        }
    }

    @Test("Pictures are written for the owner alone; a file that is there is replaced, which is said")
    func pictures() throws {
        let paths = ["photo.jp2", "name.png", "address.png"].map { "\(folder.path)/\($0)" }
        let options = ["--photo", paths[0], "--name-image", paths[1], "--address-image", paths[2]]
        #expect(try face(["--ca", Self.authority] + options).end == .exited(0))
        #expect(try TestFiles.read(paths[0]) == TestFiles.read("Fixtures/iso7816/license/photo.jp2"))
        for path in paths {
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        let again = try face(["--ca", Self.authority, "--json", "--photo", paths[0]])
        #expect(again.end == .exited(0) && again.errors.contains("\(paths[0]) was replaced"), "\(again)")
        for target in ["-", "/dev/null", "/dev/tty"] {
            #expect(try !(face(["--photo", target]).end == .exited(0)), "\(target)")
        }
        #expect(try face(["--redact", "--photo", "\(folder.path)/x"]).end == .exited(64))
        // Without the number there is no picture, and no file.
        let none = try run(["--face", "--photo", "\(folder.path)/none"])
        #expect(none.hasEnded(77) && none.errors.contains("no file was written"), "\(none)")
        #expect(!folder.names.contains("none"))
    }

    @Test("A chip that opens with one number and says other dates is 65 otherDocument")
    func otherDocument() throws {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/mynumber/face.json"), as: UTF8.self)
        let forged = "01020320991234"
        let card = try folder.card(text.replacing(Self.number, with: forged))
        let path = String(card.dropFirst("virtual:".count))
        let options = ["--face", "--number-from", "env:S", "--ca", Self.authority]
        for more in [[], ["--check"]] {
            let result = try run(options + ["--json"] + more, card: path, secret: forged)
            #expect(
                try result.end == .exited(65) && result.errorDocument().required("reason").text() == "otherDocument")
            #expect(result.output.contains(#""state": "otherDocument""#), "\(result)")
            #expect(!result.errors.contains(forged.prefix(6)))
        }
    }

    @Test("--check of the front prints one line, once, and nothing personal")
    func check() throws {
        let valid = try face(["--check", "--ca", Self.authority])
        #expect(valid.output == "valid\n" && valid.end == .exited(0), "\(valid)")
        let document = try face(["--check", "--json"])
        #expect(document.end == .exited(65), "\(document)")
        let found = JSONCursor(try JSONValue(parsing: Array(document.output.utf8)))
        #expect(try found.required("state").text() == "unknownAuthority")
        #expect(try found.required("reason").text() == "signature")
        #expect(!(document.output + document.errors).contains("1975") && !document.output.contains("2031"))
        let wrong = try face(["--check"], secret: "50060120311235")
        #expect(wrong.end == .exited(77) && wrong.output == "", "\(wrong)")
        for arguments in [["--check"], ["--face", "--check", "--photo", "x"], ["--check", "--pin-from", "env:S"]] {
            #expect(try run(arguments).end == .exited(64), "\(arguments)")
        }
    }

    /// A file of the card input application, and how its lack ends: the bearer can cause all of it.
    @Test(
        "A card without the signature of its items fails",
        arguments: [("0003", "absent", 65), ("0004", "incomplete", 77)] as [(String, String, Int32)])
    func unsigned(_ file: String, _ state: String, _ status: Int32) throws {
        let text = String(decoding: try TestFiles.read("Fixtures/iso7816/mynumber/face.json"), as: UTF8.self)
        let parts = text.split(separator: "\"\(file)\": {", maxSplits: 1)
        #expect(parts.count == 2)
        let card = try folder.card(parts.joined(separator: "\"0F\(file.suffix(2))\": {"))
        let path = String(card.dropFirst("virtual:".count))
        let result = try run(
            ["--pin-from", "env:S", "--ca", Self.authority, "--json"], card: path, secret: "2222")
        #expect(result.end == .exited(status) && result.output.contains("\"state\": \"\(state)\""), "\(result)")
    }

    @Test("A trace and a dump have neither PIN nor number, nor the digest of the personal number")
    func secrets() throws {
        let (trace, dump) = ("\(folder.path)/trace", "\(folder.path)/card.json")
        let root = JSONCursor(try JSONValue(parsing: TestFiles.read("\(Self.fixtures)/face.json")))
        let applications = try root.required("applications").elements()
        let digests = try applications[1].required("files").required("0003").required("data").text()
        #expect(try items(["--ca", Self.authority, "--trace", trace, "-o", dump]).end == .exited(0))
        let texts = try [folder.text("trace"), folder.text("card.json")]
        for text in texts {
            // The header, the digest of the number, and the signature.
            for start in [14, 100, 180, 400] {
                let part = String(digests.dropFirst(start).prefix(24))
                #expect(!text.contains(part), "\(start)")
            }
            #expect(!text.contains("0432323232"))
        }
        // The items are there: it is their owner's file.
        #expect(texts[1].contains("e88ab1e5ad90"))
        #expect(try face(["--ca", Self.authority, "--trace", trace, "-o", dump]).end == .exited(0))
        let surface = try applications[2].required("files").required("0002").required("data").text()
        let code = String(surface.suffix(100))
        for text in try [folder.text("trace"), folder.text("card.json")] {
            #expect(!text.contains("35303036303132303331"))
            #expect(!text.contains(code.prefix(24)))
        }
        // The signature of the face can be checked in a dump, that of the four items cannot.
        let decoded = try Kazasu.run("decode", dump, "--json")
        #expect(decoded.end == .exited(0) && decoded.output.contains("1975-06-01"), "\(decoded)")
        #expect(decoded.output.contains("\"state\": \"unknownAuthority\""), "\(decoded.output)")
        #expect(try items(["--ca", Self.authority, "-o", dump]).end == .exited(0))
        #expect(try !Kazasu.run("decode", dump, "--json").output.contains("\"signature\":"))
    }

    @Test("--redact masks everything personal, in text, JSON, dumps and traces")
    func redacted() throws {
        let (trace, dump) = ("\(folder.path)/trace", "\(folder.path)/card.json")
        for form in [[], ["--json"]] {
            for result in [
                try face(["--redact", "--ca", Self.authority, "--trace", trace, "-o", dump] + form),
                try items(["--redact", "--ca", Self.authority, "--trace", trace, "-o", dump] + form),
            ] {
                #expect(result.end == .exited(0), "\(result.errors)")
                let text = result.output + result.errors + (try folder.text("trace")) + (try folder.text("card.json"))
                for personal in [
                    "花子", "霞が関", "1975-06-01", "2031-06-01", "3139373530363031", "e88ab1e5ad90", "89504e47",
                ] {
                    #expect(!text.contains(personal), "\(personal)")
                }
            }
        }
    }

    @Test("On a terminal check number B is asked for")
    func typed() throws {
        let result = try Typist.run(
            ["mynumber", "--face", "-r", "virtual:\(Self.fixtures)/face.json", "--ca", Self.authority],
            typing: ["(14 digits, 10 tries are left; press Enter to skip): =\(Self.number)"])
        #expect(result.end == .exited(0), "\(result.output)")
        #expect(result.output.contains("2031-06-01") && !result.output.contains(Self.number))
    }
}
