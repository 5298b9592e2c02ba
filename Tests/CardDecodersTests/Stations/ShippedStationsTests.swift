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
        for _ in 0..<5000 {
            let code = StationCode(
                area: .random(in: 0...3, using: &random), line: .random(in: 0...255, using: &random),
                station: .random(in: 0...255, using: &random))
            guard !known.contains(code) else { continue }
            others += 1
            #expect(names.station(code, on: nil) == nil, "\(code)")
        }
        #expect(others > 3000)
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
        #expect(name.latin.name == (expected == "田町" ? nil : "Takanawa Gateway"))
        #expect(name.formerNames.isEmpty)
    }

    @Test("A change of an unknown day is told with both names")
    func tellsFormerNames() throws {
        let code = StationCode(area: 0, line: 2, station: 110)
        let name = try #require(names.station(code, on: CalendarDate("2012-05-01")))
        #expect(name.name == "館腰")
        #expect(name.formerNames == [FormerName("岩沼")])
        let undated = try #require(names.station(StationCode(area: 0, line: 1, station: 6), on: nil))
        #expect(undated.formerNames == [FormerName("田町", until: CalendarDate("2020-03-14"))])
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
