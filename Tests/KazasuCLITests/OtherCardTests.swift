// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A card lies there that the command does not read: it is named, and so is what is wanted.
@Suite("Another card than the one that is wanted", .waits)
struct OtherCardTests {
    private static func tag(_ name: String) -> String { "virtual:\(TestFiles.root)/Fixtures/virtual/\(name).json" }

    static let cases: [(line: String, reader: String, english: String, japanese: String)] = [
        (
            "balance", tag("ntag213"), "expected a FeliCa card", "対象: FeliCa カード）"
        ),
        ("history", tag("type4-b"), "expected a FeliCa card", "対象: FeliCa カード）"),
        ("scan", tag("ntag213"), "expected a FeliCa card", "対象: FeliCa カード）"),
        (
            "license --free", Card.fixture("edy"), "expected a driver's license",
            "対象: 運転免許証）"
        ),
        (
            "mynumber --free", Card.fixture("edy"), "expected a My Number card",
            "対象: マイナンバーカード）"
        ),
        (
            "tag info", Card.fixture("edy"), "expected an NFC Forum tag",
            "対象: NFC フォーラムのタグ）"
        ),
        (
            "balance --card edy", Card.fixture("suica-p1"), "wrong kind of card (Suica): it is not Rakuten Edy",
            "このカード（Suica）は 楽天Edy ではありません"
        ),
        (
            "history --card waon", Card.fixture("edy"), "wrong kind of card (Rakuten Edy): it is not WAON",
            "は WAON ではありません"
        ),
        // Asked what it is, this one takes part in the reading: it ends the command whatever the time-out is.
        ("balance", Card.fixture("felica-lite-s"), "Kazasu reads no balance from this card (", "このカード（"),
    ]

    private static let myNumber = "virtual:\(TestFiles.root)/Fixtures/iso7816/mynumber/card.json"
    private static let license = LicenseTests.reader("sample")

    /// A command, a card that it does not read, and the command that does.
    static let hints: [(line: String, reader: String, hint: String)] = [
        ("license --free", myNumber, "'kazasu mynumber'"), ("mynumber --free", license, "'kazasu license'"),
        ("balance", tag("ntag213"), "'kazasu tag info'"), ("history", tag("type4"), "'kazasu tag info'"),
        ("scan", license, "'kazasu license'"), ("license --free", Card.fixture("edy"), "'kazasu balance'"),
        ("mynumber --free", Card.fixture("suica-p1"), "'kazasu balance'"),
        ("tag info", Card.fixture("suica-p1"), "'kazasu balance'"),
    ]

    /// The attribute block of a published SAPICA, whose history is not part of it.
    @Test("A purse without a history service has a balance, and no readable history", arguments: ["en", "ja"])
    func noHistory(language: String) throws {
        let folder = try TemporaryFolder()
        let reader = try folder.card(
            """
            {"schema":"kazasu.card/1","idm":"01120312F31A5F1B","pmm":"0136428247459AFF","systems":[
             {"code":"0003","keyVersion":"0001","nodes":["0040-07FF","0048"],
              "blocks":{"008B":["0000000000000000230000D403000007"]}}]}
            """)
        #expect(try Kazasu.run("balance", "-r", reader).output == "980\n")
        let result = try Kazasu.run("history", "-r", reader, "--lang", language)
        result.expectError(76, language == "en" ? "this card has no readable history" : "読める履歴がありません")
        let other = try Kazasu.run("history", "-r", reader, "--card", "ayuca", "-t", "0")
        other.expectError(76, "wrong kind of card")
    }

    @Test("The hint is the command that reads this card", arguments: hints)
    func hint(row: (line: String, reader: String, hint: String)) throws {
        let line = row.line.split(separator: " ").map(String.init) + ["-r", row.reader]
        for language in ["en", "ja"] {
            let result = try Kazasu.run(line + ["--lang", language])
            result.expectError(76)
            #expect(result.messages.last?.contains(row.hint) == true, "\(result.errors)")
            let command = try #require(result.errors.firstMatch(of: /'kazasu ([a-z ]+)'/)).output.1
            let next = try Kazasu.run(
                command.split(separator: " ").map(String.init) + (command.contains("tag") ? [] : ["-q"])
                    + (row.reader == Self.myNumber || row.reader == Self.license ? ["--free"] : [])
                    + ["-r", row.reader])
            #expect(next.hasEnded(0), "\(next.errors)")
        }
    }

    /// That it ends long before the 10 seconds are over, the number of looks shows.
    @Test("Without --timeout that ends the command", arguments: cases)
    func ends(row: (line: String, reader: String, english: String, japanese: String)) throws {
        let folder = try TemporaryFolder()
        let line = row.line.split(separator: " ").map(String.init) + ["-r", row.reader]
        try Kazasu.run(line + ["--trace", "\(folder.path)/trace"]).expectError(76, row.english)
        try Kazasu.run(line + ["--lang", "ja"]).expectError(76, row.japanese)
        #expect(try folder.text("trace").split(separator: "\n").count < 400)
    }

    @Test("With --timeout the waiting goes on, and the card is named once", arguments: cases.dropLast(3))
    func waits(row: (line: String, reader: String, english: String, japanese: String)) throws {
        let line = row.line.split(separator: " ").map(String.init) + ["-r", row.reader, "--timeout", "1.5"]
        for (language, text, waiting) in [
            ("en", row.english, "; waiting for another"), ("ja", row.japanese, "。別のカードを待っています"),
        ] {
            let result = try Kazasu.run(line + ["--lang", language])
            #expect(result.hasEnded(76), "\(result.errors)")
            #expect(result.messages.count == 3, "\(result.errors)")
            #expect(result.messages.first?.contains(text) == true, "\(result.errors)")
            #expect(result.messages.first?.hasSuffix(waiting) == true, "\(result.errors)")
        }
    }
}
