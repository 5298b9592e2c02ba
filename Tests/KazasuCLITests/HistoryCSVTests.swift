// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("Histories as CSV", .waits)
struct HistoryCSVTests {
    private static let columns = [
        "cardId", "card", "brand", "serial", "date", "time", "kind", "entryCode", "entryCompany", "entryLine",
        "entryStation", "exitCode", "exitCompany", "exitLine", "exitStation", "amount", "balance", "currency",
        "terminal", "process", "payment", "terminalId", "warnings", "entryStationEn", "exitStationEn",
    ]

    /// A name with a comma and quotes, one that looks like a formula, and two that tell that the codes are decimal.
    private static let stations = #"""
        area,line,station,company,line_name,station_name
        0,227,59,東京地下鉄,3号線銀座,"青山, ""一丁目"""
        0,230,33,東京地下鉄,11号線半蔵門,=1+1
        0,3,13,JR東日本,中央本線,新宿
        0,3,18,JR東日本,中央本線,高円寺

        """#

    static let cards = ["suica-p1", "edy", "waon", "nicepass", "rapica", "okica", "dhaka", "ryuto"]

    private let folder: TemporaryFolder
    private let table: String

    init() throws {
        folder = try TemporaryFolder()
        table = try folder.write(Array(Self.stations.utf8), as: "stations.csv")
    }

    private func csv(_ card: String, _ options: String...) throws -> String {
        let result = try Kazasu.run(
            ["history", "-q", Card.file(card), "--format", "csv", "--stations", table] + options)
        #expect(result.hasEnded(0), "\(result.errors)")
        return result.output
    }

    @Test("The columns, the codes as text, and company, line and station of the table")
    func columns() throws {
        let rows = CSVText.rows(try csv("suica-p1"))
        #expect(rows.first == Self.columns)
        #expect(rows.count == 21 && rows.allSatisfy { $0.count == Self.columns.count })
        #expect(
            rows[1] == [
                "0x0101031234567890", "transit", "suica", "483", "2011-03-12", "12:52", "rail", "0_227_59", "東京地下鉄",
                "3号線銀座", "青山, \"一丁目\"", "0_230_33", "東京地下鉄", "11号線半蔵門", "'=1+1", "-160", "10", "JPY",
                "automatic gate", "fare", "cash or none", "", "", "", "",
            ])
        let named = CSVText.rows(try Kazasu.run("history", Card.file("suica-p1"), "--format", "csv").output)[1]
        #expect(named[10] == "青山一丁目" && named[23...24] == ["Aoyama-itchome", "Shibuya"], "\(named)")
        let bare = try Kazasu.run("history", Card.file("suica-p1"), "--format", "csv", "--stations", "none")
        #expect(CSVText.rows(bare.output)[1][7...14] == ["0_227_59", "", "", "", "0_230_33", "", "", ""])
    }

    @Test("Other cards: machines, bus stops, decimals, and what is doubtful")
    func others() throws {
        #expect(try CSVText.rows(csv("waon")).dropFirst().allSatisfy { $0[21].hasPrefix("0x") })
        let dhaka = try CSVText.rows(csv("dhaka"))[1]
        #expect(dhaka[15...17] == ["-100.00", "340.00", "BDT"] && dhaka[1...2] == ["dhaka", "dhaka"])
        let nicepass = try CSVText.rows(csv("nicepass")).dropFirst()
        #expect(nicepass.contains { $0[22].contains("invalidTime") }, "\(nicepass)")
    }

    @Test("The language of the run changes nothing; --header ja gives Japanese columns and values")
    func language() throws {
        #expect(try csv("suica-p1", "--lang", "ja") == csv("suica-p1"))
        let rows = CSVText.rows(try csv("suica-p1", "--header", "ja"))
        #expect(rows[0].prefix(7) == ["カードID", "カード", "ブランド", "通番", "日付", "時刻", "種別"])
        #expect(Set(rows[0]).count == Self.columns.count)
        #expect(rows[1][6] == "鉄道" && rows[1][1] == "交通系IC" && rows[1][18...19] == ["自動改札機", "運賃支払"])
        #expect(try csv("suica-p1", "--header", "ja", "--lang", "en") == csv("suica-p1", "--header", "ja"))
    }

    @Test("A byte order mark in a file and on demand, none in a pipe")
    func byteOrderMark() throws {
        let mark = Array("\u{FEFF}".utf8)
        let plain = Array(try csv("edy").utf8)
        #expect(plain.starts(with: Array("cardId,".utf8)))
        #expect(Array(try csv("edy", "--bom").utf8) == mark + plain)
        let path = "\(folder.path)/out.csv"
        let result = try Kazasu.run("history", Card.file("edy"), "--format", "csv", "-o", path)
        #expect(result.hasEnded(0) && result.output.isEmpty && result.errors == "kazasu: \(path): 6 records\n")
        #expect(try TestFiles.read(path) == mark + plain)
        for options in [["--bom"], ["--header", "ja"], ["--bom", "--format", "json"]] {
            for command in ["history", "decode"] {
                let result = try Kazasu.run([command, Card.file("edy")] + options)
                #expect(result.hasEnded(64) && result.errors.contains("needs --format csv"), "\(result.errors)")
            }
        }
    }

    @Test("RFC 4180 for Python's reader, which takes nothing else here", arguments: cards)
    func python(card: String) throws {
        let path = try folder.write(Array(try csv(card).utf8), as: "history.csv")
        let program = #"""
            import csv, sys
            text = open(sys.argv[1], newline="", encoding="utf-8").read()
            assert text.count("\r\n") == text.count("\n") and text.endswith("\r\n")
            for row in csv.reader(text.splitlines(keepends=True), strict=True):
                print("\x1f".join(row), end="\x1e")
            """#
        let result = try ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", program, path], environment: ["PYTHONIOENCODING": "utf-8"])
        #expect(result.end == .exited(0), "\(result.errors)")
        let rows = result.output.split(separator: "\u{1E}").map {
            $0.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
        }
        #expect(rows == CSVText.rows(try csv(card)))
    }

    @Test("SQLite imports it, with unchanged codes and amounts as numbers", .enabled(if: Self.database != nil))
    func sqlite() throws {
        let program = try #require(Self.database)
        for options in [[], ["--bom"]] {
            let result = try Kazasu.run(["history", Card.file("suica-p1"), "--format", "csv"] + options)
            let path = try folder.write(Array(result.output.utf8), as: "history.csv")
            let query = "select cardId, entryCode, sum(amount), typeof(entryCode) from rides where serial = 483;"
            let answer = try ChildProcess.run(program, [":memory:", ".import --csv '\(path)' rides", query])
            #expect(answer.end == .exited(0) && answer.output == "0x0101031234567890|0_227_59|-160|text\n", "\(answer)")
        }
    }

    private static let database = installed("/usr/bin/sqlite3", "/usr/local/bin/sqlite3")
    private static let spreadsheet = installed("/usr/bin/soffice", "/usr/bin/libreoffice")

    /// The first of these programs that is there.
    private static func installed(_ paths: String...) -> String? { paths.first { access($0, X_OK) == 0 } }

    /// A row with its numbers and its time in one form: a spreadsheet shows them as its language does.
    private static func values(_ row: [String]) -> [String] {
        row.enumerated().map { column, cell in
            if let number = Double(cell), [3, 15, 16].contains(column) { return "\(number)" }
            guard column == 5, let time = cell.wholeMatch(of: /(\d\d):(\d\d)(?::00)?( AM| PM)?/) else { return cell }
            let hour = (Int(time.1) ?? 0) % (time.3 == nil ? 24 : 12) + (time.3 == " PM" ? 12 : 0)
            return "\(hour):\(time.2)"
        }
    }

    @Test(
        "LibreOffice opens it without a changed cell, in Japanese and in English", .serialized,
        .enabled(if: getenv("KAZASU_ALL_TESTS") != nil, "KAZASU_ALL_TESTS is not set"),
        .enabled(if: Self.spreadsheet != nil, "LibreOffice is not installed"), arguments: [1041, 1033])
    func libreOffice(language: Int) throws {
        let office = try #require(Self.spreadsheet)
        let paths = Self.cards.map { "\(folder.path)/\($0).csv" }
        for (card, path) in zip(Self.cards, paths) {
            _ = try Kazasu.run("history", "-q", Card.file(card), "--format", "csv", "--stations", table, "-o", path)
        }
        // Comma, quotes, UTF-8 (76), all rows, the language, and times and dates recognized, as in the dialog.
        let filter = "44,34,76,1,,\(language),false,true"
        let result = try ChildProcess.run(
            office,
            [
                "--headless", "-env:UserInstallation=file://\(folder.path)/profile", "--infilter=CSV:\(filter)",
                "--convert-to", "csv:Text - txt - csv (StarCalc):\(filter)", "--outdir", "\(folder.path)/out",
            ] + paths, environment: ["HOME": folder.path], limit: .seconds(120))
        #expect(result.end == .exited(0), "\(result.errors)")
        for card in Self.cards {
            let shown = try folder.text("out/\(card).csv").replacing("\n", with: "\r\n")
            #expect(CSVText.rows(shown).map(Self.values) == CSVText.rows(try csv(card)).map(Self.values), "\(card)")
        }
    }
}

/// A parser of RFC 4180 that takes nothing else.
enum CSVText {
    static func rows(_ text: String) -> [[String]] {
        var rows: [[String]] = [[""]]
        var isQuoted = false
        var scalars = Array(text.unicodeScalars)[...]
        func append(_ scalar: Unicode.Scalar) {
            rows[rows.count - 1][rows[rows.count - 1].count - 1].unicodeScalars.append(scalar)
        }
        while let next = scalars.popFirst() {
            if isQuoted {
                if next != "\"" {
                    append(next)
                } else if scalars.first == "\"" {
                    _ = scalars.popFirst()
                    append("\"")
                } else {
                    isQuoted = false
                }
            } else if next == "\"" {
                isQuoted = true
            } else if next == "," {
                rows[rows.count - 1].append("")
            } else if next == "\r", scalars.first == "\n" {
                _ = scalars.popFirst()
                rows.append([""])
            } else {
                append(next)
            }
        }
        return rows.last == [""] ? rows.dropLast() : rows
    }
}
