// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import NDEF
import Testing

@testable import CardDecoders

/// What is written of reports, and read of tables: digits, members that are left out, rows.
@Suite("Texts of reports and tables")
struct ReportTextTests {
    @Test("Codes of gates and tickets have the digits of their bytes; stations nobody named are left out")
    func gateDigits() throws {
        let gates = ServiceCode(rawValue: 0x108F)
        let entry = ServiceCode(rawValue: 0x10CB)
        let dump = Dumps.card(
            .transit,
            [
                Dumps.service(Dumps.history, []),
                Dumps.service(gates, [try Dumps.block("2003E6212005166C1252A00000000000")]),
                Dumps.service(entry, [try Dumps.block("E33B0000000000000000000000000000"), .zero]),
            ])
        let report = try CyberneticsDecoder.transit.decode(dump)
        let text = report.json(.english).compactText
        #expect(text.contains("\"intermediate\":\"03\",\"line\":230"))
        #expect(text.contains("\"entryRecord\":{\"line\":227,\"station\":59,\"intermediateGate\":null"))
        let ticket = PaidTicket(
            from: LineStationCode(rawValue: 1), to: LineStationCode(rawValue: 2), expiry: nil, issued: nil, kind: 3,
            price: 4, device: DeviceNumber(rawValue: 5), checkedAt: LineStationCode(rawValue: 6), raw: .zero)
        let written = JSONValue { ticket.write(to: &$0) }.compactText
        #expect(written.contains("\"kindCode\":\"03\",\"price\":4,\"device\":\"0005\",\"checkedAt\":\"0006\""))
    }

    @Test("A row of CSV begins with the card; what is doubtful stands before the names in Latin script")
    func rows() {
        let doubtful = HistoryRecord(
            serial: 7, kind: .rail, process: CodedValue(code: 1, name: nil, doubt: .disputed), raw: .zero)
        let report = HistoryReport(kind: "transit", name: LocalizedText("a", "b"), records: [doubtful])
        let identity = CardIdentity(technology: .felica, idm: IDm(rawValue: 0x0101_0203_0405_0607))
        let row = HistoryCSV(language: .english).rows(
            report, DecodedCard(identity: identity, kind: "transit", brand: nil))
        #expect(row.hasSuffix(",doubtfulValues,,\r\n"))
        #expect(row.contains("0101020304050607") && row.contains(",transit,,7,"), "\(row)")
    }

    @Test("A field that says why a message is malformed identifies nobody")
    func malformedMessage() throws {
        let bytes: [UInt8] = [0xD1, 0x01, 0x7F, 0x54]
        var dump = CardDump(card: CardIdentity(technology: .typeA))
        dump.type2 = Type2Dump(pages: [3: [0xE1, 0x10, 0x12, 0], 4: [3, 4, 0xD1, 1], 5: [0x7F, 0x54, 0xFE, 0]])
        let report = try #require(TagReport(dump))
        guard case .message(bytes, _, _) = report.ndef else {
            Issue.record("\(report.ndef)")
            return
        }
        let field = try #require(report.fields.first { $0.key == "message" })
        #expect(!field.isPersonal && field.label != nil)
    }

    @Test("Every field with the number of a card is personal")
    func numbers() throws {
        let issue = Block([0x25, 0x21] + [UInt8](repeating: 0xAB, count: 14)) ?? .zero
        let fields = RegionalBusIssue.fields(issue)
        #expect(fields.map(\.isPersonal) == [false, true])
        #expect(fields.last?.value == "ABABABABABABABAB")
    }

    // MARK: Tables of stations

    private static func file(_ text: String) throws -> StationFile { try StationFile(parsing: Array(text.utf8)) }

    @Test("A name that begins like the one before is its own")
    func sharedBeginnings() throws {
        let head = "area\tline\tstation\tcompany\tline_name\tstation_name\n"
        var table = StationTable()
        let rows = "0\t1\t1\tA\tB\tST\n0\t1\t2\tAB\tBB\tSTU\n0\t1\t3\tA\tB\tST\n0\t1\t4\tX\tY\tUV\n"
        table.add(try Self.file(head + rows).rows)
        func name(_ station: UInt8) -> StationName? {
            table.station(StationCode(area: 0, line: 1, station: station), on: nil)
        }
        #expect(name(2) == StationName(company: "AB", line: "BB", name: "STU"))
        #expect(name(3) == StationName(company: "A", line: "B", name: "ST"))
        #expect(name(4) == StationName(company: "X", line: "Y", name: "UV"))
        let found = table.places(named: "st").places.map(\.code)
        #expect(found == [1, 3].map { .station(StationCode(area: 0, line: 1, station: $0)) })
    }

