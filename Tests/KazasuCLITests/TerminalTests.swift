// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What is only there on a terminal; `script` is one.
@Suite("On a terminal")
struct TerminalTests {
    private func onTerminal(_ line: String) throws -> ChildResult {
        try ChildProcess.run(
            "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' \(line)", "/dev/null"], environment: Kazasu.environment)
    }

    @Test("Who holds no card there is asked for one")
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
        #expect(result.output.hasSuffix("\r\u{1B}[K"))
        #expect(try onTerminal("scan -q -r \(reader.id) > '\(folder.path)/scan'").output.isEmpty)
        #expect(reader.interrupt().end == .exited(0))
    }

    @Test("Nothing is coloured where NO_COLOR is set")
    func noColour() throws {
        let result = try ChildProcess.run(
            "/usr/bin/script", ["-qefc", "'\(Kazasu.path)' history -r \(Card.fixture("edy"))", "/dev/null"],
            environment: Kazasu.environment.merging(["NO_COLOR": "1"]) { $1 })
        #expect(!result.output.contains("\u{1B}["))
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

    /// Narrower than 80 there is not always room for what must stay.
    @Test("The table of a history fits the terminal and loses no record", arguments: cards, [80, 100, 200])
    func tableFits(card: String, width: Int) throws {
        let folder = try TemporaryFolder()
        let table = try folder.write(Array(Self.stations.utf8), as: "stations.csv")
        for language in ["ja", "en"] {
            let words = "history -r \(Card.fixture(card)) --lang \(language) --stations '\(table)'"
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

    @Test("What does not fit is cut, and no column is left out; a pipe has no width")
    func narrow() throws {
        let folder = try TemporaryFolder()
        let table = try folder.write(Array(Self.stations.utf8), as: "stations.csv")
        let words = "history -q --lang ja -r \(Card.fixture("suica-p1")) --since 2011-03-12"
        #expect(
            try onTerminal(words).output.split(separator: "\r\n") == [
                "日付        時刻   種別  入        出        金額  残高  内容",
                "2011-03-12  12:52  鉄道  0-227-59  0-230-33  -160    10  自動改札機 / 運賃支払",
            ])
        #expect(
            try onTerminal(words + " --stations '\(table)'").output.split(separator: "\r\n") == [
                "日付        時刻   種別  入          出                       金額  残高  内容",
                "2011-03-12  12:52  鉄道  青山一丁目  羽田空港第1・第2ターミ…  -160    10  運賃支…",
            ])
        #expect(
            try onTerminal(words.replacing("ja", with: "en")).output.split(separator: "\r\n") == [
                "DATE        TIME   KIND  FROM      TO        AMOUNT  BALANCE  WHAT",
                "2011-03-12  12:52  rail  0-227-59  0-230-33    -160       10  fare / automati…",
            ])
        let piped = try onTerminal(words + " --stations '\(table)' | cat")
        #expect(piped.output.contains("羽田空港第1・第2ターミナル国内線連絡通路南口改札  -160    10  自動改札機 / 運賃支払\r\n"))
    }
}
