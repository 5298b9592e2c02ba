// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import Testing

/// Blocks of real cards that others published, with what their owners or authors state. Those of TRETJapanNFCReader are in
/// the tests of its branch `v2.x-refactor-develop-archived` (MIT), those of felica-wallet in a scan of NXP TagInfo. Digits of
/// numbers are masked by the authors or here.
@Suite("Published cards")
struct PublishedCardTests {
    /// A card with these services, each a code and its blocks in hexadecimal digits.
    private func card(
        _ system: SystemCode, idm: UInt64 = 0, pmm: UInt64 = 0, _ services: [(UInt16, [String])]
    ) throws -> CardDump {
        let (idm, pmm) = (IDm(rawValue: idm), PMm(rawValue: pmm))
        let read = try services.map { code, blocks in
            Dumps.service(ServiceCode(rawValue: code), try blocks.map { try Dumps.block($0) })
        }
        return CardDump(
            card: CardIdentity(technology: .felica, idm: idm, pmm: pmm),
            systems: [SystemDump(systemCode: system, idm: idm, pmm: pmm, services: read)])
    }

    /// The fields of a report as `key value`.
    private func fields(_ report: CardReport) -> [String] { report.fields.map { "\($0.key) \($0.value)" } }

    /// The records of a report as `date time amount balance`.
    private func lines(_ report: CardReport) -> [String] {
        (report.history ?? []).map { record in
            let values = [record.date?.description, record.time?.description, record.amount.map(String.init)]
            return (values + [record.balance.map(String.init)]).map { $0 ?? "-" }.joined(separator: " ")
        }
    }

    // MARK: nanaco (TRETJapanNFCReader; T15, T16)

