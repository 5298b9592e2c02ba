// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Testing

/// What the fixtures of regional and foreign cards do not show.
@Suite("Regional and foreign cards")
struct RegionalCardTests {
    private func dump(_ system: UInt16, _ service: UInt16, _ blocks: [Block], state: ReadState = .read) -> CardDump {
        var dump = Dumps.service(ServiceCode(rawValue: service), blocks)
        dump.state = state
        return Dumps.card(SystemCode(rawValue: system), [dump])
    }

    @Test("OKICA's running number has sixteen bits and starts again")
    func okicaWrap() throws {
        let blocks = try [
            "160100023A6EDC01DC1F010000000100", "160100023A6EDC1FDC01020000FFFF00", "160100023A6EDC1FDC010300000005FF",
        ].map { try Dumps.block($0) }
        let history = try #require(try OkicaDecoder().decode(dump(0x8FC1, 0x028F, blocks)).history)
        #expect(history.map(\.serial) == [1, 0xFFFF, 5])
        #expect(history.map(\.amount) == [-1, nil, nil])
        #expect(history.map(\.warnings) == [[], [.serialOrder], []])
    }

    @Test("Defect 4: OKICA's twenty records are all there, stations with both bytes, serials with both")
    func okicaWhole() throws {
        let blocks = try (0..<20 as Range<UInt8>).map { number in
            try Dumps.block("160100023A6EDC01DC1F010000020000").with(14, 0xF0 - number).with(9, 0x20 + number)
        }
        let history = try #require(try OkicaDecoder().decode(dump(0x8FC1, 0x028F, blocks)).history)
        #expect(history.map(\.raw) == blocks)
        #expect(history.map(\.serial) == (0..<20).map { 0x02F0 - $0 })
        #expect(history.compactMap { $0.exit?.code.tableText }.last == "local:8FC1-DC33")
        #expect(history.dropLast().allSatisfy { $0.amount == 0 } && history.last?.amount == nil)
    }

    @Test("OKICA's bus stops keep sixteen bits, and the company that is known")
    func okicaStops() throws {
        let blocks = try ["050F000F3A6E0B04123401000000 0100", "050F000F3A6E0C04123401000000 0200"].map {
            try Dumps.block($0)
        }
        let history = try #require(try OkicaDecoder().decode(dump(0x8FC1, 0x028F, blocks)).history)
        #expect(history.map { $0.entry?.code.tableText } == ["local:8FC1-0B04-1234", "local:8FC1-0C04-1234"])
        #expect(history.map { $0.entry?.name?.company } == ["東陽バス", nil])
    }

    @Test("An amount is known when one or two transactions lie between, and not when three do")
    func okicaGap() throws {
        func amounts(_ step: UInt8) throws -> [Int?] {
            let block = try Dumps.block("160100023A6EDC01DC1F0A0000000100")
            let blocks = [block.with(10, 3).with(14, 1 + step), block]
            return try #require(try OkicaDecoder().decode(dump(0x8FC1, 0x028F, blocks)).history).map(\.amount)
        }
        #expect(try amounts(0) == [nil, nil])
        #expect(try amounts(1) == [-7, nil])
        #expect(try amounts(2) == [-7, nil])
        #expect(try amounts(3) == [nil, nil])
    }

    @Test("OKICA by a payment terminal's classes: cancellation, payment, charge, without a time (N9)")
    func okicaTerminal() throws {
        let blocks = try [
            "C74C00002E2100000000993A00016CC0", "C74600002E21000000001127 00016BC0".replacing(" ", with: ""),
            "C74900002E2100000000993A00016AC0",
        ].map { try Dumps.block($0) }
        let report = try OkicaDecoder().decode(dump(0x8FC1, 0x028F, blocks))
        let history = try #require(report.history)
        #expect(history.map { $0.date?.description } == ["2023-01-01", "2023-01-01", "2023-01-01"])
        #expect(history.map(\.balance) == [15_001, 10_001, 15_001] && history.map(\.serial) == [364, 363, 362])
        #expect(history.map(\.amount) == [5000, -5000, nil])
        #expect(history.map(\.kind) == [.purchase, .purchase, .charge])
        #expect(history.first?.process?.name?.english == "purchase cancelled")
        #expect(history.allSatisfy { $0.time == nil && $0.device == nil && $0.entry == nil && $0.exit == nil })
        #expect(history.allSatisfy { $0.warnings.isEmpty } && !report.warnings.contains(.oneSource))
        #expect(report.balances.map(\.amount) == [15_001])
    }

    @Test("OKICA: purchases have two stations with their areas, balances three bytes")
    func okicaStations() throws {
        let block = try Dumps.block("C74600002E21DC01DC1F0000 010001D0".replacing(" ", with: ""))
        let record = try #require(try OkicaDecoder().decode(dump(0x8FC1, 0x028F, [block])).history?.first)
        #expect(record.balance == 65_536)
        #expect(record.entry?.name?.name == "那覇空港" && record.exit?.name?.name == "首里")
        guard case .local(let entry)? = record.entry?.code, case .local(let exit)? = record.exit?.code else {
            Issue.record("no stations")
            return
        }
        #expect(entry.area == 3 && exit.area == 1)
    }

