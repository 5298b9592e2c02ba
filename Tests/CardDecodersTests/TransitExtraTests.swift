// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import TestSupport
import Testing

@Suite("Brands, entry records, tickets and points of transit cards")
struct TransitExtraTests {
    // The lists of real cards (P10).
    private static let common = """
        0048 004A 0088 008B 0810 0812 0816 0850 0852 0856 0890 0892 0896 08C8 08CA 090C 090F 1008 100A 1048 104A 108C \
        108F 10C8 10CB 1108 110A 1148 114A
        """
    private static let suica = """
        00C8 00CA 00CC 00CE 00D0 00D2 00D4 00D6 090A 1808 180A 1848 184B 18C8 18CA 1908 190A 1948 194B 1988 198B 2308 \
        230A 2348 234B 2388 238B 23C8 23CB
        """
    private static let pasmo = """
        090A 1848 184B 1908 190A 1948 194B 1988 198B 1CC8 1CCA 1D08 1D0A 2308 230A 2348 234B 2388 238B 23C8 23CB
        """
    private static let icoca = "00C8 00CA 00CC 00CE 00D0 00D2 00D4 00D6 1A48 1A4A 1A88 1A8A 9608 960A"
    private static let open = "184B 194B 198B 234B 238B 23CB"

    private func brand(_ list: String, areas: [(UInt16, UInt16)] = []) throws -> String? {
        let codes = "\(Self.common) \(list)".split(separator: " ").compactMap { ServiceCode($0) }
        let services = codes.map { code in
            ServiceDump(
                code: code, state: code.requiresAuthentication ? .keyRequired : .read,
                blocks: code.requiresAuthentication ? [:] : [0: .zero])
        }
        var dump = Dumps.card(.transit, services)
        dump.systems[0].areas = areas.map {
            AreaDump(start: AreaCode(rawValue: $0.0), end: AreaCode(rawValue: $0.1))
        }
        let report = try CyberneticsDecoder.transit.decode(dump)
        return report.fields.first { $0.key == "brand" }?.value
    }

    @Test(
        "The whole lists of real cards tell the brand (P10-0, P10-1, P10-2)",
        arguments: [(suica, "suica"), (pasmo, "pasmo"), (icoca, "icoca")])
    func published(_ list: String, _ name: String) throws {
        #expect(try brand(list) == name)
    }

    @Test(
        "Open services alone, none, or those of two issuers leave it undecidable",
        arguments: [open, "", "\(suica) \(pasmo)", "1808 180A 18C8", "2048 204A"])
    func undecidable(_ list: String) throws {
        #expect(try brand(list) == "undecidable")
    }

    @Test("A brand is told by the open services that only its issuer has")
    func byOpenServices() throws {
        #expect(try brand("1E8B 1ECF 184B") == "toica")
        #expect(try brand("988B 98CF 998B") == "manaca")
    }

