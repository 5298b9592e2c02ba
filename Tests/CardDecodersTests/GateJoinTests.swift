// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

@Suite("Gate log and rides")
struct GateJoinTests {
    private let exit = "2000E6212005166C1252A00000000000"
    private let entry = "A000E33B2012166C1242000000000000"
    private let earlier = "2000E3383031166B1457A00000000000"

    private func report(
        _ gates: [String], history: [String]? = nil, entryRecord: String? = nil, attribute: String? = nil
    ) throws -> CardReport {
        let rides = try history?.map { try Dumps.block($0) } ?? ExpectedRecord.transit.prefix(3).map { try $0.block() }
        var services = [
            Dumps.service(Dumps.history, rides),
            Dumps.service(ServiceCode(rawValue: 0x108F), try gates.map { try Dumps.block($0) }),
        ]
        if let entryRecord {
            services.append(Dumps.service(ServiceCode(rawValue: 0x10CB), [try Dumps.block(entryRecord), .zero]))
        }
        if let attribute { services.append(Dumps.service(Dumps.attribute, [try Dumps.block(attribute)])) }
        return try CyberneticsDecoder.transit.decode(Dumps.card(.transit, services))
    }

    @Test("The published card: minutes of its last ride and of the exit before (P1; FareBot states the same instants)")
    func published() throws {
        let history = try #require(try CyberneticsDecoder.transit.decode(try CardFixture.suica.dump()).history)
        #expect(history.prefix(3).map { $0.entryTime?.description } == ["12:42", nil, nil])
        #expect(history.prefix(3).map { $0.time?.description } == ["12:52", "14:57", nil])
        #expect(history.prefix(3).map { $0.gateLog?.fare } == [160, 160, nil])
        #expect(history.dropFirst(2).allSatisfy { $0.gateLog == nil })
        #expect(history.prefix(1).map { $0.gateLog?.entryDate?.description } == ["2011-03-12"])
    }

    @Test(
        "The published ICOCA: minutes of its last ride, in Kansai; the gate of the bus belongs to no ride by rail (P11)"
    )
    func publishedICOCA() throws {
        let gates = GateLogTests.rows.filter { $0["id"]?.hasPrefix("P11") == true }.compactMap { $0["hex"] }
        let rides = ExpectedRecord.transit.filter { $0["card"] == "P11" }.compactMap { $0["hex"] }
        let report = try report(gates, history: rides, attribute: "0000000000000000320000AF0000002A")
        let history = try #require(report.history)
        #expect(history.first?.entryTime?.description == "09:11" && history.first?.time?.description == "09:29")
        #expect(history.compactMap { $0.gateLog?.fare } == [260])
        #expect(history.first { $0.kind == .bus }?.time == nil)
        #expect(report.warnings == [.doubtfulValues] && report.insideGates == nil)
    }

    @Test(
        "A passage that differs in day, station, fare or direction belongs to no ride",
        arguments: [(0, 0xA0), (2, 0xE7), (3, 0x22), (7, 0x6D), (10, 0xA1), (11, 0x01)] as [(Int, UInt8)])
    func different(_ offset: Int, _ byte: UInt8) throws {
        let changed = try Dumps.block(exit).with(offset, byte)
        let history = try #require(try report([changed.description, entry]).history)
        #expect(history.allSatisfy { $0.time == nil && $0.entryTime == nil && $0.gateLog == nil })
    }

    @Test("Of rides that are alike the newest has the newest passage, and each passage one ride")
    func alike() throws {
        let ride = "16010002166CE33BE6210A000001E300"
        let before = "16010002166CE33BE621AA000001E100"
        let oldest = "16010002166CE33BE6214A010001DF00"
        let history = try #require(try report([exit, entry], history: [ride, before, oldest]).history)
        #expect(history.map { $0.time?.description } == ["12:52", nil, nil])
        let second = "2000E6212005166C0930A00000000000"
        let both = try #require(try report([exit, entry, second], history: [ride, before, oldest]).history)
        #expect(both.map { $0.time?.description } == ["12:52", "09:30", nil])
        #expect(both.map { $0.entryTime?.description } == ["12:42", nil, nil])
    }

