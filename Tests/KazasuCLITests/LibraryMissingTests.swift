// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// Every command that computes with OpenSSL, on a machine without it.
@Suite(
    "kazasu without libcrypto", .waits, .enabled(if: MountNamespace.obstacle == nil, "\(MountNamespace.obstacle ?? "")")
)
struct LibraryMissingTests {
    private static let environment = [
        "NUMBER": "AA12345678BB", "ZONE": "SP1234567,800405,360614", "B": "35090120301234",
        "AES": String(repeating: "0", count: 32),
    ]

    /// A card of the fixtures, and what it is asked.
    static let refused = [
        "residence -r virtual:iso7816/residence/first.json --number-from env:NUMBER",
        "passport -r virtual:iso7816/passport/card.json --mrz-from env:ZONE",
        "tag verify 'https://example.com/?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086' --key-from env:AES",
        "tag read -r virtual:virtual/ntag424.json --key-from env:AES --key-number 2",
        "tag read -r virtual:virtual/ultralight-aes.json --key-from env:AES",
    ]

    /// Runs a command line where the library is an empty file.
    private func run(_ line: String) throws -> ChildResult {
        let libraries = try ChildProcess.run("/sbin/ldconfig", ["-p"]).output.split(separator: "\n")
        let library = try #require(libraries.first { $0.contains("libcrypto.so.3 ") }?.split(separator: " ").last)
        let line = line.replacing("virtual:", with: "virtual:\(TestFiles.root)/Fixtures/")
        return try MountNamespace.start(
            "mount --bind /dev/null '\(library)' && exec '\(Kazasu.path)' \(line)",
            environment: Kazasu.environment.merging(Self.environment) { $1 }
        ).finish()
    }

    @Test("It is named with what to install, in both languages", arguments: refused, ["en", "ja"])
    func refuses(line: String, language: String) throws {
        let result = try run("\(line) --json --lang \(language)")
        #expect(result.end == .exited(69), "\(result.output)\(result.errors)")
        #expect(
            result.errors.contains(#""reason":"libraryMissing""#) && result.errors.contains("libssl3"),
            "\(result.errors)")
        #expect(result.errors.contains("入れてください") == (language == "ja"))
    }

    @Test(
        "Whatever needs none of it goes on",
        arguments: [
            ("balance -r virtual:cards/suica-p1/card.json", "10\n"),
            ("tag info -r virtual:virtual/ntag213-signed.json", "with the curve is needed"),
            ("license --free -r virtual:iso7816/license/sample.json", "2"),
            ("lite info -r virtual:felica/lite-s.json", "Lite-S"),
            ("mynumber --free -r virtual:iso7816/mynumber/card.json", "My Number card"),
        ])
    func goesOn(line: String, expected: String) throws {
        let result = try run(line)
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.output.contains(expected), "\(result.output)")
    }
}
