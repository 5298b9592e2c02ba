// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

struct StationFileTests {
    static let own = "area\tline\tstation\tcompany\tline_name\tstation_name\n0\t3\t13\t東日本旅客鉄道\t中央本\t新宿\n"
    static let hexWithLetters = "area,line,station,company,line,name,remark\r\n0,E3,3B,東京地下鉄,#3銀座,青山一丁目,\r\n"
    static let hexByPairs = "0,03,0D,JR東,中央,新宿\n0,16,03,JR東,総武,浅草橋\n"
    static let decimalByPairs = "0,3,13,JR東,中央,新宿\n0,37,7,JR東,山手,渋谷\n"
    static let bus = "operator\tstop\tcompany\tstop_name\tnote\n3151\t0\t国際興業バス\t共通\t\n"
    static let former = "area\tline\tstation\tcurrent_name\tformer_name\tevidence\n0\t1\t6\t高輪ゲートウェイ\t田町\tx\n"

    static func table(_ text: String, _ codes: StationFile.Codes? = nil) throws -> (StationFile, StationTable) {
        let file = try StationFile(parsing: Array(text.utf8), codes: codes)
        var table = StationTable()
        table.add(file.rows)
        return (file, table)
    }

    @Test func theOwnLayoutIsDecimal() throws {
        let (file, table) = try Self.table(Self.own)
        #expect(file.codes == .decimal)
        #expect(file.evidence == .layout)
        let name = table.station(StationCode(area: 0, line: 3, station: 13), on: nil)
        #expect(name == StationName(company: "東日本旅客鉄道", line: "中央本", name: "新宿"))
        #expect(table.station(StationCode(area: 1, line: 3, station: 13), on: nil) == nil)
    }

    @Test func lettersTellHexadecimal() throws {
        let (file, table) = try Self.table(Self.hexWithLetters)
        #expect(file.codes == .hex)
        #expect(file.evidence == .letters)
        #expect(table.station(StationCode(area: 0, line: 0xE3, station: 0x3B), on: nil)?.name == "青山一丁目")
    }

    @Test func knownStationsTellTheCodes() throws {
        #expect(try Self.table(Self.hexByPairs).0.evidence == .letters)
        let hex = try Self.table("0,16,03,JR東,総武,浅草橋\n0,25,07,JR東,山手,渋谷\n").0
        #expect(hex.codes == .hex)
        #expect(hex.evidence == .knownPairs(2))
        let decimal = try Self.table(Self.decimalByPairs).0
        #expect(decimal.codes == .decimal)
        #expect(decimal.evidence == .knownPairs(2))
    }

    /// The stations that published cards name (reader projects' listings of suica-reader-rcs620s and others).
    static let published: [(area: Int, line: Int, station: Int, name: String)] = [
        (0, 3, 18, "高円寺"), (0, 29, 30, "町田"), (0, 1, 35, "小田原"), (0, 227, 59, "青山一丁目"),
        (0, 227, 54, "銀座"), (0, 229, 43, "東京"), (0, 206, 38, "渋谷"), (0, 206, 31, "都立大学"),
        (0, 241, 8, "岩本町"), (0, 38, 194, "新千歳空港"), (2, 217, 82, "板宿"), (3, 134, 64, "大通"),
    ]

    @Test(arguments: published) func anyPublishedStationShowsTheForm(
        _ row: (area: Int, line: Int, station: Int, name: String)
    ) throws {
        let text = "\(row.area),\(row.line),\(row.station),会社,線,\(row.name)\n0,37,7,JR東,山手,渋谷\n"
        #expect(try Self.table(text).0.evidence == .knownPairs(2))
    }

    @Test func oneDigitFollows0x() throws {
        let table = try Self.table("0x0,0x3,0xD,JR東,中央,新宿\n0,E3,3B,メトロ,銀座,青山一丁目\n").1
        #expect(table.station(StationCode(area: 0, line: 3, station: 13), on: nil)?.name == "新宿")
    }

