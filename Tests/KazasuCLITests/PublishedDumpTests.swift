// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// Files with the bytes of published cards, as their owners have them.
@Suite("Dumps of published cards", .waits)
struct PublishedDumpTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func json(_ arguments: String...) throws -> JSONCursor {
        let result = try Kazasu.run(arguments)
        #expect(result.hasEnded(0), "\(result.errors)")
        return JSONCursor(try JSONValue(parsing: Array(result.output.utf8)))
    }

    /// A reader with the card of a listing.
    private func reader(_ listing: String) throws -> String {
        let file = try folder.write(Array(listing.utf8), as: "card.txt")
        let path = "\(folder.path)/card.json"
        #expect(try Kazasu.run("convert", file, "--to", "json", "-o", path).hasEnded(0))
        return "virtual:\(path)"
    }

    /// The two newest records of a Mobile Suica, as the programs write them that people have.
    static let histories = [
        "lines": """
        C7 46 00 00 28 70 A2 A5 E6 4F 7B 28 00 14 0E 00
        C7 46 00 00 28 6E B5 65 E6 4E 92 2E 00 14 0D 00
        """,
        "sample": """
        Suica 乗降履歴情報 [0]  C7-46-00-00-28-70-A2-A5-E6-4F-7B-28-00-14-0E-00
        Suica 乗降履歴情報 [1]  C7-46-00-00-28-6E-B5-65-E6-4E-92-2E-00-14-0D-00
        """,
        "metroflip": """
        Filetype: Flipper Metroflip File
        Version: 1
        Device type: FeliCa
        Log 1C: C7 46 00 00 28 70 A2 A5 E6 4F 7B 28 00 14 0E 00
        Log 1D: C7 46 00 00 28 6E B5 65 E6 4E 92 2E 00 14 0D 00
        """,
    ]

    @Test(
        "balance reads a file that holds only a history, and says where the amount is from",
        arguments: histories.keys.sorted())
    func balanceOfHistory(_ form: String) throws {
        let text = try #require(Self.histories[form])
        let file = try folder.write(Array(text.utf8), as: "history.txt")
        let result = try Kazasu.run("balance", file)
        #expect(result.hasEnded(0) && result.output == "10363\n", "\(result.errors)")
        #expect(result.errors.contains("the balance comes from the newest history record"))
        let balance = try json("balance", file, "--json", "--lang", "ja").required("balances").elements()[0]
        #expect(try balance.required("amount").integer() == 10_363)
        let basis = try balance.required("basis")
        #expect(try basis.required("code").text() == "newestRecord")
        #expect(try basis.required("text").text() == "最新の履歴による残高")
        #expect(try Kazasu.run("decode", file).output.contains("  Balance  ¥10,363\n"))
    }

    @Test("A dump whose balance is missing is not asked to be made")
    func noHint() throws {
        let listing = "0003 090F 0000 \(String(repeating: "0", count: 32))\n"
        let file = try folder.write(Array(listing.utf8), as: "empty.txt")
        for command in ["balance", "decode"] {
            let result = try Kazasu.run(command, file)
            #expect(!result.errors.contains("kazasu dump"), "\(result.errors)")
        }
        try Kazasu.run("balance", file).expectError(76, "the card has no service 0003/008B")
    }

    @Test("An OKICA bus record without a stop shows the company")
    func okica() throws {
        let file = try folder.write(Array("8FC1 028F 0000 050F000F288F0B020000B60300002B80\n".utf8), as: "okica.txt")
        let table = try Kazasu.run("history", file).output
        #expect(table.contains("Ryukyu Bus Kotsu") && !table.contains("0000"), "\(table)")
        let entry = try json("history", file, "--json").required("records").elements()[0].required("entry")
        #expect(try entry.required("stop").text() == "0000" && entry.required("company").text() == "琉球バス交通")
    }

    @Test("An ayuca ride shows the money that was paid, and the part that points paid")
    func ayuca() throws {
        let table = try Kazasu.run("history", Card.file("ayuca")).output
        let ride = try #require(table.split(separator: "\n").first { $0.hasPrefix("2023-10-08") })
        #expect(ride.contains("-150") && ride.contains("70 by points") && !ride.contains("-220"), "\(ride)")
        let records = try json("history", Card.file("ayuca"), "--json").required("records").elements()
        let points = try records[2].required("points")
        #expect(try points.required("redeemed").integer() == 70 && points.required("balance").text() == "12.0")
        #expect(try Kazasu.run("history", "--lang", "ja", Card.file("ayuca")).output.contains("ポイント利用70"))
    }

    /// The IDm of the published Suica P1.
    private static let suica = """
        # IDm 01010214FB0B3906 PMm 0120220427674EFF
        # system 0003 IDm 01010214FB0B3906
        0003 008B 0000 00000000000000002000000A000001E3

        """

    @Test("The day on which the chip was made is in scan, poll and decode, and not under --redact")
    func manufactured() throws {
        let reader = try reader(Self.suica)
        let file = reader.replacing("virtual:", with: "")
        for command in [["decode", file], ["scan", "-r", reader], ["poll", "-r", reader]] {
            let shown = try Kazasu.run(command)
            #expect(shown.hasEnded(0) && shown.output.contains("2008-05-25 (from the IDm)"), "\(shown.output)")
            let document = try JSONCursor(
                JSONValue(parsing: Array(try Kazasu.run(command + ["--json"]).output.utf8)))
            let card =
                try document.optional("card") ?? document.required("cards").elements()[0].required("card")
            #expect(try card.required("manufactured").required("date").text() == "2008-05-25")
            #expect(try card.required("manufactured").required("from").text() == "idm")
            for options in [["--redact"], ["--redact", "--json"]] {
                let hidden = try Kazasu.run(command + options)
                #expect(hidden.hasEnded(0) && !hidden.output.contains("2008"), "\(hidden.output)")
                #expect(!hidden.output.contains("manufactured"))
            }
        }
    }

    /// An Octopus with an IC code that occurs with both offsets.
    private static let octopus = """
        # IDm 0101000000008008 PMm 033242828247AAFF
        # system 8008 IDm 0101000000008008
        8008 0117 0000 00000612000000000000000000000017

        """

    @Test("An Octopus on a reader is decided by its second system, with the reason")
    func octopus() throws {
        let one = try reader(Self.octopus)
        try Kazasu.run("balance", "-r", one).expectError(76, "Octopus: balance unknown")
        let two = try reader(
            Self.octopus + "# system 8005 IDm 1101000000008008\n8005 0118 0000 \(String(repeating: "0", count: 32))\n")
        let result = try Kazasu.run("balance", "--card", "octopus", "-r", two)
        #expect(result.hasEnded(0) && result.output == "120.40\n", "\(result.errors)")
        #expect(result.errors.contains("Octopus HK$120.40: cards for Hong Kong and Shenzhen store it this way"))
        let file = two.replacing("virtual:", with: "")
        let balance = try json("balance", file, "--json", "--card", "octopus").required("balances").elements()[0]
        #expect(try balance.required("basis").required("code").text() == "secondSystem")
        #expect(try Kazasu.run("decode", "--lang", "ja", file).output.contains("香港・深圳共用のカードはこの形式"))
    }
}
