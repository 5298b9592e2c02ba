// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("Published blocks of transit cards")
struct TransitVectorTests {
    @Test("No row of the table is lost")
    func tableIsWhole() {
        #expect(ExpectedRecord.transit.count == 88)
        #expect(ExpectedRecord.second.count == 75)
        #expect(ExpectedRecord.edy.count == 9)
    }

    @Test("Every field of every published record", arguments: ExpectedRecord.transit)
    func record(_ expected: ExpectedRecord) throws {
        let blocks = try ExpectedRecord.blocks(of: expected, in: ExpectedRecord.transit)
        let report = try CyberneticsDecoder.transit.decode(Dumps.transit(blocks))
        let history = try #require(report.history)
        #expect(history.count == blocks.count)
        let block = try expected.block()
        let record = try #require(history.first { $0.raw == block })
        #expect(record.date?.description == expected["date"])
        #expect(record.time?.description == expected["time"])
        #expect(record.kind.rawValue == expected["kind"])
        #expect(record.terminal?.hex == expected["terminal"])
        #expect(record.process?.hex == expected["process"])
        #expect(record.payment?.hex == expected["payment"])
        #expect(record.gate?.hex == expected["gate"])
        #expect(record.entry?.code.tableText == expected["entry"])
        #expect(record.exit?.code.tableText == expected["exit"])
        #expect(record.device?.rawValue == expected["device"].flatMap { UInt16($0, radix: 16) })
        #expect(record.balance == expected["balance"].flatMap { Int($0) })
        #expect(record.amount == expected["amount"].flatMap { Int($0) })
        #expect(record.serial == expected["serial"].flatMap { Int($0) })
        #expect(record.warnings.map(\.rawValue) == expected.warnings)
    }