    @Test("The last top-up in OKICA's balance block has the day and the minute of a transit record (N9-B)")
    func okicaBalanceBlock() throws {
        let block = try Dumps.block("993A0000000000002E6D5CCC0300027B")
        #expect(block[8] == 0x2E && block[9] == 0x6D)
        let made = try Dumps.block("C746000000000000000000000000 0100".replacing(" ", with: ""))
            .with(4, block[8]).with(5, block[9]).with(6, block[10]).with(7, block[11])
        let record = try CyberneticsDecoder.transit.decode(Dumps.transit([made])).history?.first
        #expect(record?.time?.description == "11:38" && record?.date?.description == "2023-03-13")
    }

    @Test("The one station of a KMT ride is where it ended, that of a top-up where it was made")
    func kmtStation() throws {
        func record(_ kind: UInt8) throws -> HistoryRecord {
            let block = try Dumps.block("2B0000000000 0BB800050000000000 01".replacing(" ", with: "")).with(12, kind)
            return try #require(try KMTDecoder().decode(dump(0x90B7, 0x200F, [block, .zero])).history?.first)
        }
        for (kind, isRide) in [(0, false), (1, true), (2, false)] as [(UInt8, Bool)] {
            let record = try record(kind)
            #expect((record.exit != nil) == isRide && (record.entry != nil) != isRide)
        }
    }

    /// Decoders whose balance is in the newest record, with system and service.
    static let fromHistory: [CardKind: (UInt16, UInt16)] = [
        "okica": (0x8FC1, 0x028F), "ryuto": (0x8B5D, 0x898F), "ica": (0x80EF, 0x898F), "nicepass": (0x040F, 0x030F),
        "dhaka": (0x90E3, 0x220F),
    ]

