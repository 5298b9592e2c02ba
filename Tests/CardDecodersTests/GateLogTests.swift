// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("Gate log of transit cards")
struct GateLogTests {
    static let rows = (try? TestFiles.table("Fixtures/blocks/transit-gates.tsv")) ?? []

    private func events(_ blocks: [Block]) throws -> [GateEvent] {
        let service = Dumps.service(ServiceCode(rawValue: 0x108F), blocks)
        let history = Dumps.service(Dumps.history, [])
        return try CyberneticsDecoder.transit.decode(Dumps.card(.transit, [history, service])).gateEvents
    }

    @Test("Every field of every published passage")
    func vectors() throws {
        #expect(Self.rows.count == 6)
        let events = try events(Self.rows.map { try Dumps.block($0["hex"] ?? "") })
        #expect(events.map { $0.date?.description } == Self.rows.map { $0["date"] })
        #expect(events.map { $0.time?.description } == Self.rows.map { $0["time"] })
        #expect(events.map(\.kind.hex) == Self.rows.map { $0["kind"] })
        #expect(events.map { $0.isEntry ? "entry" : "exit" } == Self.rows.map { $0["entry"] })
        #expect(events.map { $0.kind.name?.english } == Self.rows.map { $0["entry"] })
        #expect(events.map { String($0.code.line) } == Self.rows.map { $0["line"] })
        #expect(events.map { String($0.code.station) } == Self.rows.map { $0["station"] })
        #expect(events.map { String($0.device.rawValue, radix: 16) } == Self.rows.map { $0["device"] })
        #expect(events.map { String($0.amount) } == Self.rows.map { $0["amount"] })
    }

    @Test("Skips blocks of zeros")
    func unused() throws {
        #expect(try events([.zero, .zero, .zero]).isEmpty)
    }

    @Test("A station is looked up in each area, since the log names none", arguments: 0...3 as ClosedRange<UInt8>)
    func areas(area: UInt8) throws {
        let text = "area\tline\tstation\tcompany\tline_name\tstation_name\n\(area)\t230\t33\tA\tB\tC\n"
        var table = StationTable()
        table.add(try StationFile(parsing: Array(text.utf8)).rows)
        let log = Dumps.service(ServiceCode(rawValue: 0x108F), [try Dumps.block("2000E6212005166C1252A00000000000")])
        let dump = Dumps.card(.transit, [Dumps.service(Dumps.history, []), log])
        let event = try #require(try CyberneticsDecoder.transit.decode(dump, stations: table).gateEvents.first)
        #expect(event.stations.map(\.code) == [.station(StationCode(area: area, line: 230, station: 33))])
    }

    @Test("A date or a time that does not exist is not given")
    func impossible() throws {
        let block = try Dumps.block("2000E6212005FFFF2560A00000000000")
        let event = try #require(try events([block]).first)
        #expect(event.date == nil && event.time == nil)
        #expect(event.amount == 160)
    }

    @Test("The published entry log names the newest ride's entry (P1-E0, P1-E1)")
    func entryLog() throws {
        let dump = try CardFixture.suica.dump()
        let blocks = try #require(dump.blocks(.transit, ServiceCode(rawValue: 0x10CB)))
        let newest = try #require(try CyberneticsDecoder.transit.decode(dump).history?.first?.entry)
        let log = try #require(blocks[0])
        #expect(newest.code == .station(StationCode(area: 0, line: log[0], station: log[1])))
        #expect(blocks[1] == .zero)
    }
}
