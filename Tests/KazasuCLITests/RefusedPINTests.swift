// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// PINs that are not sent, and what people are told then.
@Suite("PINs that are not sent", .waits)
struct RefusedPINTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let settings: [(change: (from: String, to: String), cause: String)] = [
        // The file that tells whether PINs are set is not there, is too short, or says something else.
        ((#""000A": {"#, #""000B": {"#), ": 6A82"), ((#""data": "050101""#, #""data": "0501""#), ""),
        ((#""data": "050101""#, #""data": "050102""#), ""),
    ]

    @Test("A license that does not say whether PINs are set gets none", arguments: settings)
    func unknownSetting(_ row: (change: (from: String, to: String), cause: String)) throws {
        let sample = try TestFiles.read("Fixtures/iso7816/license/sample.json")
        let text = String(decoding: sample, as: UTF8.self)
        #expect(text.contains(row.change.from))
        let reader = try folder.card(text.replacing(row.change.from, with: row.change.to, maxReplacements: 1))
        for (language, words) in [
            ("en", "cannot read whether PINs are set\(row.cause)"), ("ja", "暗証番号が設定されているかを読めない\(row.cause)"),
        ] {
            let trace = "\(folder.path)/\(language)"
            let result = try Kazasu.run(
                "license", "-r", reader, "--pin1-from", "env:P1", "--lang", language, "--trace", trace,
                environment: ["P1": "1234"])
            result.expectError(77, words)
            // VERIFY with a PIN has data.
            #expect(try !folder.text(language).contains(#""tx":"0020"#))
        }
    }

    @Test("A PIN is sent once in a run")
    func twice() throws {
        let transcript = APDUTranscript("00200081:63c3", "00200081**********:9000", "00200081:63c3")
        let result = try Kazasu.run(
            "apdu", "-r", try transcript.write(to: folder), "00200081PIN1", "00200081PIN1", "--pin1-from", "env:P1",
            environment: ["P1": "2525"])
        result.expectError(77, "PIN 1 was already sent in this run and is not sent again")
        #expect(result.output == "9000\n")
    }

    @Test("A card that does not take a PIN")
    func refused() throws {
        let transcript = APDUTranscript("00200081:63c3", "00200081**********:6985")
        let command = ["apdu", "-r", try transcript.write(to: folder), "00200081PIN1", "--pin1-from", "env:P1"]
        for (language, words) in [("en", "the card did not accept PIN 1: 6985"), ("ja", "を受け付けません: 6985")] {
            let result = try Kazasu.run(command + ["--lang", language], environment: ["P1": "2525"])
            result.expectError(77, words)
        }
    }
}