    @Test("nanaco: balance, points with the days on which they expire, history")
    func nanaco() throws {
        let report = try NanacoDecoder().decode(
            try card(
                .commonArea,
                [
                    (0x5597, ["6B010000410400000000000000000B00"]),
                    (0x558B, ["7600123456789012011E960100000000", "01271B01010000000000000000000000"]),
                    (0x560B, ["01002867000C00000000000000000000", "0000532A7F000000287F000000000000"]),
                    (
                        0x564F,
                        [
                            "47000004410000016B02867118001300", "6F000003E8000005AC02867117001200",
                            "47000004BD000001C402862542001100", "6F000003E80000068102862542001000",
                            "4700000191000002990284A436000F00",
                        ]
                    ),
                ]))
        #expect(report.balances.map(\.amount) == [363] && report.warnings.isEmpty)
        #expect(
            fields(report) == [
                "number 7600123456789012", "probableIssueDate 2019-08-27", "lastUseDate 2020-03-07", "points 83",
                "pointsCurrent 83", "pointsCurrentExpiry 2021-03-31", "pointsPrevious 0",
                "pointsPreviousExpiry 2020-03-31",
            ])
        #expect(
            lines(report) == [
                "2020-03-07 04:24 -1089 363", "2020-03-07 04:23 1000 1452", "2020-03-02 21:02 -1213 452",
                "2020-03-02 21:02 1000 1665", "2020-02-10 16:54 -401 665",
            ])
        #expect(report.history?.map(\.serial) == [19, 18, 17, 16, 15])
        #expect(report.history?.allSatisfy { $0.warnings.isEmpty } == true)
    }

    @Test("nanaco: points of both years are added; a day that does not exist has no field")
    func nanacoYears() throws {
        let report = try NanacoDecoder().decode(
            try card(
                .commonArea,
                [
                    (0x5597, ["00000000000000000000000000000000"]),
                    (0x560B, ["00000000000000000000000000000000", "01000000000000050000000000000000"]),
                ]))
        #expect(fields(report) == ["points 65541"])
    }

    // MARK: WAON (TRETJapanNFCReader; T17, T18)

    @Test("WAON: the day of the points is not an expiry; serials and kinds as in TRETJapanNFCReader")
    func waon() throws {
        let report = try WaonDecoder().decode(
            try card(
                .commonArea, idm: 0x1114_B454_C111_7923, pmm: 0x0120_2204_2767_4EFF,
                [
                    (0x6817, ["2B00000082000000000000000000003A"]),
                    (0x684F, ["69001234567890120100000000000000", "8E0BEAC8E607F3EA8000000000000000"]),
                    (0x684B, ["00000400000000000000401909010000"]),
                    (
                        0x680B,
                        [
                            "30323030303131303031353638003AF4", "4A047485550005603F48000000000000",
                            "30323030303133303034383233003892", "9C0474667A8008800460000000000000",
                            "303230303031313030313536380039F4", "490C74855501028000001F4040000000",
                            "000000401FA408001FA4004000000000", "40190901400000000000000000000000",
                            "2367A903541842248000000000000000",
                        ]
                    ),
                ]))
        #expect(report.balances.map(\.amount) == [43] && report.warnings.isEmpty)
        #expect(fields(report) == ["number 6900123456789012", "points 4", "pointsDate 2019-09-01"])
        #expect(!report.fields.contains { $0.name.english.contains("xpire") || $0.name.japanese.contains("期限") })
        #expect(
            lines(report) == ["2019-09-01 10:42 -2025 43", "2019-09-01 10:42 2000 2068", "2019-08-25 19:53 -140 68"])
        #expect(report.history?.map(\.serial) == [58, 57, 56])
        #expect(report.history?.map { $0.process?.code } == [0x04, 0x0C, 0x04])
        #expect(report.history?.map(\.terminalID) == ["0200011001568", "0200011001568", "0200013004823"])
    }

    // MARK: University Co-op (TRETJapanNFCReader, felica-wallet; T20, T27, T28)

    @Test("University Co-op: balance, number, meals, points, ten records to the second")
    func coop() throws {
        let report = try UniversityCoopDecoder().decode(
            try card(
                .commonArea,
                [
                    (0x50D7, ["23030000000000000000000000002277"]),
                    (
                        0x50CB,
                        [
                            "11751900027204000000000000000000", "00001904050000000000000000000000",
                            "0000011F000000000000000000000000",
                        ]
                    ),
                    (
                        0x50CF,
                        [
                            "20200814123527050005630008030000", "20200814123525010010000013660000",
                            "20200813123119050006850003660000", "20200813123100010010000010510000",
                            "20200812141511050001300000510000", "20200811124857050006340001810000",
                            "20200807123109050004460008150000", "20200807123108010010000012610000",
                            "20200731181851050001200002610000", "20200731130236050005340003810000",
                        ]
                    ),
                ]))
        #expect(report.balances.map(\.amount) == [803] && report.warnings.isEmpty)
        #expect(
            fields(report) == [
                "number 117519000272", "mealPlan no", "lastMealDate 2019-04-05", "mealAmount 0", "points 28.7",
            ])
        #expect(
            lines(report) == [
                "2020-08-14 12:35:27 -563 803", "2020-08-14 12:35:25 1000 1366", "2020-08-13 12:31:19 -685 366",
                "2020-08-13 12:31:00 1000 1051", "2020-08-12 14:15:11 -130 51", "2020-08-11 12:48:57 -634 181",
                "2020-08-07 12:31:09 -446 815", "2020-08-07 12:31:08 1000 1261", "2020-07-31 18:18:51 -120 261",
                "2020-07-31 13:02:36 -534 381",
            ])
    }

    /// The member number is masked.
    private func coopOfTwoSystems() throws -> CardDump {
        let zero = String(repeating: "0", count: 32)
        var dump = try card(
            .commonArea, idm: 0x1114_8E47_421B_3406,
            [
                (0x1A8B, [zero, zero, zero, zero]),
                (
                    0x50CB,
                    [
                        "51121900123404000000000000000000", "01002102080000000000000000000000",
                        "0000045E000000000000000000000000", zero, zero, zero,
                    ]
                ),
                (
                    0x50CF,
                    [
                        "20210608150257050001380487780000", "20210603114949050005720489160000",
                        "20210602121616050004750494880000", "20210531120359050004730499630000",
                        "20210526120033050004950504360000", "20210520122442050005280509310000",
                        "20210519123923050005500514590000", "20210422113521050004950520090000",
                        "20210421123035050005090525040000", "20210419122316050004750530130000",
                    ]
                ),
                (0x50D7, ["8ABE0000000000000000000000000245"]),
            ])
        dump.systems += try card(
            SystemCode(rawValue: 0x8E4B), idm: 0x0114_8E47_421B_3406,
            [
                (0x1009, [String(repeating: "30", count: 16), "35313132313930303132333030303030"]),
                (
                    0x204B,
                    [
                        "30303030303531313230303139303031", "32333030303123033101000000000009",
                        "11000130303030303030303030303030", "30303030303030000000000000000000",
                    ]
                ),
                (0x2097, [zero]),
            ]
        ).systems
        return dump
    }

    @Test("A Co-op card whose FCF area is all zero has no FCF report; its own system gives number and end")
    func coopMembership() throws {
        let dump = try coopOfTwoSystems()
        let decoders = DecoderRegistry.standard.recognizing(dump)
        #expect(decoders.map(\.kind) == ["coop", "coop-member"])
        let reports = try decoders.map { try $0.decode(dump) }
        let prepaid = try #require(reports.first)
        let member = try #require(reports.last)
        #expect(prepaid.balances.map(\.amount) == [48_778])
        #expect(lines(prepaid).first == "2021-06-08 15:02:57 -138 48778")
        #expect(lines(prepaid).last == "2021-04-19 12:23:16 -475 53013")
        #expect(prepaid.history?.allSatisfy { $0.warnings.isEmpty } == true)
        #expect(
            fields(prepaid) == [
                "number 511219001234", "mealPlan yes", "lastMealDate 2021-02-08", "mealAmount 0", "points 111.8",
            ])
        #expect(fields(member) == ["number 0000051120019001230001", "membershipEnd 2023-03-31"])
        #expect(member.fields.map(\.isPersonal) == [true, false] && member.balances.isEmpty)
        // The digits are in no masked block of a service that opens without a key.
        for service in dump.systems[1].services where service.code != ServiceCode(rawValue: 0x2097) {
            for (number, block) in service.blocks {
                let masked = PersonalData.standard.masked(
                    block, at: number, of: service.code, in: SystemCode(rawValue: 0x8E4B))
                #expect(masked.isZero)
            }
        }
    }

    // MARK: SAPICA and OKICA (TRETJapanNFCReader; T21, T23)

    @Test("SAPICA: balance and points; byte 8 of 008B is 23")
    func sapica() throws {
        let report = try CyberneticsDecoder.sapica.decode(
            try card(
                SystemCode(rawValue: 0x865E), idm: 0x0112_0312_F31A_5F1B, pmm: 0x0136_4282_4745_9AFF,
                [
                    (0x008B, ["0000000000000000230000D403000007"]), (0xBA4B, ["34000001000000000000030000000000"]),
                ]))
        #expect(report.balances.map(\.amount) == [980] && fields(report).contains("points 52"))
        #expect(report.history == nil && report.warnings.isEmpty)
    }

    static let okica = [
        "16010002289EDC07DC01380400002F50": "47 2020-04-30 小禄 那覇空港 -230 1080",
        "160100022892DC1FDC071E0500002E50": "46 2020-04-18 首里 小禄 -370 1310",
        "160100022891DC27DC1F900600002D50": "45 2020-04-17 てだこ浦西 首里 -270 1680",
        "080200002890DC2700009E0700002C40": "44 2020-04-16 てだこ浦西 - 1000 1950",
        "050F000F288F0B020000B60300002B80": "43 2020-04-15 琉球バス交通 - -680 950",
        "050F000F288E0B0200005E0600002A80": "42 2020-04-14 琉球バス交通 - 0 1630",
        "050F000F288D0B0200005E0600002980": "41 2020-04-13 琉球バス交通 - -680 1630",
        "051F0000288C0B020000060900002880": "40 2020-04-12 琉球バス交通 - -680 2310",
        "08480400288BDC190000AE0B00002740": "39 2020-04-11 古島 - 60 2990",
        "16010002287ADC25DC27720B00002650": "38 2020-03-26 浦添前田 てだこ浦西 -230 2930",
        "160100022779DC21DC23580C00002550": "37 2019-11-25 石嶺 経塚 -230 3160",
        "160100022778DC1DDC1F3E0D00002450": "36 2019-11-24 儀保 首里 -230 3390",
        "160100022777DC19DC1B240E00002350": "35 2019-11-23 古島 市立病院前 -230 3620",
        "160100022776DC15DC170A0F00002250": "34 2019-11-22 安里 おもろまち -230 3850",
        "160100022765DC11DC13F00F00002150": "33 2019-11-05 美栄橋 牧志 -236 4080",
        "160100022764DC0DDC0FDC1000002050": "32 2019-11-04 旭橋 県庁前 -224 4316",
        "160100022763DC09DC0BBC1100001F50": "31 2019-11-03 奥武山公園 壺川 -230 4540",
        "160100022762DC05DC07A21200001E50": "30 2019-11-02 赤嶺 小禄 -230 4770",
        "080200002741DC010000881300001D40": "29 2019-10-01 那覇空港 - 4000 5000",
        "080200002741DC010000E80300001C40": "28 2019-10-01 那覇空港 - - 1000",
    ]

    @Test("OKICA: twenty records; a bus record without a stop names the company")
    func okicaHistory() throws {
        let blocks = Self.okica.sorted { $0.value > $1.value }.map(\.key)
        let report = try OkicaDecoder().decode(try card(SystemCode(rawValue: 0x8FC1), [(0x028F, blocks)]))
        let history = try #require(report.history)
        #expect(history.count == 20 && report.balances.map(\.amount) == [1080])
        for record in history {
            let places = [record.entry, record.exit].map { $0?.name?.name ?? $0?.name?.company }
            let values = [record.serial?.description, record.date?.description] + places
            let line = values + [record.amount?.description, record.balance?.description]
            #expect(
                line.map { $0 ?? "-" }.joined(separator: " ")
                    == Self.okica[Hex.encode(record.raw.bytes, uppercase: true)])
        }
    }

    // MARK: Octopus (Universal-Card-Reader, TRETJapanNFCReader; T08, T10, T22)

    struct Octopus: Sendable, CustomTestStringConvertible {
        let name: String
        var pmm: UInt64
        var idm: UInt64 = 0
        var other: SystemCode?
        let raw: String
        var amount: Int?
        var basis: BalanceBasis?
        var candidates: [Int] = []
        var testDescription: String { name }
    }

    static let octopus = [
        Octopus(
            name: "IC 0332, 193.8", pmm: 0x0332_4282_8247_AAFF, raw: "000008F0000000000000000000000082",
            candidates: [19_380, 17_880]),
        Octopus(
            name: "IC 0332, -35.0", pmm: 0x0332_4282_8247_AAFF, raw: "00000000000000000000000000000016",
            candidates: [-3500, -5000]),
        Octopus(
            name: "IC 0332, -20.0", pmm: 0x0332_4282_8247_AAFF, raw: "00000096000000000000000000000077",
            candidates: [-2000, -3500]),
        Octopus(
            name: "IC 0224", pmm: 0x0224_4282_8247_AAFF, raw: "00000096000000000000000000000077",
            candidates: [-2000, -3500]),
        Octopus(
            name: "IC 0301", pmm: 0x0301_4282_8247_AAFF, raw: "00000000000000000000000000000004", amount: -3500,
            basis: .icCode),
        Octopus(
            name: "IC 0301, another", pmm: 0x0301_4282_8247_AAFF, raw: "00000000000000000000000000000003",
            amount: -3500, basis: .icCode),
        Octopus(
            name: "IC 0238", pmm: 0x0238_4282_8247_AAFF, raw: "0000009600000000000000000000001C",
            candidates: [-2000, -3500]),
        Octopus(
            name: "IC 043B", pmm: 0x043B_4282_8247_AAFF, raw: "0000015E000000000000000000000000", amount: 0,
            basis: .icCode),
        Octopus(
            name: "IC 0120 of 2016-03-09", pmm: 0x0120_2204_2767_4EFF, idm: 0x0101_0801_1817_6B0E,
            raw: "0000015A000000000000000000000017", amount: -40, basis: .icCode),
        Octopus(
            name: "IC 0332 of 2016-03-09", pmm: 0x0332_4282_8247_AAFF, idm: 0x0101_0801_1817_6B0E,
            raw: "0000015A000000000000000000000017", amount: -40, basis: .manufactured),
        Octopus(
            name: "with system 8005", pmm: 0x0332_4282_8247_AAFF, other: SystemCode(rawValue: 0x8005),
            raw: "00000612000000000000000000000017", amount: 12_040, basis: .secondSystem),
        // 2016-10-01 is day 6118, 17E6: from there on, the chip decides nothing. A masked IDm has no day.
        Octopus(
            name: "of 2016-09-30", pmm: 0x0332_0000_0000_0000, idm: 0x0101_0000_E517_0000,
            raw: "0000015E000000000000000000000000", amount: 0, basis: .manufactured),
        Octopus(
            name: "of 2016-10-01", pmm: 0x0332_0000_0000_0000, idm: 0x0101_0000_E617_0000,
            raw: "0000015E000000000000000000000000", candidates: [0, -1500]),
        Octopus(
            name: "masked", pmm: 0x0332_0000_0000_0000, idm: 0x0101_0000_0000_0000,
            raw: "0000015E000000000000000000000000", candidates: [0, -1500]),
    ]

    @Test("Octopus is decided where the chip decides, with the reason", arguments: octopus)
    func octopusBalance(_ expected: Octopus) throws {
        var dump = try card(.octopus, idm: expected.idm, pmm: expected.pmm, [(0x0117, [expected.raw])])
        if let other = expected.other {
            dump.systems.append(SystemDump(systemCode: other, idm: dump.systems[0].idm, pmm: dump.systems[0].pmm))
        }
        let balance = try #require(try OctopusDecoder.octopus.balance(dump).balances.first)
        #expect(balance.amount == expected.amount && balance.basis == expected.basis)
        #expect(balance.candidates.map(\.amount) == expected.candidates)
        let text = BalanceReport(balances: [balance]).json(.japanese, card: .invented).compactText
        #expect(text.contains("\"basis\"") == (expected.basis != nil))
        if let basis = expected.basis {
            #expect(text.contains("{\"code\":\"\(basis.rawValue)\",\"text\":\"\(basis.text.japanese)\"}"))
        }
    }

    // MARK: ICU (TRETJapanNFCReader; T24)

    @Test("A log of FCF with other contents is not one of ICU: nothing is claimed")
    func otherLog() throws {
        let fixture = try CardFixture(name: "icu").dump()
        #expect(DecoderRegistry.standard.recognizing(fixture).map(\.kind) == ["icu", "fcf"])
        let log = try #require(fixture.systems[0].services.firstIndex { $0.code == ServiceCode(rawValue: 0x120F) })
        for (number, offset, byte) in [(0, 4, 0x31), (3, 2, 0x7A), (5, 11, 0x1D)] as [(UInt16, Int, UInt8)] {
            var dump = fixture
            let block = try #require(dump.systems[0].services[log].blocks[number])
            dump.systems[0].services[log].blocks[number] = block.with(offset, byte)
            #expect(DecoderRegistry.standard.recognizing(dump).map(\.kind) == ["fcf"])
            let error = #expect(throws: CardDecodingError.self) { try ICUDecoder().decode(dump) }
            #expect(error?.reason == .otherLayout)
        }
        // The newest block alone is what `balance` reads of a card.
        var newest = fixture
        newest.systems[0].services = [newest.systems[0].services[log]]
        newest.systems[0].services[0].blocks = [0: try #require(fixture.systems[0].services[log].blocks[0])]
        #expect(try ICUDecoder().balance(newest).balances.map(\.amount) == [640])
    }

    // MARK: Days of manufacture (N1)

    /// The IDm of the published Suica P1 and those of other vectors; maker 2E and random IDs have no day.
    static let manufactured: [(UInt64, String?)] = [
        (0x0101_0214_FB0B_3906, "2008-05-25"), (0x1114_B454_C111_7923, "2012-06-11"),
        (0x0101_0801_1817_6B0E, "2016-03-09"), (0x0112_0312_F31A_5F1B, "2018-11-21"),
        (0x0114_8E47_421B_3406, "2019-02-08"), (0x112E_4577_07CE_323A, nil), (0x01FE_0102_FB0B_0405, nil),
        (0x02FE_0102_FB0B_0405, nil), (0x03FE_0102_FB0B_0405, nil), (0x05FE_0102_FB0B_0405, nil),
        (0xA4FE_0102_FB0B_0405, nil), (0x0101_0000_0000_0000, nil),
    ]

    @Test("The day on which a chip was made is in its IDm, where the maker counts days", arguments: manufactured)
    func manufactureDay(_ idm: UInt64, _ day: String?) {
        #expect(IDm(rawValue: idm).manufactureDay?.description == day)
    }

    @Test("A chip is not made after it was read")
    func manufacturedLater() throws {
        let card = CardIdentity(technology: .felica, idm: IDm(rawValue: 0x0101_0214_FB0B_3906))
        let day = try #require(CalendarDate("2008-05-25"))
        #expect(card.manufactureDay(readOn: day) == day)
        #expect(card.manufactureDay(readOn: try #require(CalendarDate("2008-05-24"))) == nil)
        #expect(CardIdentity(technology: .felica).manufactureDay(readOn: day) == nil)
    }

    // MARK: The newest record as the balance (D8; T01, T04)

    @Test("A history alone gives the balance of its newest record, and says so", arguments: ["T01", "T04", "T14"])
    func fromHistory(_ id: String) throws {
        let rows = ExpectedRecord.second.filter { $0["card"] == id }
        let dump = Dumps.transit(try rows.map { try $0.block() })
        #expect(throws: CardDecodingError.self) { try CyberneticsDecoder.transit.balance(dump) }
        let report = try CyberneticsDecoder.transit.balanceOrNewest(dump)
        #expect(report.balances.map { $0.amount?.description } == [rows.first?["balance"]])
        #expect(report.balances.map(\.basis) == [.newestRecord] && report.warnings == [.balanceFromHistory])
        // Without the newest block nothing is known, nor without a history.
        var later = dump
        later.systems[0].services[0].blocks[0] = nil
        #expect(throws: CardDecodingError.self) { try CyberneticsDecoder.transit.balanceOrNewest(later) }
        #expect(throws: CardDecodingError.self) {
            try CyberneticsDecoder.transit.balanceOrNewest(Dumps.card(.transit, []))
        }
    }
}