    @Test(
        "A card without a record has no balance that is known, not 0",
        arguments: fromHistory.keys.sorted { $0.rawValue < $1.rawValue })
    func noRecord(_ id: CardKind) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(of: id))
        let place = try #require(Self.fromHistory[id])
        let report = try decoder.decode(dump(place.0, place.1, [.zero, .zero]))
        #expect(report.balances.map(\.amount) == [nil])
        #expect(report.balances.allSatisfy { $0.candidates.isEmpty })
        #expect(report.history == [])
        // The newest block was lost: there is a history, and nothing to say of money.
        var later = dump(place.0, place.1, [.zero, .zero], state: .lost)
        later.systems[0].services[0].blocks[0] = nil
        #expect(try decoder.decode(later).balances.isEmpty)
        #expect(throws: CardDecodingError.self) { try decoder.balance(later) }
    }

    @Test("The history stands in where 884B was not read", arguments: [("toyama", 0x832C), ("ayuca", 0x83EE)])
    func balanceFromHistory(_ id: CardKind, _ system: UInt16) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(of: id))
        let block = try Dumps.block("3163 000000 0101 0102 52 00D2 0000 0316")
        let report = try decoder.decode(dump(system, 0x898F, [block]))
        #expect(report.balances.map(\.amount) == [id == "toyama" ? 0x0316 : 0xD200])
        #expect(report.warnings.contains(.balanceFromHistory))
    }

    @Test("Which Toyama card it is is told by 804B, or not at all")
    func toyama() throws {
        let names = try [0x0367: "ecomyca", 0x0D69: "passca", 0x0D67: "ecomyca or passca"].map { prefix, name in
            let issue = Block.zero.with(0, UInt8(prefix >> 8)).with(1, UInt8(prefix & 0xFF))
            var dump = dump(0x832C, 0x804B, [issue])
            dump.systems[0].services.append(Dumps.service(ServiceCode(rawValue: 0x884B), [.zero]))
            return (try ToyamaDecoder().decode(dump).name.english, name)
        }
        for (found, expected) in names { #expect(found == expected) }
        #expect(try ToyamaDecoder().decode(dump(0x832C, 0x884B, [.zero])).name.english == "ecomyca or passca")
    }

    @Test("The two layouts of the family number their actions differently")
    func actions() throws {
        func kinds(_ id: CardKind, _ system: UInt16, kindAt offset: Int) throws -> [UInt8: RecordKind] {
            let decoder = try #require(DecoderRegistry.standard.decoder(of: id))
            var kinds: [UInt8: RecordKind] = [:]
            for code in UInt8.min...UInt8.max {
                let block = try Dumps.block("31630000000101010200 00D200000316").with(offset, code)
                let record = try #require(try decoder.decode(dump(system, 0x898F, [block])).history?.first)
                #expect(record.terminal?.code == code >> 4 && record.process?.code == code & 0xF)
                #expect((record.amount == nil) == (record.kind == .issue || record.process?.name == nil))
                kinds[code] = record.kind
            }
            return kinds
        }
        let a = try kinds("toyama", 0x832C, kindAt: 9)
        #expect(
            [0x22, 0x52, 0x92, 0x72, 0x55, 0x50, 0x5A, 0x53].map { a[$0] } == [
                .rail, .bus, .bus, .other, .charge, .issue, .issue, .other,
            ])
        let b = try kinds("ayuca", 0x83EE, kindAt: 8)
        #expect([0x53, 0x73, 0x89, 0x5A, 0x52, 0x50].map { b[$0] } == [.bus, .other, .charge, .issue, .other, .other])
    }

    @Test("Dhaka: an unknown header keeps its record; hours above 23 are none; a day before 2020 ends the history")
    func dhaka() throws {
        let blocks = try [
            "123456783463F8000A005A2C0100FFFF", "085210003463B8000A005A2C010000 00", "085210002663B8000A005A2C01000000",
            "085210003463B8000A005A2C01000000",
        ].map { try Dumps.block($0) }
        let history = try #require(try DhakaDecoder().decode(dump(0x90E3, 0x220F, blocks)).history)
        #expect(history.map(\.kind) == [.other, .rail])
        #expect(history.map { $0.partial?.hour } == [nil, 23])
        #expect(history.map(\.warnings) == [[.invalidTime], []])
        #expect(history.map(\.balance) == [30_000, 30_000])
    }

    @Test("Dhaka: a block of all FF is an empty slot")
    func dhakaEmpty() throws {
        let used = try Dumps.block("085210003463B8000A005A2C01000000")
        let empty = try Dumps.block(String(repeating: "F", count: 32))
        let history = try #require(try DhakaDecoder().decode(dump(0x90E3, 0x220F, [used, empty, used])).history)
        #expect(history.map(\.raw) == [used])
        #expect(try DhakaDecoder().balance(dump(0x90E3, 0x220F, [empty])).balances.map(\.amount) == [nil])
    }

    /// Company, place and kind of a record, with the stop that they name; the layout is that of felica-look.
    static let rapicaStops: [(block: String, stop: String?, doubt: Doubt?, kind: RecordKind, isExit: Bool)] = [
        ("06972810 1E84F0 0000 000000 44 0004D8", "天文館", nil, .bus, true),
        ("06971210 1AE270 0011 000000 30 000596", "鴨池港", nil, .bus, false),
        ("06971230 3095A0 0000 000000 47 000596", "桜島口", nil, .other, false),
        ("06971230 23E400 0000 000000 20 000596", "鹿児島中央駅", nil, .other, false),
        ("06971250 1E84F0 0011 000000 41 000596", "天文館", .disputed, .bus, true),
        ("06971240 00 1E84F0 0011 0000 41 000596", "天文館", .disputed, .bus, true),
        ("06971220 000001 0000 000000 41 000596", nil, nil, .bus, true),
    ]

    @Test(
        "RapiCa: kinds 20, 44 and 47, names of stops; where the stop of companies 4 and 5 is, is disputed",
        arguments: rapicaStops)
    func rapica(_ row: (block: String, stop: String?, doubt: Doubt?, kind: RecordKind, isExit: Bool)) throws {
        let block = try Dumps.block(row.block.replacing(" ", with: ""))
        let report = try RapiCaDecoder().decode(dump(0x8194, 0x008F, [block, .zero]))
        let record = try #require(report.history?.first)
        let place = try #require(row.isExit ? record.exit : record.entry)
        #expect(place.name?.name == row.stop && place.doubt == row.doubt)
        #expect((row.isExit ? record.entry : record.exit) == nil)
        #expect(record.kind == row.kind && record.process?.name != nil)
        #expect(report.warnings.contains(.doubtfulValues) == (row.doubt != nil))
    }

    @Test("The number of a KMT card is text, or its bytes where it is none; and personal")
    func kmtNumber() throws {
        let texts = try ["31323334202020200000000000000000": "1234", "FF323334000000000000000000000000": nil].map {
            (hex: $0, text: $1 ?? $0, block: try Dumps.block($0))
        }
        for (_, text, block) in texts {
            var dump = dump(0x90B7, 0x1017, [.zero])
            dump.systems[0].services.append(Dumps.service(ServiceCode(rawValue: 0x300B), [block]))
            let field = try #require(try KMTDecoder().decode(dump).fields.first)
            #expect(field.key == "number" && field.value == text && field.isPersonal)
        }
    }

    @Test("A number alone makes a report without money", arguments: [("mrtj", 0x9373), ("hcmc", 0x9450)])
    func numberOnly(_ id: CardKind, _ system: UInt16) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(of: id))
        let number = try Dumps.block("28010101264A00010000000000000000")
        let report = try decoder.decode(dump(system, 0x100B, [number]))
        #expect(report.balances.isEmpty)
        #expect(report.fields.map(\.value) == [number.description] && report.fields.allSatisfy { $0.isPersonal })
    }

    @Test("The codes of a stop have four digits, whatever their value")
    func codes() {
        let stop = LocalStopCode(system: SystemCode(rawValue: 0x83EE), operatorCode: 0x7, line: 0x12, stop: 0x3)
        #expect([stop.operatorHex, stop.lineHex, stop.stopHex] == ["0007", "0012", "0003"])
    }
}
