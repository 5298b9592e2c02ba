// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// A phone with an Express transit card, through the real libnfc: the virtual one gives nothing once its wallet is open.
@Suite("Phones", .waits)
struct PhoneTests {
    private static let phone = "virtual:\(TestFiles.root)/Fixtures/felica/express-phone.json"

    static let answers: [(line: String, text: String)] = [
        ("balance", "5000"), ("history", "2011-03-12"), ("poll", "0003"), ("poll --system 0003,FE00", "0003"),
        ("scan", "090F"), ("dump", "16010002166CE33BE6210A000001E300"), ("read 008B", "8813"),
        ("felica 0C:IDM", "0003"),
    ]

    @Test("Its Express card is read", arguments: answers, ["0", "5"])
    func express(row: (line: String, text: String), timeout: String) throws {
        let line = row.line.split(separator: " ").map(String.init)
        let result = try Kazasu.run(line + ["-r", Self.phone, "-t", timeout])
        #expect(result.hasEnded(0), "\(result.errors)")
        #expect(result.output.contains(row.text), "\(result.output)")
    }

    @Test("One other system is polled for as it was asked") func justThat() throws {
        #expect(try Kazasu.run("poll", "--system", "FE00", "-r", Self.phone, "-t", "0").hasEnded(75))
    }

    @Test(
        "A card that needs 20 ms after the field came on", arguments: ["balance", "poll", "poll --system FE00", "scan"])
    func slow(line: String) throws {
        let card = "virtual:\(TestFiles.root)/Fixtures/felica/slow-card.json"
        let result = try Kazasu.run(line.split(separator: " ").map(String.init) + ["-r", card, "-t", "0"])
        #expect(result.hasEnded(0), "\(result.errors)")
        if line == "balance" { #expect(result.output == "5000\n") }
    }
}
