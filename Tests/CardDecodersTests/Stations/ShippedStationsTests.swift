// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

/// The packed tables against the plain ones of `Fixtures/stations`.
@Suite("The names that come with Kazasu")
struct ShippedStationsTests {
    let names = ShippedStations()

    /// The rows of a plain table, each by the names of its columns.
    static func rows(_ file: String) throws -> [[String: String]] {
        let text = String(decoding: try TestFiles.read("Fixtures/stations/\(file)"), as: UTF8.self)
        let lines = text.split(separator: "\n").map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        let head = try #require(lines.first)
        return lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(head, $0)) }
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
        let rows = try Self.rows("stations.tsv")
        #expect(rows.count == 7829)
        for row in rows {
            let line = try #require(lines[[row["company"], row["line_name"]]])
            let name = try #require(names.station(try code(row), on: nil))
            #expect(name.company == text(row, "company"))
            #expect(name.line == text(row, "line_name"))
            #expect(name.name == text(row, "station_name"))
            #expect(name.latin.company == text(line, "company_en"))
            #expect(name.latin.line == text(line, "line_name_en"))
            #expect(name.latin.name == text(row, "station_name_en"))
        }
    }

    @Test("Every bus stop has the names of its row")
    func findsEveryStop() throws {
        let rows = try Self.rows("bus_stops.tsv")
        #expect(rows.count == 4925)
        for row in rows {
            let code = BusStopCode(
                area: 0, operatorCode: try #require(UInt16(row["operator"] ?? "")),
                stop: try #require(UInt16(row["stop"] ?? "")))
            let name = try #require(names.busStop(code, on: nil))
            #expect(name.company == text(row, "company") && name.name == text(row, "stop_name") && name.line == nil)
        }
    }

    @Test("A code of no row has no name", arguments: 1...4)
    func hasNoOtherStations(seed: UInt64) throws {
        let known = Set(
            try (Self.rows("stations.tsv") + Self.rows("former_names.tsv")).map { try code($0) }
                + [1, 23, 27, 39].map { StationCode(area: 3, line: 0xC5, station: $0) })
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

    @Test("A change of an unknown day is told with both names")
    func tellsFormerNames() throws {
        let code = StationCode(area: 0, line: 2, station: 110)
        let name = try #require(names.station(code, on: CalendarDate("2012-05-01")))
        #expect(name.name == "館腰")
        #expect(name.formerNames == [FormerName("岩沼", latin: "Iwanuma")])
        let undated = try #require(names.station(StationCode(area: 0, line: 1, station: 6), on: nil))
        #expect(undated.formerNames == [FormerName("田町", until: CalendarDate("2020-03-14"), latin: "Tamachi")])
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

    @Test("The label of a place has the former names that the day leaves open, in the language of the reader")
    func labels() throws {
        func label(_ station: UInt8, line: UInt8 = 1, _ day: String?, _ language: Language) -> String {
            Place(
                .station(StationCode(area: 0, line: line, station: station)), on: day.flatMap { CalendarDate($0) },
                names
            )
            .label(language)
        }
        #expect(label(6, "2019-01-01", .english) == "Tamachi" && label(6, "2019-01-01", .japanese) == "田町")
        #expect(label(6, "2021-01-01", .english) == "Takanawa Gateway")
        #expect(label(6, nil, .english) == "Takanawa Gateway (formerly Tamachi until 2020-03-14)")
        #expect(label(6, nil, .japanese) == "高輪ゲートウェイ（旧田町・2020-03-14まで）")
        #expect(label(110, line: 2, "2012-05-01", .english) == "Tatekoshi (formerly Iwanuma)")
        #expect(label(110, line: 2, "2012-05-01", .japanese) == "館腰（旧岩沼）")
        #expect(label(255, line: 255, nil, .japanese) == "0-255-255")
        let stop = BusStopCode(area: 0, operatorCode: 0x0C4F, stop: 0xFFFE)
        #expect(Place(.busStop(stop), on: nil, names).label(.japanese).hasSuffix("0C4F-FFFE"))
    }

    @Test("A station is found by each of its names")
    func findsByName() throws {
        let rows =
            try Self.rows("stations.tsv").filter { $0["line"] == "227" }.prefix(2)
            + Self.rows("former_names.tsv").prefix(3)
        for row in rows {
            let code = PlaceCode.station(try code(row))
            for column in ["station_name", "station_name_en", "former_name"] {
                guard let name = text(row, column) else { continue }
                #expect(names.places(named: name).contains { $0.code == code }, "\(name)")
            }
        }
        for (text, code) in [("shin osaka", "新大阪"), ("SHINJUKU", "新宿"), ("Kan'onji", "観音寺"), ("新宿駅", "新宿")] {
            #expect(names.places(named: text).contains { $0.name?.name == code }, "\(text)")
        }
        #expect(names.places(named: "梅津寺").map(\.code) == [.station(StationCode(area: 3, line: 0xC5, station: 39))])
        #expect(names.places(named: "").isEmpty && names.places(named: "-").isEmpty)
    }

    @Test("NOTICE names every source of the tables, and how much was taken")
    func sources() throws {
        let notice = String(decoding: try TestFiles.read("NOTICE"), as: UTF8.self)
        for source in ShippedStations.sources {
            #expect(notice.contains(source.name), "\(source.name)")
            let (thousands, rest) = (source.rows / 1000, source.rows % 1000)
            let rows =
                thousands == 0 ? "\(rest)" : "\(thousands),\(rest < 100 ? "0" : "")\(rest < 10 ? "0" : "")\(rest)"
            #expect(notice.contains(rows), "\(rows)")
        }
        let taken = ShippedStations.sources.filter { $0.kind == .stations }.reduce(0) { $0 + $1.rows }
        #expect(taken == ShippedStations.counts.stations)
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
        #expect(names.places(named: "有楽町").contains { $0.code == code })
        #expect(!layered.places(named: "有楽町").contains { $0.code == code })
        #expect(layered.places(named: "銀座口").map(\.code) == [code])
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