    @Test("Behind a record whose date is invalid, rides are joined as ever: none is lost")
    func invalidDate() throws {
        let later = "C7460000000089400000010000 01E400".replacing(" ", with: "")
        let history = try #require(
            try report(
                [exit, entry], history: [later, "16010002166CE33BE6210A000001E300", "16010002166BE336E338AA000001E100"]
            )
            .history)
        #expect(history.first?.warnings == [.invalidDate])
        #expect(history.map { $0.time?.description } == ["17:10", "12:52", nil])
    }

    @Test("Behind lost records nothing is joined: a lost ride could be the one")
    func gap() throws {
        let later = "C7460000166D89400000010000027000"
        let history = try #require(
            try report(
                [exit, entry], history: [later, "16010002166CE33BE6210A000001E300", "16010002166BE336E338AA000001E100"]
            )
            .history)
        #expect(history.first?.warnings == [.serialGap])
        #expect(history.allSatisfy { $0.gateLog == nil })
    }

    @Test("A ride past midnight has the entry of the day before; an entry of another day or station is not its own")
    func midnight() throws {
        let dayBefore = try Dumps.block(entry).with(7, 0x6B)
        let joined = try #require(try report([exit, dayBefore.description]).history?.first)
        #expect(joined.entryTime?.description == "12:42")
        #expect(joined.gateLog?.entryDate?.description == "2011-03-11")
        for other in [dayBefore.with(7, 0x6A), dayBefore.with(3, 0x3C), dayBefore.with(0, 0x20)] {
            let record = try #require(try report([exit, other.description]).history?.first)
            #expect(record.time?.description == "12:52")
            #expect(record.entryTime == nil && record.gateLog?.entryDate == nil)
        }
    }

    @Test("Without the newest passage the log is not joined")
    func hole() throws {
        let log = ServiceDump(
            code: ServiceCode(rawValue: 0x108F), state: .lost,
            blocks: [1: try Dumps.block(exit), 2: try Dumps.block(entry)])
        let rides = try ExpectedRecord.transit.prefix(3).map { try $0.block() }
        let report = try CyberneticsDecoder.transit.decode(
            Dumps.card(.transit, [Dumps.service(Dumps.history, rides), log]))
        #expect(report.gateEvents.count == 2)
        #expect(report.history?.allSatisfy { $0.gateLog == nil } == true)
        #expect(report.insideGates == nil)
    }

    @Test("An entry that is the newest passage, with its traces, lets it be inferred that the holder is inside")
    func inside() throws {
        let attribute = "0000000000000000200000AA000001E4"
        let record = "E33B0000000000000000000000000000"
        let log = [entry, earlier]
        let all = try #require(try report(log, entryRecord: record, attribute: attribute).insideGates)
        #expect(all.date.description == "2011-03-12" && all.since.description == "12:42" && !all.isWithPass)
        #expect(all.code.line == 0xE3 && all.code.station == 0x3B)
        #expect(all.support == [.entryRecord, .transactionNumber])
        #expect(try report(log).insideGates?.support == [])
        #expect(try report(log, entryRecord: record).insideGates?.support == [.entryRecord])
        #expect(
            all.json.compactText
                == #"{"line":227,"station":59,"stations":[{"area":0,"line":227,"station":59,"company":null,"#
                + #""lineName":null,"name":null,"nameEn":null}],"date":"2011-03-12","since":"12:42","withPass":false,"#
                + #""support":["entryRecord","transactionNumber"]}"#)
    }

    @Test(
        "It is not inferred after an exit, against the other parts of the card, or from an entry that no source names")
    func notInside() throws {
        #expect(try CyberneticsDecoder.transit.decode(try CardFixture.suica.dump()).insideGates == nil)
        #expect(try report([entry], entryRecord: "E33C0000000000000000000000000000").insideGates == nil)
        #expect(try report([entry], attribute: "00000000000000002000000A000001E3").insideGates == nil)
        for (offset, byte) in [(0, 0x80), (0, 0xA2), (7, 0x00), (8, 0x24)] as [(Int, UInt8)] {
            #expect(try report([Dumps.block(entry).with(offset, byte).description]).insideGates == nil)
        }
    }

    @Test("An entry with a commuter pass needs no fare record")
    func pass() throws {
        let passEntry = try Dumps.block(entry).with(0, 0xC0).description
        let inside = try #require(
            try report([passEntry], entryRecord: "E33C0000000000000000000000000000").insideGates)
        #expect(inside.isWithPass && inside.support == [])
    }

    @Test("Marks the last bytes of a gate event as disputed")
    func disputed() throws {
        let report = try report(["2008E6212005166C1252A0005A00E33B"])
        let event = try #require(report.gateEvents.first)
        #expect(
            event.intermediate == 8 && event.settlement?.amount == 90 && event.settlement?.station.rawValue == 0xE33B)
        #expect(event.settlement?.doubt == .disputed)
        #expect(report.history?.first?.gateLog?.settlement?.amount == 90)
        let text = report.json(.english).compactText
        #expect(text.contains(#""settlement":{"amount":90,"stationCode":"E33B","doubt":"disputed"}"#))
        #expect(try self.report(["2000E6212005166C1252A00000000000"]).gateEvents.first?.settlement == nil)
    }

    @Test("The stations of gate log and entry record are those of the day's ride, else all that the table knows")
    func stations() throws {
        var names = StationTable()
        names.add(
            try StationFile(
                parsing: Array(
                    """
                    area\tline\tstation\tcompany\tline_name\tstation_name
                    0\t230\t33\tA\tB\tHere
                    1\t230\t33\tA\tB\tThere

                    """.utf8)
            ).rows)
        let dump = try CardFixture.suica.dump()
        let report = try CyberneticsDecoder.transit.decode(dump, stations: names)
        #expect(report.gateEvents.map { $0.stations.map { $0.name?.name } } == [["Here"], [nil], [nil]])
        let text = report.json(.english).compactText
        #expect(text.contains(#""line":230,"station":33,"stations":[{"area":0,"line":230,"station":33,"company":"A","#))
        // No ride of that day: every station with the code.
        var log = dump
        log.systems[0].services.removeAll { $0.code == Dumps.history }
        let all = try CyberneticsDecoder.transit.decode(log, stations: names).gateEvents
        #expect(all.first?.stations.compactMap { $0.name?.name } == ["Here", "There"])
    }
}
