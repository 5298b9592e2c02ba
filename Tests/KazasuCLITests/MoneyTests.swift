// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// What people read is in dollars, yuan and taka; documents count cents.
@Suite("Money of other countries", .waits)
struct MoneyTests {
    @Test("decode gives both balances that an Octopus can have, each with its condition")
    func candidates() throws {
        let english = try Kazasu.run("decode", Card.file("octopus")).output
        #expect(english.contains("Possible balance  -HK$14.40 (if the card may go down to -50.00)\n"), "\(english)")
        #expect(english.contains("Possible balance  HK$0.60 (if the card may go down to -35.00)\n"))
        let japanese = try Kazasu.run("decode", "--lang", "ja", Card.file("octopus")).output
        #expect(japanese.contains("残高の候補  -14.40香港ドル（-50.00まで使えるカードの場合）\n"), "\(japanese)")
        let ryuto = try Kazasu.run("decode", Card.file("ryuto")).output
        #expect(ryuto.matches(of: /Possible balance +¥[\d,]+ \(/).count == 2, "\(ryuto)")
    }

    @Test("balance names a card whose balance it cannot know, and both amounts")
    func undecided() throws {
        let reader = ["-t", "0", "-r", Card.fixture("octopus")]
        let result = try Kazasu.run(["balance"] + reader)
        result.expectError(76, "Octopus: balance unknown: HK$0.60 (if the card may go down")
        #expect(result.errors.contains("or -HK$14.40") && result.output.isEmpty)
        try Kazasu.run(["balance", "--lang", "ja"] + reader).expectError(76, "オクトパス（八達通）: 残高を確定できません")
        let json = try Kazasu.run(["balance", "--json"] + reader)
        #expect(json.hasEnded(0))
        let balance = try JSONCursor(try JSONValue(parsing: Array(json.output.utf8))).required("balances").elements()[0]
        #expect(try balance.required("name").text() == "Octopus" && balance.optional("amount") == nil)
        #expect(try balance.required("exponent").integer() == 2)
        #expect(
            try balance.required("candidates").elements().map { try $0.required("amount").integer() } == [60, -1440])
    }

    @Test("A balance is written with its decimal places, and counted in the smallest unit in documents")
    func balance() throws {
        let reader = ["-t", "0", "-r", Card.fixture("shenzhen-tong")]
        #expect(try Kazasu.run(["balance"] + reader).output == "123.40\n")
        #expect(try Kazasu.run(["balance", "--all"] + reader).output == "shenzhen-tong 123.40 CNY\n")
        #expect(try Kazasu.run(["balance", "--json"] + reader).output.contains(#""amount": 12340"#))
        #expect(try Kazasu.run("decode", Card.file("shenzhen-tong")).output.contains("  Balance  CN¥123.40\n"))
    }

    @Test("Tables give taka, ndjson poisha")
    func history() throws {
        let reader = ["-t", "0", "-r", Card.fixture("dhaka")]
        #expect(try Kazasu.run(["history"] + reader).output.contains(" -100.00   340.00  "))
        #expect(try Kazasu.run(["history", "--format", "csv"] + reader).output.contains(",-100.00,340.00,"))
        let lines = try Kazasu.run(["history", "--format", "ndjson"] + reader).output
        #expect(lines.contains(#""amount":-10000,"balance":34000,"#))
    }
}