    /// The nodes of felica-tool's `filesystems.json` that are not on every card, for the lists that services of one issuer
    /// do not decide, and for neighbors that share nodes with them.
    static let listed: [(name: String, services: String, areas: [(UInt16, UInt16)], brand: String)] = [
        (
            "a Suica on a phone", "1808 180A 1848 184B 1888 188B 1908 190A", [(0x1800, 0x1A3F), (0x1F00, 0x1F3F)],
            "suica"
        ),
        ("a Suica of the first years", "1808 180A 1848 184B", [(0x1800, 0x1FFF)], "suica"),
        ("Welcome Suica", "1808 180A 1848 184B", [(0x0000, 0xFFFE), (0x1800, 0x1A3F)], "suica"),
        ("a Suica without its list", "1808 180A 1848 184B", [(0x1800, 0x1A3F)], "undecidable"),
        ("a Suica with the root area alone", "1808 180A 1848 184B", [(0x0000, 0xFFFE)], "undecidable"),
        (
            "a regional Suica without its own services", "1808 180A 1848 184B",
            [(0x0000, 0xFFFE), (0x1800, 0x1A3F), (0x2580, 0x267F)], "regional-suica"
        ),
        (
            "a Suica with a node of PASMO", "1808 180A 1CC8 1CCA 1D08 1D0A", [(0x0000, 0xFFFE), (0x1800, 0x1A3F)],
            "undecidable"
        ),
        (
            "a regional Suica", "1808 180A 1848 184B 2588 258A 25C8 25CA 2608 260A 2648 264A 2688 268A 26C8 26CB",
            [(0x1800, 0x1A3F), (0x2580, 0x267F), (0x2680, 0x293F)], "regional-suica"
        ),
        (
            "icsca", "BD48 BD4A BD88 BD8A BDC8 BDCA BE08 BE0A BE48 BE4B", [(0x8000, 0xFFFE), (0xBD40, 0xBE7F)], "icsca"
        ),
        ("PASMO on a phone", "1848 184B 1CC8 1CCA", [(0x1800, 0x1A3F), (0x1CC0, 0x1DFF), (0x1F00, 0x1F3F)], "pasmo"),
        ("ICOCA", "1A48 1A4A 1A88 1A8A 9608 960A", [(0x1A40, 0x1B7F), (0x9600, 0x973F)], "icoca"),
        ("TOICA", "1848 184B 1E8B 1ECC 1ECF", [(0x1800, 0x1DFF), (0x1E00, 0x1EFF)], "toica"),
        ("Kitaca", "1848 184B 208B 20CB", [(0x1800, 0x1A3F), (0x2080, 0x21BF)], "kitaca"),
        ("SUGOCA", "1F88 1F8A 2048 204A 21C8", [(0x1F40, 0x207F), (0x21C0, 0x22FF)], "sugoca"),
        ("Hayakaken", "1F88 1F8A 2048 204A 2448", [(0x1F40, 0x207F), (0x2440, 0x257F)], "hayakaken"),
        ("manaca", "9888 988B", [(0x8000, 0xFFFE), (0x9880, 0x99BF)], "manaca"),
        ("nimoca", "1F48 1F4A 1F88 1F8A 2048 204A", [(0x1F40, 0x207F)], "nimoca"),
        ("areas of two issuers", "", [(0x21C0, 0x22FF), (0x2440, 0x257F)], "undecidable"),
        ("an area with another end", "", [(0xBD40, 0xBE3F)], "undecidable"),
    ]

    @Test("The areas that a card lists tell its brand, too", arguments: listed)
    func byAreas(_ name: String, _ services: String, _ areas: [(UInt16, UInt16)], _ brand: String) throws {
        #expect(try self.brand(services, areas: areas) == brand, "\(name)")
    }

    @Test("icsca, a Suica on a phone and a regional Suica by their services alone")
    func withoutAreas() throws {
        #expect(try brand("BD48 BD4A BE48 BE4B") == "icsca")
        #expect(try brand("1808 180A 1888 188B") == "suica")
        #expect(try brand("1808 180A 2588 258A 2648 264A") == "regional-suica")
    }

    /// The rest of the list might have been that of a regional card.
    @Test("An interrupted list does not tell a Suica") func interrupted() throws {
        let services = ["008B", "1808", "180A"].compactMap { ServiceCode($0) }
        var dump = Dumps.card(.transit, services.map { ServiceDump(code: $0, state: .lost) })
        dump.systems[0].areas = [
            AreaDump(start: .root, end: AreaCode(rawValue: 0xFFFE)),
            AreaDump(start: AreaCode(rawValue: 0x1800), end: AreaCode(rawValue: 0x1A3F)),
        ]
        #expect(CyberneticsDecoder.transit.brand(dump)?.id == "suica")
        dump.missing = [MissingPart(system: .transit, reason: .cardLost)]
        #expect(CyberneticsDecoder.transit.brand(dump) == nil)
    }

