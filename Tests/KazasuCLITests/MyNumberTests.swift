// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("kazasu mynumber", .waits)
struct MyNumberTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ card: String, _ arguments: [String], pin: String = "2222") throws -> ChildResult {
        let reader = "virtual:\(TestFiles.root)/Fixtures/iso7816/mynumber/\(card).json"
        let quoted = (["mynumber", "-r", reader] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try Kazasu.shell("exec setsid -w \"$KAZASU\" \(quoted)", environment: ["P1": pin])
    }

    @Test("The whole card through libnfc, in both languages", arguments: ["en", "ja"])
    func wholeCard(language: String) throws {
        let result = try run("card", ["--pin-from", "env:P1", "--lang", language])
        // Nothing signs the items of this card.
        #expect(result.end == .exited(65), "\(result.errors)")
        try Snapshot.check(result.output, "answers/mynumber.\(language == "ja" ? "ja." : "")txt")
    }

    @Test("Without the PIN, and as a document")
    func documents() throws {
        try Snapshot.check(try run("card", ["--free"]).output, "answers/mynumber-free.txt")
        try Snapshot.check(try run("card", ["--free", "--json"]).output, "answers/mynumber-free.json")
        try Snapshot.check(try run("card", ["--pin-from", "env:P1", "--json"]).output, "answers/mynumber.json")
    }

    @Test("Certificates are written as DER and as PEM, which openssl reads where it is installed")
    func certificates() throws {
        let target = folder.path
        let result = try run("card", ["--free", "--certificates", target])
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(
            folder.names.sorted() == [
                "authenticationCA.der", "authenticationCA.pem", "authenticationCertificate.der",
                "authenticationCertificate.pem", "signatureCA.der", "signatureCA.pem",
            ])
        let der = try TestFiles.read("\(target)/authenticationCertificate.der")
        #expect(try der == TestFiles.read("Fixtures/iso7816/mynumber/authentication.der"))
        // Python decodes the text, independent of the code that wrote it.
        let check =
            "import ssl,sys;sys.exit(ssl.PEM_cert_to_DER_cert(open(sys.argv[1]).read())!=open(sys.argv[2],'rb').read())"
        for name in ["authenticationCA", "authenticationCertificate", "signatureCA"] {
            let result = try ChildProcess.run(
                "/usr/bin/env", ["python3", "-c", check, "\(target)/\(name).pem", "\(target)/\(name).der"])
            #expect(result.end == .exited(0), "\(name) \(result.errors)")
        }
        #expect(try run("card", ["--free", "--certificates", "/dev/null/x"]).end == .exited(73))
    }

    /// What `openssl x509` says of the certificates, the authentication certificate first.
    static let summaries = [
        (
            "CN=012345678ABCDEFGHIJK13123A,C=JP", "OU=Test CA for user authentication,O=Kazasu test fixture,C=JP",
            "0a0b0c0d",
            "2031-11-21T06:28:08Z"
        ),
        (
            "OU=Test CA for user authentication,O=Kazasu test fixture,C=JP",
            "OU=Test CA for user authentication,O=Kazasu test fixture,C=JP", "01020304", "2036-11-18T06:28:08Z"
        ),
        (
            "OU=Test CA for digital signature,O=Kazasu test fixture,C=JP",
            "OU=Test CA for digital signature,O=Kazasu test fixture,C=JP", "01020305", "2036-11-18T06:28:08Z"
        ),
    ]

