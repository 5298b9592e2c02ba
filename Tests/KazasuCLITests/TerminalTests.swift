// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What is only there on a terminal; `script` is one.
@Suite("On a terminal", .waits)
struct TerminalTests {
    private func onTerminal(_ line: String) throws -> ChildResult {
        try ChildProcess.run(
            "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' \(line)", "/dev/null"], environment: Kazasu.environment)
    }

    @Test("Asks for a card")
    func note() throws {
        let folder = try TemporaryFolder()
        let late = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1,"to":400}"#))
        let english = try onTerminal("balance -r \(late)")
        #expect(english.output == "Put a card on the reader …\r\u{1B}[K10\r\n")
        #expect(try onTerminal("balance --lang ja -r \(late)").output.contains("カードをかざしてください …"))
        #expect(try onTerminal("balance -q -r \(late)").output == "10\r\n")
        let absent = try folder.card(Card.transit(faults: #"{"fault":"absent","from":1}"#))
        #expect(try !onTerminal("balance -t 0 -r \(absent)").output.contains("Put a card on"))
        #expect(try onTerminal("balance -r \(Card.fixture("edy"))").output == "10814\r\n", "a card that is there")
    }

    /// Each answer is late, by the clock of the simulated card.
    @Test("Long work shows how far it is, and leaves nothing behind")
    func progress() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            Array(Card.transit(faults: #"{"fault":"late","milliseconds":60,"every":1}"#).utf8), as: "late.json")
        let reader = try SimulatedReader(file, link: "\(folder.path)/pn532", options: ["--timing"])
        let result = try onTerminal("dump -t 30 -o '\(folder.path)/dump' -r \(reader.id)")
        #expect(result.end == .exited(0), "\(result.output)")
        #expect(result.output.contains("\r\u{1B}[Ksystem 0003: "))
        #expect(
            result.output.hasSuffix(
                "\r\u{1B}[K\(folder.path)/dump: Kazasu JSON document, 1 system, 3 services, 2 blocks, complete\r\n"))
        #expect(try onTerminal("scan -q -r \(reader.id) > '\(folder.path)/scan'").output.isEmpty)
        #expect(reader.interrupt().end == .exited(0))
    }

    @Test(
        "Messages, hints and findings end between words at the width of the terminal", arguments: ["60", "80", "120"])
    func wrapped(width: String) throws {
        let folder = try TemporaryFolder()
        let lines = [
            "balance -r nothing", "doctor --root '\(folder.path)'", "license 1234", "history -o /nosuch/x.csv x",
        ]
        for line in lines.flatMap({ [$0 + " --lang en", $0 + " --lang ja"] }) {
            let shown = try ChildProcess.run(
                "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' \(line)", "/dev/null"],
                environment: Kazasu.environment.merging(["COLUMNS": width]) { $1 }
            ).output
            let plain = try Kazasu.shell("kazasu \(line) 2>&1").output
            for row in shown.split(whereSeparator: \.isNewline) {
                let columns = row.unicodeScalars.reduce(0) { $0 + ((0x2E80...0xFF60).contains($1.value) ? 2 : 1) }
                #expect(columns <= Int(width) ?? 0, "\(row)")
            }
            #expect(shown.filter { !$0.isWhitespace } == plain.filter { !$0.isWhitespace })
            guard line.hasSuffix("en") else { continue }
            // No word is broken.
            let words = plain.split { $0.isWhitespace }
            #expect(shown.split { $0.isWhitespace } == words, "\(shown)")
        }
    }

    @Test("Names and values go on below their beginning, and no word is broken", arguments: ["60", "70", "100"])
    func lists(width: String) throws {
        let fixtures = "\(TestFiles.root)/Fixtures"
        let lines = [
            "passport lists \(fixtures)/ids/passports/lists/list.ml \(fixtures)/ids/passports/lists/certs.p7c",
            "passport -q --mrz-from env:MRZ -r virtual:\(fixtures)/iso7816/passport/card.json",
            "mynumber --free -r virtual:\(fixtures)/iso7816/mynumber/card.json",
            "tag info -r virtual:\(fixtures)/virtual/ntag213-signed.json",
            "tag verify -r virtual:\(fixtures)/virtual/ntag213-signed.json",
            "classic info -r virtual:\(fixtures)/virtual/classic-1k.json",
            "decode \(fixtures)/formats/json/classic.json",
            "poll -r virtual:\(fixtures)/virtual/classic-1k.json", "license --free -r \(LicenseTests.reader("sample"))",
            "diff -q \(fixtures)/cards/suica-p1/card.json \(fixtures)/cards/edy/card.json", "stations status",
            "stations lookup 新宿", "scan -q -r virtual:\(fixtures)/cards/suica-p1/card.json",
        ]
        for line in lines.flatMap({ [$0 + " --lang en", $0 + " --lang ja"] }) {
            let environment = Kazasu.environment.merging(["MRZ": "SP1234567,800405,360614"]) { $1 }
            let shown = try ChildProcess.run(
                "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' \(line)", "/dev/null"],
                environment: environment.merging(["COLUMNS": width]) { $1 }
            ).output
            let plain = try ChildProcess.run(
                Kazasu.path, line.split(separator: " ").map(String.init), environment: environment
            ).output
            for row in shown.split(whereSeparator: \.isNewline) {
                let columns = row.unicodeScalars.reduce(0) { $0 + ((0x2E80...0xFF60).contains($1.value) ? 2 : 1) }
                // A word that is longer than the line stays whole.
                #expect(columns <= Int(width) ?? 0 || row.split(separator: " ").count <= 2, "\(row)")
            }
            guard line.hasSuffix("en") else { continue }
            #expect(shown.split { $0.isWhitespace } == plain.split { $0.isWhitespace }, "\(shown)")
        }
    }

    // MARK: Colors

    /// Runs a command line on a terminal that shows colors.
    private func onColorTerminal(_ line: String, _ environment: [String: String] = [:]) throws -> String {
        try ChildProcess.run(
            "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' \(line)", "/dev/null"],
            environment: Kazasu.environment.merging(["TERM": "xterm"]) { $1 }.merging(environment) { $1 }
        ).output
    }

    static let colored = [
        ("history -r \(Card.fixture("suica-p1"))", ["  -160 ", "  \u{1B}[32m+2000\u{1B}[0m ", "      -  "]),
        ("decode '\(Card.file("dhaka"))'", ["  Note     \u{1B}[33monly one source"]),
        ("decode --lang ja '\(Card.file("dhaka"))'", ["  注意  \u{1B}[33m"]),
        ("history -r \(Card.fixture("dhaka"))", ["\u{1B}[33mkazasu:\u{1B}[0m only one source"]),
        ("balance -r nothing", ["\u{1B}[31mkazasu:\u{1B}[0m unknown reader"]),
    ]

    @Test("Top-ups, warnings, failures and verdicts are colored, fares are not", arguments: colored)
    func colors(line: String, expected: [String]) throws {
        let output = try onColorTerminal(line).replacing("\r\n", with: "\n")
        for part in expected { #expect(output.contains(part), "\(output)") }
    }

    @Test("The verdicts of doctor are colored")
    func verdicts() throws {
        let tree = try FileTree()
        let output = try onColorTerminal("doctor --root '\(tree.root)'")
        for part in ["\u{1B}[31mFAULT\u{1B}[0m ", "\u{1B}[32mok\u{1B}[0m "] {
            #expect(output.contains(part), "\(output)")
        }
    }

    @Test("Colors are for a terminal that has them, and never for a user or a program that does not want them")
    func noColors() throws {
        // Without the notes, which are colored on a terminal of their own.
        let history = "history -q -r \(Card.fixture("suica-p1"))"
        let rows: [(line: String, environment: [String: String])] = [
            (history, ["NO_COLOR": "1"]), (history, ["TERM": "dumb"]), (history, ["TERM": ""]),
            (history + " --color never", [:]), (history + " --color=never", [:]), (history + " --json", [:]),
            (history + " --color always --json", [:]), (history + " --color always", ["NO_COLOR": "1"]),
            (history + " --format csv", [:]), ("balance --json -r nothing", [:]),
        ]
        for row in rows {
            let output = try onColorTerminal(row.line, row.environment)
            #expect(!output.contains("\u{1B}[3") && !output.isEmpty, "\(row) \(output)")
        }
        let words = history.split(separator: " ").map(String.init)
        let plain = try Kazasu.run(words, environment: ["TERM": "xterm"]).output
        #expect(!plain.contains("\u{1B}"))
        let always = try Kazasu.run(words + ["--color", "always"]).output
        #expect(always.replacing("\u{1B}[32m", with: "").replacing("\u{1B}[0m", with: "") == plain)
        #expect(always.contains("\u{1B}[32m+2000\u{1B}[0m"))
    }

    @Test("Codes that are not the program's own are shown, not obeyed")
    func othersCodes() throws {
        let result = try Kazasu.run("balance", "--color", "always", "-r", "\u{1B}[31mred\u{1B}[2J")
        #expect(result.errors.contains(#"'\u{1B}[31mred\u{1B}[2J'"#), "\(result.errors)")
    }

    // MARK: Tables

    /// Stations of the card `suica-p1`, one with a name that is too long for any table.
    private static let stations = """
        area,line,station,company,line_name,station_name
        0,227,59,東京地下鉄,3号線銀座,青山一丁目
        0,230,33,東京地下鉄,11号線半蔵門,羽田空港第1・第2ターミナル国内線連絡通路南口改札
        0,227,56,東京地下鉄,3号線銀座,虎ノ門

        """

    static let cards = [
        "suica-p1", "edy", "waon", "nanaco", "coop", "nicepass", "rapica", "okica", "dhaka", "kmt", "ryuto",
    ]

    private func places(_ line: Substring) -> Int {
        line.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 || $1 == "…" ? 1 : 2) }
    }

    /// Narrower than 44 there is not always room for what must stay.
    @Test("The table of a history fits the terminal and loses no record", arguments: cards, [44, 60, 80, 100, 200])
    func tableFits(card: String, width: Int) throws {
        let folder = try TemporaryFolder()
        let table = try folder.write(Array(Self.stations.utf8), as: "stations.csv")
        for language in ["ja", "en"] {
            let words = "history -q -r \(Card.fixture(card)) --lang \(language) --stations '\(table)'"
            let result = try ChildProcess.run(
                "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' \(words)", "/dev/null"],
                environment: Kazasu.environment.merging(["COLUMNS": "\(width)"]) { $1 })
            #expect(result.end == .exited(0))
            let lines = result.output.split(whereSeparator: \.isNewline)
            #expect(lines.allSatisfy { places($0) <= width }, "\(result.output)")
            let piped = try Kazasu.run(
                ["history", "-r", Card.fixture(card), "--format", "ndjson", "--stations", table])
            let dates = lines.filter { $0.first == "2" || $0.hasPrefix("--") || $0.hasPrefix("-  ") }
            #expect(dates.count == piped.output.split(separator: "\n").count, "\(result.output)")
        }
    }

    @Test("The machine is left out first, then what does not fit is cut; a pipe has no width")
    func narrow() throws {
        let folder = try TemporaryFolder()
        let table = try folder.write(Array(Self.stations.utf8), as: "stations.csv")
        let words = "history -q --lang ja -r \(Card.fixture("suica-p1")) --since 2011-03-12"
        #expect(
            try onTerminal(words).output.split(separator: "\r\n") == [
                "日付        時刻   種別  入場        出場  金額  残高  内容",
                "2011-03-12  12:52  鉄道  青山一丁目  渋谷  -160    10  自動改札機 / 運賃支払",
            ])
        #expect(
            try onTerminal(words + " --stations '\(table)'").output.split(separator: "\r\n") == [
                "日付        時刻   種別  入場        出場                   金額  残高  内容",
                "2011-03-12  12:52  鉄道  青山一丁目  羽田空港第1・第2ター…  -160    10  運賃支払",
            ])
        #expect(
            try onTerminal(words.replacing("ja", with: "en")).output.split(separator: "\r\n") == [
                "DATE        TIME   KIND  FROM            TO       AMOUNT  BALANCE  WHAT",
                "2011-03-12  12:52  rail  Aoyama-itchome  Shibuya    -160       10  fare",
            ])
        let piped = try onTerminal(words + " --stations '\(table)' | cat")
        #expect(piped.output.contains("羽田空港第1・第2ターミナル国内線連絡通路南口改札  -160    10  自動改札機 / 運賃支払\r\n"))
    }
}
