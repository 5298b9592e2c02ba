// SPDX-License-Identifier: Apache-2.0

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

    @Test("PACE is 76; a wrong number is 77 and not counted; no form of a number sends nothing")
    func refused() throws {
        let pace = try run("pace", ["--json"])
        #expect(pace.end == .exited(76) && pace.errors.contains(#""reason":"pace""#), "\(pace)")
        let wrong = try run("card", [], key: "SP1234568,800405,360614")
        wrong.expectError(77, "does not accept this number")
        #expect(wrong.errors.contains("not counted") && !wrong.errors.contains("SP123456"))
        for text in ["SP1234567", "hello", "SP1234567,800405"] {
            let result = try run("card", [], key: text)
            #expect(result.end == .exited(77) && !result.errors.contains(text), "\(result)")
        }
        #expect(try run("card", [], key: "").end == .exited(64))
        let nobody = try run("card", ["--json"], key: nil)
        #expect(nobody.end == .exited(64) && nobody.errors.contains(#""reason":"noNumber""#), "\(nobody)")
        #expect(try run("card", ["--mrz-from", "SP1234567,800405,360614"], key: nil).end == .exited(64))
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
        }
    }
}