    @Test("Certificates are shown as openssl reads them")
    func summaries() throws {
        let document = JSONCursor(try JSONValue(parsing: Array(try run("card", ["--free", "--json"]).output.utf8)))
        let certificates = try document.required("certificates").elements()
        try #require(certificates.count == Self.summaries.count)
        for (certificate, row) in zip(certificates, Self.summaries) {
            #expect(try certificate.required("subject").text() == row.0)
            #expect(try certificate.required("issuer").text() == row.1)
            #expect(try certificate.required("serialNumber").text() == row.2)
            #expect(try certificate.required("notBefore").text() == "2026-11-21T06:28:08Z")
            #expect(try certificate.required("notAfter").text() == row.3)
        }
        let text = try run("card", ["--free", "--lang", "ja"]).output
        for words in ["有効期限      2031-11-21", "シリアル番号  0A0B0C0D"] { #expect(text.contains(words), "\(text)") }
        let redacted = try run("card", ["--free", "--json", "--redact"]).output
        #expect(!redacted.contains("ABCDEFGHIJK") && !redacted.contains("0a0b0c0d"))
    }

    @Test("A dump says the same as the card, and --redact leaves nothing of the holder")
    func dump() throws {
        let dump = "\(folder.path)/card.json"
        let result = try run("card", ["--pin-from", "env:P1", "-o", dump])
        // But nothing about signatures: what signs the items is not kept.
        let words = result.output.replacing("\nSignature\n  Result  no signature on the card\n", with: "")
        #expect(words != result.output)
        #expect(try Kazasu.run("decode", dump).output == words)
        // The name that the option had before.
        #expect(try run("card", ["--pin1-from", "env:P1"]).output == result.output)
        #expect(try run("card", ["--pin1-from", "env:P1", "--pin-from", "env:P1"]).hasEnded(64))
        #expect(try run("card", ["--pin1-from", "1111"]).hasEnded(64))
        let asked = try run("card", [])
        #expect(asked.hasEnded(0) && asked.errors.contains("without a terminal; use --pin-from"), "\(asked.errors)")
        let redacted = try run("card", ["--pin-from", "env:P1", "--json", "--redact", "-o", dump])
        let text = String(decoding: try TestFiles.read(dump), as: UTF8.self)
        for word in ["花子", "霞が関", "1975-06-01", "e88ab1e5ad90", "31393735303630"] {
            #expect(!redacted.output.contains(word) && !text.contains(word))
        }
    }

    @Test(
        "A PIN that is wrong, of another form, or the last try",
        arguments: [
            ("card", "0000", "wrongPIN", 2), ("card", "22", "pinForm", 3), ("last-try", "2222", "lastTry", 1),
        ])
    func refused(card: String, pin: String, reason: String, triesLeft: Int) throws {
        let result = try run(card, ["--pin-from", "env:P1", "--json"], pin: pin)
        #expect(result.end == .exited(77))
        #expect(try result.errorDocument().required("reason").text() == reason)
        let document = JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
        #expect(try document.required("kind").text() == "myNumberCard")
        #expect(try document.required("withheldReason").text() == reason)
        let pin = try #require(
            try document.required("pins").elements().first { try $0.required("id").text() == "cardInput" })
        #expect(try pin.object()["triesLeft"] == .optional(triesLeft))
    }

    static let told: [(card: String, arguments: [String], language: String, lines: [String])] = [
        ("card", ["--pin-from", "env:P1"], "en", ["2 tries left", " was wrong: name, address"]),
        ("card", ["--pin-from", "env:P1"], "ja", ["残り 2 回", "が違うため読んでいない項目: 氏名"]),
        ("last-try", [], "en", ["1 try left", "was not sent for what may be the last try: name"]),
        ("locked", [], "en", ["locked", " is locked: name, address"]),
        ("locked", [], "ja", ["閉塞", "が閉塞しているため読んでいない項目: 氏名"]),
    ]

    @Test("The answer says what is left now, and why the items were not read", arguments: told)
    func tells(_ row: (card: String, arguments: [String], language: String, lines: [String])) throws {
        var text = String(
            decoding: try TestFiles.read(
                "Fixtures/iso7816/mynumber/\(row.card == "locked" ? "last-try" : row.card).json"),
            as: UTF8.self)
        if row.card == "locked" { text.replace("\"left\": 1\n", with: "\"left\": 0\n") }
        let card = try folder.card(text)
        let result = try Kazasu.shell(
            "exec setsid -w \"$KAZASU\" mynumber -r '\(card)' --lang \(row.language) \(row.arguments.joined(separator: " "))",
            environment: ["P1": "0000"])
        #expect(result.end == .exited(77), "\(result.output)")
        for line in row.lines { #expect(result.output.contains(line), "\(result.output)") }
        if row.card == "locked" { #expect(result.errors.contains("--free")) }
        if row.card == "last-try" { #expect(result.errors.contains("--allow-last-try")) }
    }

    @Test("On a terminal the PIN is asked for")
    func typed() throws {
        let result = try Typist.run(
            ["mynumber", "-r", "virtual:\(TestFiles.root)/Fixtures/iso7816/mynumber/card.json"],
            typing: ["(4 digits, 3 tries are left; press Enter to skip): =2222"])
        #expect(result.end == .exited(65), "\(result.output)")
        #expect(result.output.contains("花子"))
    }
}