    @Test("Every field of the second set of published records", arguments: ExpectedRecord.second)
    func second(_ expected: ExpectedRecord) throws {
        let blocks = try ExpectedRecord.blocks(of: expected, in: ExpectedRecord.second)
        let block = try expected.block()
        let history = try #require(try CyberneticsDecoder.transit.decode(Dumps.transit(blocks)).history)
        #expect(history.count == blocks.count)
        let record = try #require(history.first { $0.raw == block })
        #expect(record.date?.description == expected["date"])
        #expect(record.time?.description == expected["time"])
        #expect(record.kind.rawValue == expected["kind"])
        #expect(record.terminal?.hex == expected["terminal"])
        #expect(record.process?.hex == expected["process"])
        #expect(record.payment?.hex == expected["payment"])
        #expect(record.gate?.hex == expected["gate"])
        #expect(record.entry?.code.tableText == expected["entry"])
        #expect(record.exit?.code.tableText == expected["exit"])
        #expect(record.device?.rawValue == expected["device"].flatMap { UInt16($0, radix: 16) })
        #expect(record.balance == expected["balance"].flatMap { Int($0) })
        if expected.columns["amount"] != "*" { #expect(record.amount == expected["amount"].flatMap { Int($0) }) }
        if expected.columns["serial"] != "*" { #expect(record.serial == expected["serial"].flatMap { Int($0) }) }
        if expected.columns["warnings"] != "*" { #expect(record.warnings.map(\.rawValue) == expected.warnings) }
    }

    /// What the owner of the cards N5 says, under the table that they looked at.
    private func named(_ id: String, _ table: String, isLayered: Bool = false) throws -> HistoryRecord {
        var names = StationTable()
        names.add(try StationFile(parsing: Array(table.utf8)).rows)
        let row = try #require(ExpectedRecord.second.first { $0["id"] == id })
        let layers = LayeredStationNames([names] + (isLayered ? [ShippedStations()] : []))
        return try #require(
            try CyberneticsDecoder.transit.decode(Dumps.transit([row.block()]), stations: layers).history?.first)
    }

    private static let stations = """
        area\tline\tstation\tcompany\tline_name\tstation_name
        0\t2\t253\tJR\tモバイル\tモバイルSuica
        0\t1\t7\tJR\t東海道\t品川

        """

    @Test("A mobile charge has a place only where the table knows one; a real station there is disputed")
    func mobile() throws {
        let phone = try named("N5-08", Self.stations)
        #expect(phone.entry?.name?.name == "モバイルSuica" && phone.entry?.doubt == nil)
        for id in ["N5-09", "N5-11", "N7-01"] { #expect(try named(id, Self.stations).entry == nil) }
        let unlucky = Self.stations.replacing("0\t1\t7", with: "0\t155\t129")
        #expect(try named("N5-09", unlucky).entry?.doubt == .disputed)
        // A window at the station itself is one, whatever the table says.
        #expect(try named("N5-07", Self.stations).entry?.name?.name == "品川")
    }

    @Test("The company of a bus whose stop is in no row is that of all rows of its operator")
    func company() throws {
        let header = "operator\tstop\tcompany\tstop_name\n"
        let table = header + "3370\t1\t名古屋市交通局\tA\n3370\t2\t名古屋市交通局\tB\n3901\t1\t伊予鉄道\tC\n"
        let bus = try named("N5-01", table)
        #expect(bus.entry?.name == StationName(company: "名古屋市交通局", line: nil, name: nil))
        #expect(try named("N5-20", table).entry?.name?.company == "伊予鉄道")
        #expect(try named("N5-10", table).entry?.name == nil)
        let two = table + "3370\t3\t別の会社\tD\n"
        #expect(try named("N5-01", two).entry?.name == nil)
    }

    @Test("Stations of Iyotetsu that no table has are named as the owner of the card does")
    func owners() throws {
        #expect(try named("N5-17", Self.stations, isLayered: true).entry?.name?.name == "梅津寺")
        #expect(try named("N5-17", Self.stations, isLayered: true).exit?.name?.name == "松山市")
        #expect(try named("N5-18", Self.stations, isLayered: true).entry?.name?.name == "古町")
        #expect(try named("N5-19", Self.stations, isLayered: true).entry?.name?.name == "郡中港")
        #expect(try named("N5-19", Self.stations, isLayered: true).entry?.name?.company == "伊予鉄道")
        let table = Self.stations.replacing("0\t1\t7", with: "3\t197\t39")
        #expect(try named("N5-17", table, isLayered: true).entry?.name?.name == "品川", "the user's table counts first")
    }

    @Test(
        "Every code of the published records has a name in both languages",
        arguments: ExpectedRecord.transit + ExpectedRecord.second)
    func names(_ expected: ExpectedRecord) throws {
        let record = try #require(
            CyberneticsDecoder.transit.decode(Dumps.transit([try expected.block()])).history?.first)
        // CA occurs on real cards and is in no list.
        for value in [record.terminal, record.process, record.payment, record.gate] where value?.code != 0xCA {
            let name = try #require(value?.name)
            #expect(!name.english.isEmpty)
            #expect(!name.japanese.isEmpty)
        }
    }

    static let attributes = (try? TestFiles.table("Fixtures/blocks/transit-attribute.tsv")) ?? []

    @Test("Published attribute blocks give balance and transaction number")
    func attribute() throws {
        #expect(Self.attributes.count == 4)
        for row in Self.attributes {
            let block = try Dumps.block(row["hex"] ?? "")
            let balance = try #require(row["balance"].flatMap { Int($0) })
            let number = try #require(row["number"].flatMap { UInt16($0) })
            // A made record with the same balance and number: any other would be warned of.
            let record = try Dumps.block("160100021F6C01010102000000000000")
                .with(10, block[11]).with(11, block[12]).with(13, UInt8(number >> 8)).with(14, UInt8(number & 0xFF))
            let report = try CyberneticsDecoder.transit.balance(Dumps.transit([record], attribute: block))
            #expect(report.balances.map(\.amount) == [balance], "\(row["id"] ?? "")")
            #expect(report.warnings.isEmpty, "\(row["id"] ?? "")")
        }
    }

    @Test("An unused slot ends the history, whatever its other bytes and whatever follows")
    func unusedSlot() throws {
        let rows = ExpectedRecord.transit.filter { $0["card"] == "P7" }
        let used = try rows.map { try $0.block() }
        let unused = try Dumps.block("00FFFFFFFFFFFFFFFFFFFFFFFFFFFFFF")
        let history = try CyberneticsDecoder.transit.decode(Dumps.transit(used + [unused] + used)).history
        #expect(history?.count == used.count)
    }
}