    @Test("Company letters are not taken for hexadecimal digits")
    func lettersOfNames() throws {
        let file = try Self.file("0,3,13,FA,中央,新宿\n0,37,7,FA,山手,渋谷\n")
        #expect(file.codes == .decimal && file.evidence == .knownPairs(2))
    }

    @Test("Rejects a header without rows")
    func noRows() {
        let error = #expect(throws: DocumentError.self) {
            try Self.file("area\tline\tstation\tcompany\tline_name\tstation_name\n")
        }
        #expect(error == .malformedLine(line: 1, expected: .init(.stationRows)))
    }

    @Test("A file of 32 MiB is read, one byte more is not")
    func longestFile() {
        let longest = [UInt8](repeating: 0xFF, count: 32 << 20)
        let error = #expect(throws: DocumentError.self) { try StationFile(parsing: longest) }
        #expect(error == .malformedLine(line: 1, expected: .init(.utf8)))
        let longer = #expect(throws: DocumentError.self) { try StationFile(parsing: longest + [0]) }
        #expect(longer == .tooLong(bytes: longest.count + 1, limit: longest.count))
    }

    @Test("Bus stops are found by name, and written in the order of their codes")
    func busStops() throws {
        let head = "operator\tstop\tcompany\tstop_name\n"
        let rows = try Self.file(head + "2\t1\ta\tc\n1\t2\ta\tb\n1\t1\ta\tb\n").rows
        #expect(rows.text == head + "1\t1\ta\tb\n1\t2\ta\tb\n2\t1\ta\tc\n")
        var table = StationTable()
        table.add(rows)
        let found = table.places(named: "b").places.map(\.code)
        #expect(found == [1, 2].map { .busStop(BusStopCode(area: 0, operatorCode: 1, stop: $0)) })
    }

    @Test("Bus stops do not show whether codes are decimal")
    func codesOfBusStops() {
        let error = #expect(throws: DocumentError.self) { try Self.file("operator,stop,company,stop_name\n1,2,a,b\n") }
        #expect(error == .malformed(key: "codes", expected: .init(.stationRadix)))
    }

    @Test("A table of stops that names no column of names has them in the fifth")
    func stopsWithoutNameColumn() throws {
        let text = "linecode,stationcode,company,line,name\n1,2,a,b,c\n"
        let file = try StationFile(parsing: Array(text.utf8), codes: .decimal)
        #expect(file.rows.text.hasSuffix("1\t2\ta\tc\n"))
    }

    @Test(
        "Dates are three numbers with one hyphen between any two",
        arguments: ["2011-02--03", "-2011-02-03", "2011-02-"])
    func dates(_ text: String) {
        #expect(CalendarDate(text) == nil)
    }

    @Test(
        "A text that is not a table is distinguished from a table whose codes could be of either notation",
        arguments: [
            "# Kazasu\n\n**Kazasu** reads contactless cards, as in 0,3,13.\n", "name,line,area\n新宿,3,0\n",
            "| area | line |\n| --- | --- |\n",
        ])
    func noTable(_ text: String) {
        let error = #expect(throws: DocumentError.self) { try Self.file(text) }
        #expect(error == .malformedLine(line: 1, expected: .init(.stationRows)))
    }

    @Test("Rejects an empty file at line 1")
    func emptyFile() {
        let error = #expect(throws: DocumentError.self) { try Self.file("") }
        #expect(error == .malformedLine(line: 1, expected: .init(.stationRows)))
    }

    @Test("Former names are written with their last days, where there are any")
    func formerNames() throws {
        let head = "area\tline\tstation\tcurrent_name\tformer_name"
        let undated = "\(head)\n0\t1\t6\t\t田町\n"
        #expect(try Self.file(undated).rows.text == undated)
        let dated = "\(head)\tvalid_until\n0\t1\t6\t\t田町\t2020-03-13\n0\t1\t6\t\t芝\t2020-03-13\n"
        #expect(try Self.file(dated).rows.text == dated)
        var table = StationTable()
        table.add(try Self.file(dated).rows)
        let code = StationCode(area: 0, line: 1, station: 6)
        // Of two names with the same last day it is the first in the file.
        #expect(table.station(code, on: CalendarDate(year: 2019, month: 1, day: 1))?.name == "田町")
    }
}
