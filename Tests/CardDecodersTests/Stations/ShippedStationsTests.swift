// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Synchronization
import TestSupport
import Testing

/// The packed tables against the plain ones of `ThirdParty/stations`, with or without the rows of YSRL.
@Suite("The names that come with Kazasu")
struct ShippedStationsTests {
    let names = ShippedStations()

    /// The rows of a plain table, each by the names of its columns; each table is read once.
    static func rows(_ file: String) throws -> [[String: String]] {
        try tables.withLock { tables in
            if let known = tables[file] { return known }
            let rows = try read(file)
            tables[file] = rows
            return rows
        }
    }

    private static let tables = Mutex<[String: [[String: String]]]>([:])

    private static func read(_ file: String) throws -> [[String: String]] {
        let text = String(decoding: try TestFiles.read("ThirdParty/stations/\(file)"), as: UTF8.self)
        let lines = text.split(separator: "\n").map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        let head = try #require(lines.first)
        return lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(head, $0)) }
    }

    /// The rows of a table and, if this build has them, those of YSRL, which come first.
    static func allRows(_ name: String) throws -> [[String: String]] {
        (ShippedStations.hasYSRL ? try rows("\(name).ysrl.tsv") : []) + (try rows("\(name).tsv"))
    }

    /// The stations by code; a row of YSRL counts where there are two.
    static func stations() throws -> [[String: String]] {
        var keys: Set<[String?]> = []
        return try allRows("stations").filter { row in
            keys.insert(["area", "line", "station"].map { row[$0] }).inserted
        }
    }

    /// A field, or `nil` if it is empty.
    private func text(_ row: [String: String], _ column: String) -> String? {
        row[column].flatMap { $0.isEmpty ? nil : $0 }
    }

    private func code(_ row: [String: String]) throws -> StationCode {
        StationCode(
            area: try #require(UInt8(row["area"] ?? "")), line: try #require(UInt8(row["line"] ?? "")),
            station: try #require(UInt8(row["station"] ?? "")))
    }

    @Test("Every station has the names of its row")
    func findsEveryStation() throws {
        let lines = Dictionary(
            uniqueKeysWithValues: try Self.rows("lines.tsv").map { row in
                (["company", "line_name"].map { row[$0] }, row)
            })
        let rows = try Self.stations()
        #expect(rows.count == (ShippedStations.hasYSRL ? 8753 : 7850) && ShippedStations.counts.stations == rows.count)
        for row in rows {
            let line = try #require(lines[[row["company"], row["line_name"]]])
            // A day on which no former name is left but those that have no day at all.
            let name = try #require(names.station(try code(row), on: CalendarDate("2026-11-26")))
            #expect(name.company == text(row, "company"))
            #expect(name.line == text(row, "line_name"))
            #expect(name.name == text(row, "station_name"))
            #expect(name.latin.company == text(line, "company_en"))
            #expect(name.latin.line == text(line, "line_name_en"))
            #expect(name.latin.name == text(row, "station_name_en"))
            #expect(name.everyday.company?.japanese == text(line, "company_short") ?? text(row, "company"))
            #expect(name.everyday.line?.japanese == text(line, "everyday"))
            #expect(name.everyday.line?.english == text(line, "everyday_en"))
            #expect(name.doubt?.rawValue == text(row, "doubt"))
        }
    }

    @Test("Every bus stop has the names of its row")
    func findsEveryStop() throws {
        let rows = try Self.rows("bus_stops.tsv")
        #expect(rows.count == 4933)
        let companies = Dictionary(
            uniqueKeysWithValues: try Self.rows("bus_companies.tsv").map { ($0["company"] ?? "", $0) })
        for row in rows {
            let code = BusStopCode(
                area: 0, operatorCode: try #require(UInt16(row["operator"] ?? "")),
                stop: try #require(UInt16(row["stop"] ?? "")))
            let name = try #require(names.busStop(code, on: nil))
            #expect(name.company == text(row, "company") && name.name == text(row, "stop_name") && name.line == nil)
            let company = try #require(companies[row["company"] ?? ""])
            #expect(name.company(in: .japanese) == company["company_short"])
            #expect(name.company(in: .english) == company["company_short_en"])
        }
    }

    @Test("A code of no row has no name", arguments: 1...4)
    func hasNoOtherStations(seed: UInt64) throws {
        let known = Set(
            try (Self.allRows("stations") + Self.allRows("former")).map { try code($0) })
        var random = SeededGenerator(seed: seed)
        var others = 0
        let rounds = TestEffort.rounds(1000)
        for _ in rounds {
            let code = StationCode(
                area: .random(in: 0...3, using: &random), line: .random(in: 0...255, using: &random),
                station: .random(in: 0...255, using: &random))
            guard !known.contains(code) else { continue }
            others += 1
            #expect(names.station(code, on: nil) == nil, "\(code)")
        }
        #expect(others > rounds.count / 2)
    }

    @Test("The same numbers in another area are another station")
    func keepsAreasApart() {
        let codes = (0...3).map { StationCode(area: $0, line: 217, station: 82) }
        #expect(codes.map { names.station($0, on: nil)?.name } == [nil, nil, "板宿", nil])
    }

    /// A day, and the name that 0-1-6 had: 田町 until 高輪ゲートウェイ opened on 2020-03-14.
    static let days: [(String, String)] = [
        ("2020-03-13", "田町"), ("2020-03-14", "高輪ゲートウェイ"), ("2008-01-01", "田町"), ("2026-11-23", "高輪ゲートウェイ"),
    ]

    @Test("A name is that of the day", arguments: days)
    func namesTheStationOfTheDay(day: String, expected: String) throws {
        let date = try #require(CalendarDate(day))
        let name = try #require(names.station(StationCode(area: 0, line: 1, station: 6), on: date))
        #expect(name.name == expected)
        #expect(name.latin.name == (expected == "田町" ? "Tamachi" : "Takanawa Gateway"))
        #expect(name.formerNames.isEmpty)
    }

    @Test("A renamed station has its former name where no day decides")
    func namesRenamedStations() throws {
        let row = try #require(
            Self.allRows("former").first { $0["kind"] == "renamed" && $0["changed_on"] == "" })
        let name = try #require(names.station(try code(row), on: CalendarDate("2012-05-01")))
        #expect(name.name == row["current_name"] && name.formerNames.map(\.name) == [row["former_name"]])
        #expect(name.candidates.isEmpty && name.doubt == nil)
        // 京阪浜大津, since 2018-03-17 びわ湖浜大津.
        let otsu = StationCode(area: 2, line: 0xC9, station: 0x98)
        let undated = try #require(names.station(otsu, on: nil))
        #expect(
            undated.formerNames.map(\.name) == ["浜大津"] && undated.formerNames[0].until == CalendarDate("2018-03-17"))
        #expect(names.station(otsu, on: CalendarDate("2018-03-16"))?.name == "浜大津")
        #expect(names.station(otsu, on: CalendarDate("2018-03-17"))?.formerNames == [])
    }

    /// A code, a day, and its company and line in both languages as they were then.
    static let lines: [(StationCode, day: String, japanese: [String], english: [String])] = [
        (
            StationCode(area: 0, line: 182, station: 10), "2024-06-01", ["新京成", "新京成線"],
            ["Shin-Keisei", "Shin-Keisei Line"]
        ),
        (
            StationCode(area: 0, line: 182, station: 10), "2025-03-31", ["新京成", "新京成線"],
            ["Shin-Keisei", "Shin-Keisei Line"]
        ),
        (
            StationCode(area: 0, line: 182, station: 10), "2025-04-01", ["京成", "京成 松戸線"],
            ["Keisei", "Keisei Matsudo Line"]
        ),
        (
            StationCode(area: 2, line: 186, station: 103), "2025-03-31", ["泉北高速", "泉北高速鉄道線"],
            ["Semboku Rapid", "Semboku Rapid Railway Line"]
        ),
        (
            StationCode(area: 3, line: 193, station: 13), "2015-03-31", ["北近畿タンゴ鉄道", "北近畿タンゴ鉄道 宮福線"],
            ["Kitakinki Tango Railway", "Kitakinki Tango Railway Miyafuku Line"]
        ),
    ]

    @Test("The company and the line are those of the day", arguments: lines.indices)
    func formerLines(index: Int) throws {
        let row = Self.lines[index]
        let name = try #require(names.station(row.0, on: CalendarDate(row.day)))
        #expect([name.company(in: .japanese), name.line(in: .japanese)] == row.japanese)
        #expect([name.company(in: .english), name.line(in: .english)] == row.english)
        let today = try #require(names.station(row.0, on: nil))
        #expect(today.company != nil && (today.company == name.company) == (row.japanese[0] == "京成"))
    }

    @Test("No name in Latin script has Japanese letters, and no company or line is a note of a source")
    func areNames() {
        for code in ShippedStations.codes {
            let name: StationName?
            switch code {
            case .station(let code): name = names.station(code, on: nil)
            case .busStop(let code): name = names.busStop(code, on: nil)
            default: continue
            }
            let latin = [
                name?.latin.company, name?.latin.line, name?.latin.name, name?.everyday.company?.english,
                name?.everyday.line?.english,
            ]
            for text in latin.compactMap({ $0 }) {
                #expect(text.unicodeScalars.allSatisfy { !(0x3000...0xFF00).contains($0.value) }, "\(code): \(text)")
            }
            for note in ["連絡駅", "共通", "不明", "本局"] {
                #expect(name?.company != note && name?.line != note, "\(code)")
            }
        }
    }

    /// A code that was given to another station: the day of the record, what people see in both languages, and why it is uncertain.
    struct Reassigned: CustomTestStringConvertible, Sendable {
        let code: StationCode
        let day: String?
        let label: LocalizedText
        let doubt: Doubt?

        init(
            _ area: UInt8, _ line: UInt8, _ station: UInt8, _ day: String?, _ english: String, _ japanese: String,
            _ doubt: Doubt? = nil
        ) {
            code = StationCode(area: area, line: line, station: station)
            (self.day, label, self.doubt) = (day, LocalizedText(english, japanese), doubt)
        }

        var testDescription: String { "\(code.area)-\(code.line)-\(code.station) on \(day ?? "no day")" }
    }

    static let reassigned = [
        // The day is certain.
        Reassigned(0, 1, 6, "2020-03-13", "Tamachi", "田町"),
        Reassigned(0, 1, 6, "2020-03-14", "Takanawa Gateway", "高輪ゲートウェイ"),
        Reassigned(0, 1, 6, nil, "Takanawa Gateway (until 2020-03-14: Tamachi)", "高輪ゲートウェイ（2020-03-14より前は田町）"),
        // It was inferred.
        Reassigned(0, 2, 110, "2007-03-17", "Iwanuma", "岩沼", .oneSource),
        Reassigned(0, 2, 110, "2007-03-18", "Tatekoshi", "館腰"),
        // It is unknown, with a table of 2011 or of 2026 that has the present station.
        Reassigned(2, 129, 28, "2011-02-08", "Umeda", "梅田"),
        Reassigned(2, 129, 28, "2011-02-07", "Umeda or Higashi-Umeda", "梅田または東梅田", .disputed),
        Reassigned(2, 129, 28, nil, "Umeda or Higashi-Umeda", "梅田または東梅田", .disputed),
        Reassigned(0, 11, 101, "2025-01-01", "Arashima or Yasugi", "荒島または安来", .disputed),
        Reassigned(0, 11, 101, "2026-07-15", "Arashima", "荒島"),
        Reassigned(
            0, 42, 13, "2020-01-01", "Nishi-Oi or Shin-Kawasaki or Musashi-Kosugi", "西大井または新川崎または武蔵小杉", .disputed),
        // No station has it today.
        Reassigned(0, 41, 19, nil, "Niiza", "新座"), Reassigned(0, 41, 19, "2026-01-01", "Niiza", "新座"),
    ]

    @Test(
        "A code that was another station's names the one of the day, or both; never as a former name",
        arguments: reassigned)
    func namesReassignedCodes(_ row: Reassigned) throws {
        let place = Place(.station(row.code), on: row.day.flatMap { CalendarDate($0) }, names)
        #expect(place.label(.english) == row.label.english && place.label(.japanese) == row.label.japanese)
        #expect(place.doubt == row.doubt)
        #expect(place.name?.formerNames == [])
        #expect(place.name?.candidates.isEmpty == (row.doubt != .disputed && row.label.english.count < 40))
    }

    /// Codes that only YSRL has, or has a newer name of, and the names.
    static let renewed: [(StationCode, String, String)] = [
        (StationCode(area: 0, line: 1, station: 95), "御厨", "Mikuriya"),
        (StationCode(area: 0, line: 108, station: 195), "JR野江", "JR-Noe"),
        (StationCode(area: 0, line: 46, station: 148), "山寺", "Yamadera"),
        (StationCode(area: 0, line: 35, station: 154), "鹿妻", "Kazuma"),
        (StationCode(area: 0, line: 38, station: 79), "仁方", "Nigata"),
    ]

    @Test(
        "Codes that only YSRL names have its names", .enabled(if: ShippedStations.hasYSRL, "this build is without them")
    )
    func namesRowsOfYSRL() throws {
        for (code, japanese, english) in Self.renewed {
            let name = names.station(code, on: CalendarDate("2026-11-26"))
            #expect(name?.name == japanese && name?.latin.name == english, "\(code)")
        }
    }

    @Test(
        "Formal and everyday names of a line",
        arguments: [
            (StationCode(area: 0, line: 37, station: 7), "東日本旅客鉄道", "JR東日本", "JR 山手線", "JR Yamanote Line"),
            (StationCode(area: 0, line: 227, station: 59), "東京地下鉄", "東京メトロ", "東京メトロ 銀座線", "Tokyo Metro Ginza Line"),
        ])
    func namesLines(code: StationCode, company: String, short: String, line: String, english: String) throws {
        let name = try #require(names.station(code, on: nil))
        #expect(name.company == company && name.company(in: .japanese) == short)
        #expect(name.line(in: .japanese) == line && name.line(in: .english) == english)
        #expect(name.lineLabel(.japanese) == line && name.lineLabel(.english) == english)
        for word in [line, english, line.replacing(" ", with: ""), name.line ?? "-", "\(company) \(name.line ?? "-")"] {
            #expect(name.isOnLine(NameQuery(word)), "\(word)")
        }
        #expect(!name.isOnLine(NameQuery("JR 埼京線")) && !name.isOnLine(NameQuery("線")))
    }

    @Test(
        "A bus whose fare does not depend on the stop shows its company",
        arguments: [
            (0x0A01, "西鉄バス", "Nishitetsu Bus"), (0x0D2A, "名古屋市営バス", "Nagoya City Bus"), (0x0F3D, "伊予鉄", "Iyotetsu"),
        ])
    func namesFlatFares(operatorCode: Int, japanese: String, english: String) {
        let code = BusStopCode(area: 3, operatorCode: UInt16(operatorCode), stop: 0)
        let place = Place(.busStop(code), on: nil, names)
        #expect(place.name?.name == nil)
        #expect(place.label(.japanese) == japanese && place.label(.english) == english)
    }

    @Test("A station that two sources have in different areas, or that was inferred, is in doubt in each")
    func marksDoubt() {
        func doubt(_ area: UInt8, _ line: UInt8, _ station: UInt8) -> Doubt? {
            names.station(StationCode(area: area, line: line, station: station), on: nil)?.doubt
        }
        #expect(doubt(3, 45, 153) == .disputed && doubt(0, 197, 1) == nil && doubt(3, 197, 1) == nil)
        #expect(doubt(3, 197, 11) == .oneSource)
        #expect(doubt(0, 45, 153) == (ShippedStations.hasYSRL ? .disputed : nil))
        let found = names.places(named: "梁川").places.filter { $0.doubt == .disputed }
        #expect(found.count == (ShippedStations.hasYSRL ? 2 : 1))
    }

    @Test("A stop of a known operator has at least its company")
    func namesTheOperator() throws {
        let rows = try Self.rows("bus_stops.tsv")
        let stops = Dictionary(grouping: rows) { $0["operator"] ?? "" }
        for (number, stops) in stops {
            let companies = Set(stops.compactMap { $0["company"] })
            let code = BusStopCode(area: 0, operatorCode: try #require(UInt16(number)), stop: 0)
            guard !stops.contains(where: { $0["stop"] == "0" }) else { continue }
            let name = names.busStop(code, on: nil)
            #expect(name?.company == (companies.count == 1 ? companies.first : nil))
            #expect(name?.name == nil)
        }
        #expect(names.busStop(BusStopCode(area: 0, operatorCode: 0xFFFF, stop: 1), on: nil) == nil)
    }

    @Test("The label of a place without a name is its code, after the company of a stop")
    func labels() throws {
        let station = StationCode(area: 0, line: 255, station: 255)
        #expect(Place(.station(station), on: nil, names).label(.japanese) == "0-255-255")
        let stop = BusStopCode(area: 0, operatorCode: 0x0C4F, stop: 0xFFFE)
        #expect(Place(.busStop(stop), on: nil, names).label(.japanese).hasSuffix(" 0C4F-FFFE"))
    }

    @Test("Former and present names that are the same in Latin script are said once")
    func saysNamesOnce() {
        let name = StationName(
            company: nil, line: nil, name: "甲", latin: .init(name: "Ko"), formerNames: [FormerName("乙", latin: "Ko")])
        #expect(name.label(.english) == "Ko" && name.label(.japanese) == "甲（旧乙）")
    }

    @Test("A station is found by each of its names")
    func findsByName() throws {
        let rows =
            try Self.stations().filter { $0["line"] == "227" }.prefix(2) + Self.allRows("former").suffix(3)
        for row in rows {
            let code = PlaceCode.station(try code(row))
            for column in ["station_name", "station_name_en", "former_name"] {
                guard let name = text(row, column) else { continue }
                #expect(names.places(named: name).places.contains { $0.code == code }, "\(name)")
            }
        }
        let queries = [
            ("shin osaka", "新大阪"), ("SHINJUKU", "新宿"), ("Kan'onji", "観音寺"), ("新宿駅", "新宿"), ("保土ヶ谷", "保土ケ谷"),
            ("三ッ沢上町", "三ツ沢上町"), ("なんば", "難波"), ("なんば", "なんば"), ("とうきょう", "東京"), ("サッポロ", "札幌"),
            ("はっちょうぼり", "八丁堀"), ("かんおんじ", "観音寺"), ("しんおおさか", "新大阪"),
        ]
        for (text, code) in queries {
            #expect(names.places(named: text).places.contains { $0.name?.name == code }, "\(text)")
        }
        #expect(
            names.places(named: "梅津寺").places.map(\.code) == [.station(StationCode(area: 3, line: 0xC5, station: 39))])
        #expect(names.places(named: "").places.isEmpty && names.places(named: "-").places.isEmpty)
    }

    @Test("NOTICE names every source of the tables, and how much was taken")
    func sources() throws {
        let notice = String(decoding: try TestFiles.read("NOTICE"), as: UTF8.self)
        for source in ShippedStations.sources {
            #expect(notice.contains(source.name.prefix { $0 != " " }), "\(source.name)")
            let (thousands, rest) = (source.rows / 1000, source.rows % 1000)
            let rows =
                thousands == 0 ? "\(rest)" : "\(thousands),\(rest < 100 ? "0" : "")\(rest < 10 ? "0" : "")\(rest)"
            #expect(notice.contains(rows), "\(rows)")
        }
        let taken = ShippedStations.sources.filter { $0.kind == .stations }.reduce(0) { $0 + $1.rows }
        #expect(taken == ShippedStations.counts.stations)
    }

    @Test("A search by name returns no more than a few of its hits, so that nobody reads the table out")
    func boundsSearches() {
        for text in ["a", "新"] {
            let (found, more) = names.places(named: text)
            #expect(found.count == ShippedStations.mostFound && more > 0, "\(text)")
        }
        #expect(
            names.places(named: "新", limit: 3).places.count == 3 && names.places(named: "新", limit: -1).places.isEmpty)
    }

    @Test("Finds a name again after many other lookups")
    func remembers() {
        let first = names.station(StationCode(area: 0, line: 1, station: 1), on: nil)
        for number in 0..<17_000 {
            let code = StationCode(area: 2, line: UInt8(number >> 8 & 0xFF), station: UInt8(number & 0xFF))
            let stop = BusStopCode(area: 0, operatorCode: UInt16(number), stop: 0)
            _ = (names.station(code, on: nil), names.busStop(stop, on: nil))
        }
        #expect(first?.name == "東京" && names.station(StationCode(area: 0, line: 1, station: 1), on: nil) == first)
    }

    @Test("Names of places of the card's own network are in Latin script where they are written in it")
    func localNames() {
        let naha = Place(.local(LocalStopCode(system: SystemCode(rawValue: 0x8FC1), stop: 0xDC01)), on: nil, names)
        #expect(naha.name?.name == "那覇空港" && naha.name?.latin.name == nil)
        let stops = LocalStopCode(system: SystemCode(rawValue: 0x8FC1), operatorCode: 0x0B01, stop: 0xFFFF)
        #expect(Place(.local(stops), on: nil, names).name?.company(in: .english) == "Naha Bus")
    }

    @Test("Former names of a user's table go with the name of the next one")
    func layersFormerNames() throws {
        var own = StationTable()
        let head = "area\tline\tstation\tcurrent_name\tformer_name\tvalid_until\n"
        own.add(try StationFile(parsing: Array("\(head)0\t1\t1\t\t東京駅前\t\n0\t1\t2\t\t数寄屋橋\t1999-12-31\n".utf8)))
        let layered = LayeredStationNames([own, names])
        let tokyo = try #require(
            layered.station(StationCode(area: 0, line: 1, station: 1), on: CalendarDate("2020-01-01")))
        #expect(tokyo.name == "東京" && tokyo.latin.name == "Tokyo" && tokyo.formerNames.map(\.name) == ["東京駅前"])
        let code = StationCode(area: 0, line: 1, station: 2)
        #expect(layered.station(code, on: CalendarDate("1999-01-01"))?.name == "数寄屋橋")
        #expect(layered.station(code, on: CalendarDate("2000-01-01"))?.name == "有楽町")
    }

    @Test("A name that a user's table replaces is no longer found")
    func searchesLayers() throws {
        var own = StationTable()
        own.add(
            try StationFile(
                parsing: Array("area\tline\tstation\tcompany\tline_name\tstation_name\n0\t1\t2\tX\tY\t銀座口\n".utf8)))
        let layered = LayeredStationNames([own, names])
        let code = PlaceCode.station(StationCode(area: 0, line: 1, station: 2))
        #expect(names.places(named: "有楽町").places.contains { $0.code == code })
        #expect(!layered.places(named: "有楽町").places.contains { $0.code == code })
        #expect(layered.places(named: "銀座口").places.map(\.code) == [code])
    }

    @Test("A user's table goes first, row by row")
    func layersTables() throws {
        var own = StationTable()
        own.add(
            try StationFile(
                parsing: Array("area\tline\tstation\tcompany\tline_name\tstation_name\n0\t1\t1\tX\tY\tZ\n".utf8)))
        let layered = LayeredStationNames([own, names])
        #expect(layered.station(StationCode(area: 0, line: 1, station: 1), on: nil)?.name == "Z")
        #expect(layered.station(StationCode(area: 0, line: 1, station: 2), on: nil)?.name == "有楽町")
    }
}
