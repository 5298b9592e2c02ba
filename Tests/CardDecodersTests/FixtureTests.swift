// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardDecoders
import CardModel
import Testing

@Suite("Fixtures/cards")
struct FixtureTests {
    /// Cards that are only recognized are rows of a table and share one card; every other decoder has one of its own.
    static let withFixture = DecoderRegistry.standard.decoders.filter { !($0 is NamedCardDecoder) }.map(\.kind)

    @Test("Every decoder has a card with its expected documents", arguments: withFixture)
    func everyDecoderHasAFixture(_ id: CardKind) throws {
        let decoder = try #require(DecoderRegistry.standard.decoder(of: id))
        let folders = try CardFixture.decoded.filter { fixture in
            guard decoder.recognizes(try fixture.dump()) else { return false }
            let cards = try fixture.json("balance.json").required("balances").elements()
            return try !decoder.hasBalance || cards.contains { try $0.required("kind").text() == id.rawValue }
        }
        #expect(!folders.isEmpty, "Fixtures/cards/ has no folder for \(id)")
    }

    @Test("The cards that others count on are there")
    func names() {
        let expected: Set = ["suica-p1", "edy", "felica-lite-s", "five-systems", "awkward"]
        #expect(expected.isSubset(of: CardFixture.all.map(\.name)))
    }

    @Test("Every card says where its bytes come from", arguments: CardFixture.all)
    func notes(_ fixture: CardFixture) throws {
        #expect(fixture.has("NOTES.md"))
        #expect(try fixture.text("NOTES.md").contains("invented"))
    }

    @Test("Every dump is read and written unchanged", arguments: CardFixture.all)
    func canonical(_ fixture: CardFixture) throws {
        #expect(try fixture.dump().json.prettyText + "\n" == fixture.text("card.json"))
    }

    @Test("balance.json is what the decoders say", arguments: CardFixture.decoded)
    func balance(_ fixture: CardFixture) throws {
        let dump = try fixture.dump()
        let decoders = DecoderRegistry.standard.recognizing(dump).filter(\.hasBalance)
        let balances = try decoders.flatMap { try $0.balance(dump).balances }
        let report = BalanceReport(balances: balances)
        let card = DecodedCard(
            dump, kind: balances.first?.kind ?? DecoderRegistry.standard.recognizing(dump).first?.kind)
        #expect(report.json(.english, card: card).prettyText + "\n" == (try fixture.text("balance.json")))
    }

    @Test(
        "A decoder says how wide its serial numbers are exactly if its records have them",
        arguments: CardFixture.decoded)
    func serials(_ fixture: CardFixture) throws {
        let dump = try fixture.dump()
        for decoder in DecoderRegistry.standard.recognizing(dump) {
            let numbers = (try? decoder.decode(dump))?.history?.compactMap(\.serial) ?? []
            guard let serials = decoder.serials else {
                #expect(numbers.isEmpty, "\(decoder.kind) has serial numbers")
                continue
            }
            #expect(numbers.allSatisfy { (0..<1 << serials.bits).contains($0) }, "\(decoder.kind): \(numbers)")
        }
    }

    @Test("history.json is what the first decoder says that finds a history", arguments: CardFixture.decoded)
    func history(_ fixture: CardFixture) throws {
        let dump = try fixture.dump()
        let reports = try DecoderRegistry.standard.recognizing(dump).compactMap {
            try $0.decode(dump, stations: ShippedStations()).historyReport
        }
        #expect(fixture.has("history.json") == !reports.isEmpty)
        guard let report = reports.first else { return }
        let card = DecodedCard(dump, kind: report.kind)
        #expect(report.json(.english, card: card).prettyText + "\n" == (try fixture.text("history.json")))
    }

    @Test("report.json is what the decoders say beside money and history", arguments: CardFixture.reported)
    func report(_ fixture: CardFixture) throws {
        let dump = try fixture.dump()
        let reports = try DecoderRegistry.standard.recognizing(dump).map { try $0.decode(dump).expectedForm }
        let document: JSONValue = ["reports": .array(reports)]
        #expect(document.prettyText + "\n" == (try fixture.text("report.json")))
    }

    @Test("A card without expected documents is recognized by no decoder", arguments: CardFixture.all)
    func unknownCards(_ fixture: CardFixture) throws {
        let known = !DecoderRegistry.standard.recognizing(try fixture.dump()).isEmpty
        #expect(known == fixture.has("balance.json"))
    }

    @Test("The full cards have no warnings", arguments: [CardFixture.suica, .edy, .fiveSystems])
    func noWarnings(_ fixture: CardFixture) throws {
        let dump = try fixture.dump()
        let decoder = try #require(DecoderRegistry.standard.recognizing(dump).first)
        #expect(try decoder.decode(dump).warnings.allSatisfy { $0 == .doubtfulValues })
    }

    @Test("The Suica is as large as a real one")
    func suicaSize() throws {
        let dump = try CardFixture.suica.dump()
        #expect(dump.systems.map(\.systemCode.description) == ["0003", "FE00", "86A7"])
        #expect(dump.systems.map(\.idm.systemNumber) == [0, 1, 2])
        #expect(dump.systems.reduce(0) { $0 + $1.areas.count - 1 + $1.services.count } == 79)
        #expect(dump.systems.flatMap(\.services).reduce(0) { $0 + $1.blocks.count } == 138)
    }

    @Test("Every area lies within the one around it, and every service within an area", arguments: CardFixture.all)
    func nesting(_ fixture: CardFixture) throws {
        for system in try fixture.dump().systems where !system.areas.isEmpty {
            #expect(system.areas.first?.start == .root)
            for (place, area) in system.areas.enumerated() {
                for earlier in system.areas[..<place] {
                    let inside = earlier.start < area.start && area.end <= earlier.end
                    #expect(inside || earlier.end < area.start)
                }
            }
            for service in system.services where service.code.kind != nil {
                #expect(service.blocks.isEmpty || !service.code.requiresAuthentication)
                #expect(service.state == .keyRequired || !service.code.requiresAuthentication)
            }
            #expect(system.services.map(\.code) == system.services.map(\.code).sorted())
        }
    }

    @Test("The Lite-S has a right attribute block, the message it announces, and no card key")
    func lite() throws {
        let blocks = try #require(
            try CardFixture(name: "felica-lite-s").dump().blocks(.lite, ServiceCode(rawValue: 0xB)))
        let attribute = try #require(blocks[0])
        #expect(attribute.bytes.prefix(14).reduce(0) { $0 + UInt16($1) } == attribute.uint16(at: 14, .big))
        let length = Int(attribute.uint24(at: 11, .big))
        let message = (1...13).flatMap { blocks[$0]?.bytes ?? [] }
        #expect(Array(message.prefix(length).suffix(27)) == Array("Hold a card over the reader".utf8))
        #expect(message.dropFirst(length).allSatisfy { $0 == 0 })
        #expect(blocks[0x87] == nil)
        #expect(blocks[0x82]?.bytes.prefix(8) == blocks[0x83]?.bytes.prefix(8))
    }
}

extension CardReport {
    /// An element of `reports` in `report.json`: what is not in the other two documents.
    fileprivate var expectedForm: JSONValue {
        [
            "card": .string(kind.rawValue),
            "name": .string(name.english),
            "fields": .array(
                fields.map {
                    ["key": .string($0.key), "value": .string($0.value), "personal": .bool($0.isPersonal)]
                }),
            "warnings": .array(warnings.map { .string($0.rawValue) }),
        ]
    }
}
