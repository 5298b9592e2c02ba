// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

/// Mistakes that were found in other programs, by their numbers in the project's facts.
@Suite("Mistakes of other programs")
struct PeerDefectTests {
    private func history(_ hex: [String]) throws -> [HistoryRecord] {
        try CyberneticsDecoder.transit.decode(Dumps.transit(try hex.map { try Dumps.block($0) })).history ?? []
    }

    @Test("Defect 1: the balance is the newest record's, not the oldest's")
    func defect1() throws {
        let dump = try CardFixture.suica.dump()
        #expect(try CyberneticsDecoder.transit.balance(dump).balances.map(\.amount) == [10])
        let blocks = try ExpectedRecord.transit.filter { $0["card"] == "P1" }.map { try $0.block() }
        let alone = try CyberneticsDecoder.transit.decode(Dumps.transit(blocks))
        #expect(alone.balances.map(\.amount) == [10])
        #expect(alone.warnings == [.doubtfulValues, .balanceFromHistory])
    }

    @Test("Defect 2: operator and stop of a bus record keep all sixteen bits")
    func defect2() throws {
        // The low bytes of both codes are equal, 4F and 34.
        let records = try history(["050F000F1B4D0C4F1234F100000A6D00", "050F000F1B4D0D4F1334F100000A6C00"])
        #expect(records.map { $0.entry?.code.tableText } == ["bus:0-0C4F-1234", "bus:0-0D4F-1334"])
        let report = try CyberneticsDecoder.transit.decode(
            Dumps.transit(records.map(\.raw)), stations: TwoStops())
        #expect(report.history?.map { $0.entry?.name?.name } == ["first", "second"])
    }

    @Test("Defect 3: the oldest record's amount is unknown, not 0; a new card's first balance is its amount")
    func defect3() throws {
        let oldest = try #require(try CyberneticsDecoder.transit.decode(try CardFixture.suica.dump()).history?.last)
        #expect(oldest.amount == nil && oldest.warnings.isEmpty)
        #expect(oldest.json(.english).compactText.contains(#""amount":null"#))
        #expect(try history(["12070000282B1D1E00001C2500000100"]).map(\.amount) == [9500])
    }

    @Test("Defect 4: unknown kinds of a purse's history are kept", arguments: [0x01, 0x05, 0x7F, 0xFF] as [UInt8])
    func defect4(_ kind: UInt8) throws {
        let rows = try ExpectedRecord.edy.prefix(6).map { try $0.block() }
        let blocks = [rows[0], rows[1].with(0, kind)] + rows[2...]
        #expect(try EdyDecoder().decode(Dumps.edy(blocks)).history?.map(\.raw) == blocks)
    }

    @Test("Defect 5: line and station name other stations in other areas")
    func defect5() throws {
        let report = try CyberneticsDecoder.transit.decode(
            Dumps.transit(
                try ["16010002166CE33BE33B0A000001E3C0", "16010002166CE33BE33B0A000001E110"]
                    .map { try Dumps.block($0) }),
            stations: AreaNames())
        #expect(report.history?.map { $0.entry?.name?.name } == ["area 3", "area 0"])
        #expect(report.history?.map { $0.exit?.name?.name } == ["area 0", "area 1"])
    }

    @Test("Defect 6: without a table no place has a name")
    func defect6() throws {
        let history = try #require(try CyberneticsDecoder.transit.decode(try CardFixture.suica.dump()).history)
        #expect(history.allSatisfy { $0.entry?.name == nil && $0.exit?.name == nil })
    }

    @Test("Defect 7: the serial is bytes 12 to 14, and a bus ride is not a purchase")
    func defect7() throws {
        let records = try history([
            "160100021F6C01010102640001E2C5A0", "050F000F1F6C0C4F0000F10001E2C400",
        ])
        #expect(records.map(\.serial) == [0x01E2C5, 0x01E2C4])
        #expect(records.map(\.kind) == [.rail, .bus])
        #expect(records.map(\.amount) == [100 - 241, nil])
    }

    @Test("Defect 8: the last five bits of a purchase's time are not seconds", arguments: 0...31 as ClosedRange<UInt8>)
    func defect8(_ tail: UInt8) throws {
        let block = try Dumps.block("C7460000282BA68040726D2300000300")
        let record = try #require(
            try CyberneticsDecoder.transit.decode(Dumps.transit([block.with(7, block[7] & 0xE0 | tail)]))
                .history?.first)
        #expect(record.time == ClockTime(hour: 20, minute: 52))
        #expect(record.time?.description == "20:52")
        #expect(record.raw[7] & 0x1F == tail)
    }

    @Test("Defect 9: a station is looked up as of the day of the record")
    func defect9() throws {
        let report = try CyberneticsDecoder.transit.decode(try CardFixture.suica.dump(), stations: Diary())
        #expect(report.history?.first?.entry?.name?.name == "2011-03-12")
        #expect(report.history?.last?.entry?.name?.name == "2010-09-24")
    }

    @Test("Defect 10: unknown codes keep their record", arguments: 1...255 as ClosedRange<UInt8>)
    func defect10(_ code: UInt8) throws {
        let block = try Dumps.block("16010002166CE33BE6210A000001E300")
        let blocks = (0..<4).map { block.with($0, code).with(14, UInt8(0x80 - $0)) }
        let history = try #require(try CyberneticsDecoder.transit.decode(Dumps.transit(blocks)).history)
        #expect(history.map(\.raw) == blocks)
        #expect(history.first?.terminal?.code == code)
        #expect(history.dropFirst().first?.process?.code == code)
    }

    @Test(
        "Defect 10: a stamp is a day in Japan, whatever zone the machine is in (00:19 is 15:19 of the day before in UTC)"
    )
    func japanTime() throws {
        let history = try #require(try EdyDecoder().decode(try CardFixture.edy.dump()).history)
        let record = try #require(history.first { $0.serial == 101 })
        #expect(record.date?.description == "2008-05-18")
        #expect(record.time?.description == "00:19:18")
    }

    @Test("Defect 10: a service with every possible block ends, and holds each record once")
    func everyBlockNumber() throws {
        let block = try Dumps.block("16010002166CE33BE6210A000001E300")
        let numbers: ClosedRange<UInt16> = 0...UInt16.max
        let service = ServiceDump(
            code: Dumps.history, state: .read,
            blocks: BlockTable(
                numbers.map {
                    ($0, block.with(13, UInt8(~$0 >> 8)).with(14, UInt8(~$0 & 0xFF)))
                }))
        let history = try CyberneticsDecoder.transit.decode(Dumps.card(.transit, [service])).history
        #expect(history?.count == 65_536)
    }
}

private struct TwoStops: StationNames {
    func station(_ code: StationCode, on date: CalendarDate?) -> StationName? { nil }
    func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        switch (code.operatorCode, code.stop) {
        case (0x0C4F, 0x1234): StationName(company: nil, line: nil, name: "first")
        case (0x0D4F, 0x1334): StationName(company: nil, line: nil, name: "second")
        default: nil
        }
    }
}

private struct AreaNames: StationNames {
    func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        StationName(company: nil, line: nil, name: "area \(code.area)")
    }
    func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
}

private struct Diary: StationNames {
    func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        StationName(company: nil, line: nil, name: date?.description)
    }
    func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
}
