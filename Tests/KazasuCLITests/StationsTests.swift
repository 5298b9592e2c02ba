// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("Station tables of the user", .waits)
struct StationsTests {
    static let own = """
        area\tline\tstation\tcompany\tline_name\tstation_name
        0\t3\t13\t東日本旅客鉄道\t中央本\t新宿
        0\t3\t18\t東日本旅客鉄道\t中央本\t高円寺
        0\t227\t59\t東京地下鉄\t銀座線\t青山一丁目

        """

    /// A table, the options that go with it, and what is said of it.
    struct Table: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        let options: [String]
        let words: [String]

        init(_ name: String, _ text: String, options: [String] = [], _ words: [String]) {
            (testDescription, self.text, self.options, self.words) = (name, text, options, words)
        }
    }

    static let tables = [
        Table("own layout", own, ["3", "decimal (as its layout says)"]),
        Table("letters", "0,E3,3B,東京地下鉄,銀座線,青山一丁目\n0,3,D,JR東日本,中央本,新宿\n", ["2", "hex (letters among the digits)"]),
        Table("known pairs, hexadecimal", "0,25,07,東日本旅客鉄道,山手,渋谷\n", ["1", "hex (1 known station matches)"]),
        Table("known pairs, decimal", "0,37,7,東日本旅客鉄道,山手,渋谷\n", ["1", "decimal (1 known station matches)"]),
        Table(
            "commas under the own names are another's file",
            "area,line,station,company,line_name,station_name\n0,e3,3b,東京地下鉄,銀座線,青山一丁目\n",
            ["1", "hex (letters among the digits)"]),
        Table("semicolons", "0;E3;3B;東京地下鉄;\"銀座線\";青山一丁目\n", ["1", "hex (letters among the digits)"]),
        Table("0x", "0x0,0x25,0x07,東日本旅客鉄道,山手,渋谷\n", ["1", "hex (letters among the digits)"]),
        Table("told", "0,1,1,東日本旅客鉄道,東海道,東京\n", options: ["--codes", "hex"], ["1", "hex (as specified)"]),
        Table(
            "repeated keys", own + "0\t3\t13\tX\tY\tZ\n",
            ["3", "1 with a duplicate key, 1 of them with another name"]),
        Table(
            "bus stops of SuicaTools",
            "_id,LineCode,StationCode,CompanyName,LineName,StationName,Note\n1,14,fb,広島電鉄,NULL,大学病院南門,NULL\n",
            ["1", "bus_stops.tsv"]),
        Table(
            "former names",
            "area\tline\tstation\tcurrent_name\tformer_name\n0\t42\t13\t西大井\t新川崎\n0\t42\t13\t西大井\t武蔵小杉\n",
            ["2", "former_names.tsv"]),
        Table(
            "bus stops", "operator\tstop\tcompany\tstop_name\n3151\t7\t広島電鉄\t紙屋町\n", ["1", "bus_stops.tsv"]),
    ]

    @Test("A table is checked and kept below the XDG data directory", arguments: tables)
    func imported(_ table: Table) throws {
        let home = try TemporaryFolder()
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(table.text.utf8), as: "table.csv")
        let variables = ["XDG_DATA_HOME": home.path]
        let result = try Kazasu.run(["stations", "import", path] + table.options, environment: variables)
        #expect(result.end == .exited(0), "\(result.errors)")
        for word in table.words { #expect(result.output.contains(word), "\(result.output)") }
        #expect(result.output.contains("\(home.path)/kazasu/"))
        let json = try Kazasu.run(
            ["stations", "import", path, "--json"] + table.options, environment: variables)
        let document = JSONCursor(try JSONValue(parsing: Array(json.output.utf8)))
        #expect(try document.required("schema").text() == "kazasu.stations/1")
        #expect(try document.required("rows").integer() == Int(table.words[0]))
        // What was kept is read again, with its own layout and no question about the codes.
        let kept = try document.required("file").text()
        let again = try Kazasu.run(["stations", "import", kept], environment: variables)
        #expect(again.output.contains("as its layout says"), "\(again.errors)")
        // Each import says what it replaced.
        #expect(!result.output.contains("Replaced"), "\(result.output)")
        #expect(try document.required("replaced").integer() == Int(table.words[0]))
        #expect(again.output.contains("Replaced"), "\(again.output)")
        let japanese = try Kazasu.run(
            ["stations", "import", path, "--lang", "ja"] + table.options, environment: variables)
        #expect(japanese.output.contains("前に取り込んだ表（\(table.words[0]) 行）"), "\(japanese.output)")
    }

    /// A table that cannot be read, and what is said of it in both languages.
    static let bad: [(name: String, bytes: [UInt8], english: String, japanese: String)] = [
        ("undecidable", Array("0,1,1,東日本旅客鉄道,東海道,東京駅\n".utf8), "--codes hex|decimal", "判断できません"),
        ("neither UTF-8 nor Shift_JIS", Array("0,3,13,".utf8) + [0xFF, 0xFF, 0x0A], "UTF-8 or Shift_JIS", "Shift_JIS"),
        ("empty", [], "not a table of stations", "駅名の表ではありません"),
        (
            "header alone", Array("area\tline\tstation\tcompany\tline_name\tstation_name\n".utf8),
            "not a table of stations", "駅名の表ではありません"
        ),
        (
            "a code too large", Array("\(own)0\t256\t1\tX\tY\tZ\n".utf8),
            "line 5: expected area, line and station code",
            "5 行目"
        ),
        ("no number", Array("\(own)zero\t1\t1\tX\tY\tZ\n".utf8), "line 5", "5 行目"),
    ]

    @Test("Never replaces a table by one that cannot be read", arguments: bad)
    func refused(_ row: (name: String, bytes: [UInt8], english: String, japanese: String)) throws {
        let home = try TemporaryFolder()
        let folder = try TemporaryFolder()
        let variables = ["XDG_DATA_HOME": home.path]
        let good = try folder.write(Array(Self.own.utf8), as: "good.tsv")
        #expect(try Kazasu.run(["stations", "import", good], environment: variables).end == .exited(0))
        let path = try folder.write(row.bytes, as: "bad.csv")
        let result = try Kazasu.run(["stations", "import", path], environment: variables)
        result.expectError(65, row.english)
        #expect(result.errors.contains(path))
        let japanese = try Kazasu.run(["stations", "import", path, "--lang=ja"], environment: variables)
        japanese.expectError(65, row.japanese)
        for english in [" the ", " must ", " code", "hexadecimal", "decimal "] {
            #expect(japanese.messages.first?.contains(english) == false, "\(japanese.errors)")
        }
        let lookup = try Kazasu.run(["stations", "lookup", "0-3-13"], environment: variables)
        #expect(lookup.output.contains("新宿"))
    }

    @Test("Without a home directory there is no place to keep a table")
    func noHome() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(Self.own.utf8), as: "own.tsv")
        for line in ["unset HOME XDG_DATA_HOME", "HOME= XDG_DATA_HOME=; export HOME XDG_DATA_HOME"] {
            try Kazasu.shell("\(line); kazasu stations import '\(path)'").expectError(73, "no home directory")
            #expect(try Kazasu.shell("\(line); kazasu stations lookup 0-3-13").output.contains("Shinjuku"))
        }
        try Kazasu.run("stations", "import", "\(folder.path)/none").expectError(66, "cannot be read")
        try Kazasu.run("stations", "import", path).expectError(73, "cannot be written")
    }

    @Test("Falls back to HOME unless XDG_DATA_HOME is an absolute path", arguments: ["", "relative"])
    func home(data: String) throws {
        let home = try TemporaryFolder()
        let path = try home.write(Array(Self.own.utf8), as: "own.tsv")
        let variables = ["HOME": home.path, "XDG_DATA_HOME": data]
        let result = try Kazasu.run(["stations", "import", path], environment: variables)
        #expect(result.output.contains("\(home.path)/.local/share/kazasu/stations.tsv"), "\(result.errors)")
    }

    @Test("A code is looked up")
    func lookup() throws {
        let folder = try TemporaryFolder()
        let stations = try folder.write(
            Array(
                """
                area\tline\tstation\tcompany\tline_name\tstation_name\tvalid_from\tvalid_until
                0\t3\t13\t東日本旅客鉄道\t中央本\t新宿\t\t
                0\t9\t9\tX\tY\t旧駅\t\t2020-03-13
                0\t9\t9\tX\tY\t新駅\t2020-03-14\t

                """.utf8), as: "stations.tsv")
        let stops = try folder.write(
            Array("operator\tstop\tcompany\tstop_name\n3151\t7\t広島電鉄\t紙屋町\n".utf8), as: "stops.tsv")
        let tables = ["--stations", stations, "--stations", stops]
        func answer(_ words: String...) throws -> String {
            try Kazasu.run(["stations", "lookup"] + words + tables).output
        }
        #expect(try answer("0-3-13") == "0-3-13  新宿  東日本旅客鉄道  中央本\n")
        #expect(try answer("0C4F-0007") == "0C4F-0007  紙屋町  広島電鉄\n")
        #expect(try answer("0c4f-0007", "9-3-14") == "0c4f-0007  紙屋町  広島電鉄\n9-3-14     -\n")
        let missing = try Kazasu.run(["stations", "lookup", "0-3-13", "9-9-9"] + tables)
        missing.expectError(1, "in no table: 9-9-9")
        #expect(missing.output == "0-3-13  新宿  東日本旅客鉄道  中央本\n9-9-9   -\n", "what was found is there")
        try Kazasu.run(["stations", "lookup", "9-9-9", "--lang", "ja"] + tables).expectError(1, "どの表にもありません: 9-9-9")
        #expect(try answer("0-9-9", "--date", "2020-03-13").contains("旧駅"))
        #expect(try answer("0-9-9", "--date", "2020-03-14").contains("新駅"))
        let json = try answer("0-3-13", "--json")
        let document = JSONCursor(try JSONValue(parsing: Array(json.utf8)))
        let place = try #require(try document.required("places").elements().first)
        #expect(try place.required("name").text() == "新宿")
        for wrong in ["0-3", "0-3-256", "C4F-0007", "0-3-13-1", ""] {
            #expect(try Kazasu.run(["stations", "lookup", wrong] + tables).end == .exited(64), "\(wrong)")
        }
    }

    /// A name that is looked up, and the codes that are found.
    static let looked: [(name: String, codes: [String])] = [
        ("甲乙", ["0-3-13", "0-37-10"]), ("甲乙駅", ["0-3-13", "0-37-10"]), ("甲乙丙", ["0-5-5"]), ("丙町", ["0C4F-0007"]),
        ("旧駅", ["0-9-9"]), ("SHINJUKU-nishi", ["0-6-6"]), ("zoshigaya nishi", ["0-7-7"]), ("どこか", []),
    ]

    @Test("A name is looked up: the station that has it, else those whose name contains it", arguments: looked)
    func lookupName(_ row: (name: String, codes: [String])) throws {
        let folder = try TemporaryFolder()
        let stations = try folder.write(
            Array(
                """
                area\tline\tstation\tcompany\tline_name\tstation_name\tvalid_from\tvalid_until
                0\t37\t10\tJR\t山手\t甲乙\t\t
                0\t3\t13\tJR\t中央本\t甲乙\t\t
                0\t5\t5\tX\tY\t甲乙丙丁\t\t
                0\t7\t7\tX\tY\tZoshigaya-Nishi\t\t
                0\t6\t6\tX\tY\tShinjuku-Nishi\t\t
                0\t9\t9\tX\tY\t旧駅\t\t2020-03-13
                0\t9\t9\tX\tY\t新駅\t2020-03-14\t

                """.utf8), as: "stations.tsv")
        let stops = try folder.write(
            Array("operator\tstop\tcompany\tstop_name\n3151\t7\t広島電鉄\t丙町\n".utf8), as: "stops.tsv")
        let line = ["stations", "lookup", row.name, "--stations", stations, "--stations", stops]
        let result = try Kazasu.run(line)
        guard !row.codes.isEmpty else {
            result.expectError(1, "in no table: どこか")
            #expect(result.output == "どこか  -\n")
            return
        }
        #expect(result.hasEnded(0), "\(result.errors)")
        let codes = result.output.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
        #expect(codes == row.codes)
        let document = JSONCursor(try JSONValue(parsing: Array(try Kazasu.run(line + ["--json"]).output.utf8)))
        #expect(try document.required("places").elements().count == row.codes.count)
    }

    @Test("A search shows a few of many hits, and says how many there are")
    func boundsLookup() throws {
        for (name, meant) in [("霞関", "霞ケ関"), ("Shinjku", "Shinjuku"), ("四谷", "四ツ谷")] {
            let result = try Kazasu.run("stations", "lookup", name)
            #expect(result.hasEnded(name == "四谷" ? 0 : 1), "\(result)")
            #expect(result.messages.last?.contains("did you mean '\(meant)'?") == true, "\(result)")
        }
        let none = try Kazasu.run("stations", "lookup", "新宿", "渋谷")
        #expect(none.hasEnded(0) && none.errors.isEmpty, "\(none)")
        let result = try Kazasu.run("stations", "lookup", "新", "a", "東")
        #expect(result.hasEnded(0) && result.output.split(separator: "\n").count == 50, "\(result.output)")
        #expect(result.errors.contains("more matches; type more of the name"), "\(result.errors)")
        let json = JSONCursor(
            try JSONValue(parsing: Array(try Kazasu.run("stations", "lookup", "新", "--json").output.utf8)))
        #expect(try json.required("places").elements().count == 50 && json.required("more").integer() > 0)
        let few = try Kazasu.run("stations", "lookup", "なんば", "--lang", "ja")
        #expect(few.output.contains("難波") && few.output.contains("Osaka Metro 御堂筋線") && few.errors.isEmpty, "\(few)")
    }

    @Test("Without names, places are codes as before", arguments: ["suica-p1", "suica-inside", "rapica", "nicepass"])
    func codes(card: String) throws {
        let table = try TemporaryFolder().write(Array(Self.own.utf8), as: "own.tsv")
        for command in ["history -q", "decode", "history -q --format csv", "history --json"] {
            let words = command.split(separator: " ").map(String.init) + [Card.file(card)]
            let codes = try Kazasu.run(words + ["--stations", "none"])
            #expect(codes.hasEnded(0), "\(codes.errors)")
            #expect(!["渋谷", "Shibuya", "青山一丁目", "東京地下鉄"].contains { codes.output.contains($0) })
            for variables in [["KAZASU_STATIONS": "none"], ["KAZASU_STATIONS": table]] {
                let option = variables["KAZASU_STATIONS"] == "none" ? [] : ["--stations", "none"]
                #expect(try Kazasu.run(words + option, environment: variables).output == codes.output)
            }
        }
        #expect(
            try Kazasu.run("history", "-q", Card.file("suica-p1"), "--stations", "none").output.contains("0-227-59"))
    }

    @Test("A table beats KAZASU_STATIONS=none, and none excludes tables")
    func none() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array(Self.own.replacing("青山一丁目", with: "甲乙").utf8), as: "own.tsv")
        let line = ["history", "-q", Card.file("suica-p1"), "--stations", path]
        let named = try Kazasu.run(line, environment: ["KAZASU_STATIONS": "none"]).output
        #expect(named.contains("甲乙") && named.contains("Shibuya"), "\(named)")
        try Kazasu.run(line + ["--stations", "none"]).expectError(64, "--stations none cannot be used with a table")
    }

    @Test("The tables that are used, in their order")
    func status() throws {
        let (home, folder) = (try TemporaryFolder(), try TemporaryFolder())
        let own = try folder.write(Array(Self.own.utf8), as: "own.tsv")
        let stops = try folder.write(
            Array("operator\tstop\tcompany\tstop_name\n3151\t7\t広島電鉄\t紙屋町\n".utf8), as: "stops.tsv")
        let variables = ["XDG_DATA_HOME": home.path, "KAZASU_STATIONS": "\(own):\(stops)"]
        #expect(try Kazasu.run(["stations", "import", own], environment: variables).hasEnded(0))
        let line = ["stations", "status", "--stations", stops]
        let document = JSONCursor(
            try JSONValue(parsing: Array(try Kazasu.run(line + ["--json"], environment: variables).output.utf8)))
        let tables = try document.required("tables").elements()
        #expect(
            try tables.map { try $0.required("origin").text() }
                == ["option", "environment", "environment", "imported", "shipped"])
        #expect(
            try tables.map { try $0.required("stations").integer() } == [0, 3, 0, 3, ShippedStations.counts.stations])
        #expect(try tables.map { try $0.required("busStops").integer() } == [1, 0, 1, 0, 4933])
        #expect(try tables[4].required("formerNames").integer() == ShippedStations.counts.formerNames)
        let licenses = try tables[4].required("sources").elements().map { try $0.required("license").text() }
        #expect(
            Set(licenses)
                == Set(["MIT", "Apache-2.0", "CC-BY-4.0"]).union(ShippedStations.hasYSRL ? ["LicenseRef-YSRL"] : []))
        let text = try Kazasu.run(line, environment: variables).output
        #expect(text.contains(stops) && text.contains("with Kazasu") && text.contains("CC-BY-4.0"), "\(text)")
        let japanese = try Kazasu.run(line + ["--lang", "ja"], environment: variables).output
        #expect(japanese.contains("付属の表の出典") && japanese.contains("取り込み"), "\(japanese)")
        #expect(text.contains("The license of Kazasu does not cover these names."))
        #expect(japanese.contains("付属の名前は Kazasu のライセンスの対象ではありません。"))
        #expect(text.contains("may not be redistributed by itself") == ShippedStations.hasYSRL)
        let none = try Kazasu.run(["stations", "status", "--json", "--stations", "none"], environment: variables).output
        #expect(try JSONCursor(JSONValue(parsing: Array(none.utf8))).required("tables").elements().isEmpty)
    }

    @Test("A gate's station is named by the ride of that day, else by every station that the code can mean")
    func gates() throws {
        let folder = try TemporaryFolder()
        let own = Self.own + "1\t227\t59\tX\tY\t別の駅\n0\t227\t56\tX\tY\t虎ノ門\n2\t227\t56\tX\tY\t大阿太\n"
        let path = try folder.write(Array(own.utf8), as: "own.tsv")
        let text = try Kazasu.run("decode", Card.file("suica-p1"), "--stations", path).output
        #expect(text.contains("entry  227-59 青山一丁目\n"), "\(text)")
        #expect(text.contains("Last station entered  227-59 青山一丁目/別の駅\n"), "\(text)")
        #expect(text.contains("exit   227-56 虎ノ門 "), "a ride of the day ends there: \(text)")
        let json = try Kazasu.run("decode", "--json", Card.file("suica-p1"), "--stations", path).output
        let report = try JSONCursor(try JSONValue(parsing: Array(json.utf8))).required("reports").elements()[0]
        func names(_ place: JSONCursor) throws -> [String] {
            try place.required("stations").elements().map { try $0.required("name").text() }
        }
        let log = try report.required("gateLog").elements()
        #expect(try names(log[1]) == ["青山一丁目"] && names(log[2]) == ["虎ノ門"])
        #expect(try names(report.required("entryRecord")) == ["青山一丁目", "別の駅"])
    }

    @Test("Reads tables in Shift_JIS")
    func shiftJIS() throws {
        let folder = try TemporaryFolder()
        let bytes = Array("0,3,13,JR,x,".utf8) + [0x90, 0x56, 0x8F, 0x68, 0x0A]
        let path = try folder.write(bytes, as: "sjis.csv")
        let result = try Kazasu.run("stations", "lookup", "0-3-13", "--stations", path)
        #expect(result.output.contains("新宿") && result.errors.isEmpty, "\(result.errors)")
    }

    @Test("Names come from the options, then the variable, then the store")
    func names() throws {
        let home = try TemporaryFolder()
        let folder = try TemporaryFolder()
        func table(_ name: String) throws -> String {
            try folder.write(Array(Self.own.replacing("高円寺", with: name).utf8), as: "\(name).tsv")
        }
        let (option, variable, stored) = (try table("option"), try table("variable"), try table("stored"))
        let xdg = ["XDG_DATA_HOME": home.path]
        #expect(try Kazasu.run(["stations", "import", stored], environment: xdg).end == .exited(0))
        let both = xdg.merging(["KAZASU_STATIONS": variable]) { $1 }
        for command in [["history", "-r", Card.fixture("suica-p1")], ["decode", Card.file("suica-p1")]] {
            let plain = try Kazasu.run(command)
            #expect(plain.output.contains("  Koenji  "))
            #expect(try Kazasu.run(command, environment: xdg).output.contains("  stored  "))
            #expect(try Kazasu.run(command, environment: both).output.contains("  variable  "))
            let asked = try Kazasu.run(command + ["-q", "--stations", option], environment: both)
            #expect(asked.output.contains("  option  ") && !asked.output.contains("  variable  "))
            #expect(asked.output.contains("青山一丁目") && asked.errors.isEmpty)
            try Kazasu.run(command + ["--stations", "\(folder.path)/none"]).expectError(66, "none")
            try Kazasu.run(command, environment: ["KAZASU_STATIONS": "\(folder.path)/none"]).expectError(66, "none")
        }
    }

    /// The tables lie outside the repository, and are not everywhere.
    static let shared = "\(TestFiles.root)/../shared/data"

    @Test("The whole table is read", .enabled(if: (try? TestFiles.read("\(shared)/stations.tsv")) != nil))
    func whole() throws {
        let home = try TemporaryFolder()
        let xdg = ["XDG_DATA_HOME": home.path]
        for (name, rows) in [("stations", "8753"), ("stations.former", "170"), ("bus_stops", "4933")] {
            let result = try Kazasu.run(["stations", "import", "\(Self.shared)/\(name).tsv"], environment: xdg)
            #expect(result.output.contains(rows), "\(result.output) \(result.errors)")
        }
        let history = try Kazasu.run(["history", "-r", Card.fixture("suica-p1")], environment: xdg).output
        #expect(history.contains("青山一丁目") && !history.contains("0-227-59"))
    }
}