    @Test func linesInQuotesAreCounted() {
        let text = "0,3,13,\"JR\n東\",中央,新宿\n0,3,18,\"JR,中央,高円寺\n"
        let error = #expect(throws: DocumentError.self) { try StationFile(parsing: Array(text.utf8)) }
        guard case .malformedLine(let line, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(line == 3)
    }

    /// Nothing is guessed: without a known station, the user must state the form.
    @Test func anUndecidableTableIsRefused() throws {
        let text = "0,10,11,どこかの鉄道,ある線,ある駅\n"
        let error = #expect(throws: DocumentError.self) { try StationFile(parsing: Array(text.utf8)) }
        guard case .malformed(let key, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(key == "codes")
        #expect(
            try Self.table(text, .hex).1.station(StationCode(area: 0, line: 16, station: 17), on: nil)?.name == "ある駅")
        #expect(try Self.table(text, .decimal).1.station(StationCode(area: 0, line: 10, station: 11), on: nil) != nil)
    }

    @Test(arguments: [
        ("0,3,13,a,b,新宿\n0,3,x,a,b,c\n", 2), ("0,3,13,a,b,新宿\n0,300,1,a,b,c\n", 2), ("0,3,13,a,b,新宿\n\n0,3\n", 3),
        ("0,3,13,\"a,b\n", 1), ("0,3,13,a,b,新宿\n0,-1,2,a,b,c\n", 2), ("0,3,13,a,b,新宿\n0,1A,2,a,b,c\n", 2),
    ]) func badRowsNameTheirLine(_ text: String, _ line: Int) throws {
        let error = #expect(throws: DocumentError.self) { try StationFile(parsing: Array(text.utf8), codes: .decimal) }
        guard case .malformedLine(let found, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == line)
    }

    @Test func quotesHoldCommasQuotesAndLineEnds() throws {
        let text = "0,3,13,\"東日本, \"\"JR\"\"\",\"中\n央\",新宿\r\n0,3,18,x,y,高円寺"
        let (file, table) = try Self.table(text, .decimal)
        #expect(file.rows.count == 2)
        let name = table.station(StationCode(area: 0, line: 3, station: 13), on: nil)
        #expect(name?.company == "東日本, \"JR\"")
        #expect(name?.line == "中\n央")
    }

    /// Each code gives its own name and no neighbor's, and is found again by it.
    @Test func everyCodeHasItsOwnPlace() throws {
        var codes: Set<StationCode> = []
        for area in [0, 1, 3, 255] as [UInt8] {
            for line in [0, 1, 127, 128, 255] as [UInt8] {
                for station in [0, 1, 128, 254, 255] as [UInt8] {
                    codes.insert(StationCode(area: area, line: line, station: station))
                }
            }
        }
        func name(_ code: StationCode) -> String { "S\(code.area)-\(code.line)-\(code.station)x" }
        let rows = codes.map { "\($0.area)\t\($0.line)\t\($0.station)\tC\tL\t\(name($0))\n" }.joined()
        let (_, table) = try Self.table("area\tline\tstation\tcompany\tline_name\tstation_name\n" + rows)
        #expect(table.stationCount == codes.count)
        for code in codes {
            #expect(table.station(code, on: nil)?.name == name(code))
            if code.line == code.station {
                #expect(table.places(named: name(code)).places.map(\.code) == [.station(code)])
            }
            let beside = StationCode(area: code.area, line: code.line, station: code.station &+ 2)
            if !codes.contains(beside) { #expect(table.station(beside, on: nil)?.name?.hasPrefix("S") != true) }
            let other = StationCode(area: code.area, line: code.line &+ 2, station: code.station)
            if !codes.contains(other) { #expect(table.station(other, on: nil)?.name?.hasPrefix("S") != true) }
        }
        #expect(table.places(named: "s3-").places.count == 25)
        #expect(table.places(named: "").places.isEmpty && table.places(named: "新宿").places.isEmpty)
    }

    /// The first of rows with the same code counts; of the others, those with another name are told.
    @Test func repeatedRowsAreCounted() throws {
        let rows = ["0,3,13,a,b,新宿", "0,3,18,a,b,高円寺", "0,3,13,a,b,新宿", "0,3,13,a,b,他", "0,3,18,a,b,"]
        for (count, repeated, differing) in [(2, 0, 0), (3, 1, 0), (4, 2, 1), (5, 3, 2)] {
            let text = rows.prefix(count).joined(separator: "\n") + "\n"
            let (file, table) = try Self.table(text, .decimal)
            #expect(file.repeated == repeated && file.differing == differing)
            #expect(file.rows.count == 2 && table.stationCount == 2)
            #expect(table.station(StationCode(area: 0, line: 3, station: 13), on: nil)?.name == "新宿")
        }
    }

    /// Up to its last day a former name counts, of two the one that ended first; after it, or without a last day, the
    /// present one.
    @Test func formerNamesEnd() throws {
        let header = "area\tline\tstation\tcurrent_name\tformer_name\tvalid_until\n"
        let former = "0\t3\t13\tx\tB\t2020-03-13\n0\t3\t13\tx\tA\t2010-03-13\n0\t3\t13\tx\tC\t\n"
        var (_, table) = try Self.table(header + former, .decimal)
        table.add(try StationFile(parsing: Array(Self.own.utf8)))
        func name(_ year: Int, _ day: Int) -> StationName? {
            table.station(
                StationCode(area: 0, line: 3, station: 13), on: CalendarDate(year: year, month: 3, day: day))
        }
        #expect([name(2010, 12), name(2010, 13), name(2010, 14)].map { $0?.name } == ["A", "A", "B"])
        #expect([name(2020, 13), name(2020, 14)].map { $0?.name } == ["B", "新宿"])
        #expect(name(2020, 14)?.formerNames.count == 1)
        #expect(name(2010, 1)?.company == "東日本旅客鉄道")
        #expect(table.formerNameCount == 1 && table.hasDates)
    }

    @Test func invalidUTF8NamesItsLine() throws {
        let bytes = Array("0,3,13,a,b,新宿\n0,3,18,a,b,".utf8) + [0x8D, 0x82, 0x89, 0x7E]
        #expect(throws: DocumentError.malformedLine(line: 2, expected: .init(.utf8))) {
            try StationFile(parsing: bytes, codes: .decimal)
        }
    }

    static let endedFormer =
        "area\tline\tstation\tcurrent_name\tformer_name\tvalid_until\n0\t3\t13\tx\tB\t2020-03-13\n0\t3\t14\tx\tC\t\n"

    /// Two names of one code, one after the other.
    static let dated = """
        area\tline\tstation\tcompany\tline_name\tstation_name\tvalid_from\tvalid_until
        0\t1\t6\tJR\t東海道\t田町\t\t2020-03-13
        0\t1\t6\tJR\t東海道\t高輪ゲートウェイ\t2020-03-14\t

        """

    @Test func theDateOfARecordChoosesTheName() throws {
        let (_, table) = try Self.table(Self.dated)
        let code = StationCode(area: 0, line: 1, station: 6)
        #expect(table.station(code, on: CalendarDate(year: 2020, month: 3, day: 13))?.name == "田町")
        #expect(table.station(code, on: CalendarDate(year: 2020, month: 3, day: 14))?.name == "高輪ゲートウェイ")
        #expect(table.station(code, on: nil)?.name == "高輪ゲートウェイ")
    }

    @Test func aFormerNameWithoutDateIsGivenBesideThePresentOne() throws {
        var table = StationTable()
        table.add(try StationFile(parsing: Array(Self.former.utf8)).rows)
        table.add(
            try StationFile(
                parsing: Array(
                    "area\tline\tstation\tcompany\tline_name\tstation_name\n0\t1\t6\tJR\t東海道\t高輪ゲートウェイ\n".utf8)
            ).rows)
        let name = table.station(StationCode(area: 0, line: 1, station: 6), on: nil)
        #expect(name?.name == "高輪ゲートウェイ")
        #expect(name?.formerNames == [FormerName("田町")])
    }

    /// 0-42-13 was 新川崎, then 武蔵小杉; 0-214-6, 0-214-7 and 2-255-201 had two names, too.
    @Test func twoFormerNamesAreBothKeptWithTheirDates() throws {
        let header = "area\tline\tstation\tcurrent_name\tformer_name"
        let rows = "0\t42\t13\t西大井\t新川崎"
        let second = "0\t42\t13\t西大井\t武蔵小杉"
        let code = StationCode(area: 0, line: 42, station: 13)
        func table(_ former: String) throws -> StationTable {
            var table = StationTable()
            table.add(try StationFile(parsing: Array(former.utf8)).rows)
            table.add(
                try StationFile(
                    parsing: Array(
                        "area\tline\tstation\tcompany\tline_name\tstation_name\n0\t42\t13\tJR\t横須賀\t西大井\n".utf8)
                ).rows)
            return table
        }
        let plain = try table("\(header)\n\(rows)\n\(second)\n\(rows)\n")
        #expect(plain.formerNameCount == 1 && !plain.hasDates)
        #expect(plain.station(code, on: nil)?.name == "西大井")
        #expect(plain.station(code, on: nil)?.formerNames == [FormerName("新川崎"), FormerName("武蔵小杉")])
        // The days are made up.
        let dated = try table("\(header)\tvalid_until\n\(rows)\t2005-03-31\n\(second)\t2010-03-12\n")
        #expect(dated.hasDates)
        let names = [(2005, "新川崎"), (2006, "武蔵小杉"), (2011, "西大井")].map { year, name in
            (dated.station(code, on: CalendarDate(year: year, month: 1, day: 1)), name)
        }
        for (found, name) in names { #expect(found?.name == name && found?.formerNames == []) }
        #expect(dated.station(code, on: nil)?.formerNames.map(\.until?.description) == ["2005-04-01", "2010-03-13"])
    }

    @Test func aTableOfSuicaToolsHasBusStops() throws {
        let text =
            "_id,LineCode,StationCode,CompanyName,LineName,StationName,Note\n"
            + "1,14,fb,広島電鉄,NULL,大学病院南門,クレアライン\n10,5d1,0,広島電鉄,NULL,共通,NULL\n"
        let (file, table) = try Self.table(text)
        #expect(file.codes == .hex && table.busStopCount == 2)
        let name = table.busStop(BusStopCode(area: 0, operatorCode: 0x14, stop: 0xFB), on: nil)
        #expect(name == StationName(company: "広島電鉄", line: nil, name: "大学病院南門"))
    }

    @Test func equalKeysAreCountedAndThoseWithAnotherNameToo() throws {
        let file = try Self.table(Self.own + "0\t3\t13\tX\tY\tZ\n0\t3\t13\tX\tY\t新宿\n").0
        #expect(file.rows.count == 1 && file.repeated == 2 && file.differing == 1)
    }

    @Test func shiftJISIsReadAsItStands() throws {
        // 0,3,13,JR,中央,新宿 and 0,3,18,JR,中央,高円寺
        let bytes =
            Array("0,3,13,JR,".utf8) + [0x92, 0x86, 0x89, 0x9B] + Array(",".utf8) + [0x90, 0x56, 0x8F, 0x68, 0x0A]
            + Array("0,3,18,JR,".utf8) + [0x92, 0x86, 0x89, 0x9B] + Array(",".utf8)
            + [0x8D, 0x82, 0x89, 0x7E, 0x8E, 0x9B, 0x0D, 0x0A]
        let file = try StationFile(parsing: bytes)
        #expect(file.isShiftJIS && file.codes == .decimal && file.evidence == .knownPairs(2))
        #expect(!(try Self.table(Self.own).0.isShiftJIS))
        // Neither.
        #expect(throws: DocumentError.malformedLine(line: 1, expected: .init(.utf8))) {
            try StationFile(parsing: Array("0,3,13,a,b,".utf8) + [0xFF, 0xFF], codes: .decimal)
        }
    }

    @Test func allBitsOfBusCodesCount() throws {
        let (_, table) = try Self.table(Self.bus)
        #expect(table.busStop(BusStopCode(area: 0, operatorCode: 0x0C4F, stop: 0), on: nil)?.company == "国際興業バス")
        #expect(table.busStop(BusStopCode(area: 0, operatorCode: 0x004F, stop: 0), on: nil) == nil)
        #expect(table.busStop(BusStopCode(area: 0, operatorCode: 0x0C4F, stop: 0x100), on: nil)?.name == nil)
    }

    @Test(arguments: [
        own, hexWithLetters, decimalByPairs, bus, former, former + "2\t217\t82\tx\ty\tz\n", dated, endedFormer,
    ])
    func theOwnLayoutIsWrittenAndReadAgain(_ text: String) throws {
        let rows = try StationFile(parsing: Array(text.utf8)).rows
        let again = try StationFile(parsing: Array(rows.text.utf8))
        #expect(again.rows == rows)
        #expect(again.evidence == .layout)
    }

    @Test func anyBytesAreAnErrorOrATable() {
        var random = SeededGenerator(seed: 7)
        let base = Array(Self.hexWithLetters.utf8)
        for _ in 0..<3000 {
            var bytes = base
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
            if let file = try? StationFile(parsing: bytes) { #expect(file.rows.count > 0) }
        }
    }
}