    /// Every list of system 0003 in `ThirdParty/felica-tool`, by the card that it is there.
    @Test("Each known list tells its brand") func knownLists() throws {
        let brands = [
            "HAYAKAKEN": "hayakaken", "SUICA_WELCOME": "suica", "SUICA": "suica", "AKICA": "regional-suica",
            "ICSCA": "icsca", "PASMO": "pasmo", "SUGOCA": "sugoca", "SUGOCA_MONO": "sugoca", "MANACA": "manaca",
            "MANACA_DO": "manaca", "KITACA": "kitaca", "NIMOCA": "nimoca", "TOICA": "toica", "ICOCA": "icoca",
        ]
        var lists = 0
        let table = String(decoding: try TestFiles.read("ThirdParty/felica-tool/filesystems.tsv"), as: UTF8.self)
        for line in table.split(separator: "\n").dropFirst(2) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields[3] == "0003", let card = fields[1].split(separator: ",").first else { continue }
            var dump = Dumps.card(.transit, [])
            for node in (fields.last ?? "").split(separator: " ") {
                let codes = node.split(separator: "-").compactMap { ServiceCode($0)?.rawValue }
                if codes.count == 2 {
                    dump.systems[0].areas.append(
                        AreaDump(start: AreaCode(rawValue: codes[0]), end: AreaCode(rawValue: codes[1])))
                } else if let code = codes.first {
                    dump.systems[0].services.append(
                        ServiceDump(code: ServiceCode(rawValue: code), state: .keyRequired))
                }
            }
            #expect(CyberneticsDecoder.transit.brand(dump)?.id == brands[String(card)], "\(fields[0]) \(card)")
            lists += 1
        }
        #expect(lists == 19)
    }

    @Test("Only system 0003 has brands")
    func otherSystems() throws {
        let dump = Dumps.card(SystemCode(rawValue: 0x80DE), [Dumps.service(Dumps.history, [.zero])])
        #expect(try CyberneticsDecoder.iruca.decode(dump).fields.isEmpty)
    }

    @Test("The published entry record (P1-E0, P1-E1), and the second block as its one source reads it")
    func entryRecord() throws {
        let record = try #require(try CyberneticsDecoder.transit.decode(try CardFixture.suica.dump()).entryRecord)
        #expect(record.code.rawValue == 0xE33B && record.intermediate == nil && record.raw.count == 2)
        let history = Dumps.service(Dumps.history, [.zero])
        let log = Dumps.service(
            ServiceCode(rawValue: 0x10CB),
            [
                try Dumps.block("0101" + "0000000000000000000000000000"),
                try Dumps.block("166C0815E3360009 30E6210000000000"),
            ])
        let inner = try #require(
            try CyberneticsDecoder.transit.decode(Dumps.card(.transit, [history, log])).entryRecord?.intermediate)
        #expect(inner.date?.description == "2011-03-12")
        #expect(inner.entryTime?.description == "08:15" && inner.exitTime?.description == "09:30")
        #expect(inner.entryStation.rawValue == 0xE336 && inner.exitStation.rawValue == 0xE621)
        let report = try CyberneticsDecoder.transit.decode(Dumps.card(.transit, [history, log]))
        let text = report.json(.english).compactText
        #expect(text.contains(#""entryStation":"E336""#) && text.contains(#""exitStation":"E621""#))
        let unused = Dumps.service(ServiceCode(rawValue: 0x10CB), [.zero, .zero])
        #expect(try CyberneticsDecoder.transit.decode(Dumps.card(.transit, [history, unused])).entryRecord == nil)
    }

    @Test("A ticket with a fee, field by field, in any slot; empty slots are skipped")
    func ticket() throws {
        let block = try Dumps.block("0103E63B33694DE5 07C8 1A2B E6210C00")
        let tickets = Dumps.service(ServiceCode(rawValue: 0x184B), [.zero, block, .zero])
        let history = Dumps.service(Dumps.history, [.zero])
        let report = try CyberneticsDecoder.transit.decode(Dumps.card(.transit, [history, tickets]))
        let ticket = try #require(report.tickets.first)
        #expect(report.tickets.count == 1)
        #expect([ticket.from, ticket.to, ticket.checkedAt].map(\.rawValue) == [0x0103, 0xE63B, 0xE621])
        #expect(ticket.device.rawValue == 0x1A2B)
        #expect(ticket.expiry?.description == "2025-11-09" && ticket.issued?.description == "09:47")
        #expect(ticket.kind == 7 && ticket.price == 2000 && ticket.raw == block)
        #expect(report.json(.english).compactText.contains(#""tickets":[{"from":"0103","to":"E63B""#))
        #expect(try CyberneticsDecoder.transit.decode(try CardFixture.suica.dump()).tickets.isEmpty)
    }

    @Test("SAPICA's points are three bytes, little-endian")
    func points() throws {
        let system = SystemCode(rawValue: 0x865E)
        let points = Dumps.service(ServiceCode(rawValue: 0xBA4B), [try Dumps.block("010203FF000000000000000000000000")])
        let report = try CyberneticsDecoder.sapica.decode(
            Dumps.card(system, [Dumps.service(Dumps.history, [.zero]), points]))
        #expect(report.fields.map(\.value) == [String(0x030201)])
        #expect(report.fields.map(\.key) == ["points"])
    }
}
