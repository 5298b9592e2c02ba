// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Cards that no standard knows: reading them always ends, and never invents anything.
struct OddCardTests {
    private static func card(_ name: String) throws -> VirtualFeliCaCard {
        try VirtualCardFile.load(TestFiles.read("Fixtures/cards/\(name)/card.json"))
    }

    private static func dump(_ card: TamperedCard) throws -> DumpOutcome {
        let reader = InProcessReader(VirtualField(cards: [card]))
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        return CardDumper(session: CardSession(reader: reader, target: target)).dump()
    }

    private static func answer(_ command: [UInt8], _ parameters: [UInt8]) -> CardAnswer {
        CardAnswer([UInt8(parameters.count + 10), command[1] + 1] + command[2..<10] + parameters)
    }

    @Test func stopsAnEndlessServiceList() throws {
        let card = TamperedCard(try Self.card("edy")) { command, answer in
            guard command.count == 12, command[1] == 0x0A else { return answer }
            let index = UInt16(command[10]) | UInt16(command[11]) << 8
            let code = index << 6 | 0x08
            return Self.answer(command, [UInt8(code & 0xFF), UInt8(code >> 8)])
        }
        let outcome = try Self.dump(card)
        #expect(outcome.interruption == nil)
        #expect(card.exchanges < 10_000)
    }

    @Test func stopsARepeatingServiceList() throws {
        let card = TamperedCard(try Self.card("edy")) { command, answer in
            command[1] == 0x0A ? Self.answer(command, [0x0B, 0x11]) : answer
        }
        let outcome = try Self.dump(card)
        #expect(outcome.dump.systems.first?.services.map(\.code) == [ServiceCode(rawValue: 0x110B)])
        #expect(card.exchanges < 60)
    }

    @Test func readsAnEndlessServiceToTheLastBlockNumber() throws {
        let card = TamperedCard(try Self.card("edy")) { command, answer in
            guard command[1] == 0x06, command.count > 14 else { return answer }
            let elements = command[13 + Int(command[10] - 1) * 2]
            return Self.answer(command, [0, 0, elements] + [UInt8](repeating: 0xA5, count: 16 * Int(elements)))
        }
        let outcome = try Self.dump(card)
        #expect(outcome.interruption == nil)
        for service in outcome.dump.systems.flatMap(\.services) where service.state == .read {
            #expect(service.blocks.count == 65_536)
        }
    }

    /// Refuses batches with a place that single reads then contradict.
    @Test(arguments: [0x01 as UInt8, 0x02, 0x04, 0x05, 0x08, 0x0F, 0x40, 0xFF, 0x00])
    func contradictingStatusFlagsDoNotLoop(_ flag1: UInt8) throws {
        let card = TamperedCard(try Self.card("suica-p1")) { command, answer in
            guard command[1] == 0x06, command.count > 18 else { return answer }
            return Self.answer(command, [flag1, 0xA8])
        }
        let outcome = try Self.dump(card)
        #expect(outcome.interruption == nil)
        #expect(card.exchanges < 1500)
    }

    /// Every read is refused, in every way.
    @Test(arguments: [0xA1 as UInt8, 0xA2, 0xA4, 0xA5, 0xA6, 0xA8, 0xB1, 0xFF, 0x70, 0x00, 0x71])
    func endsWhenEverythingIsRefused(_ flag2: UInt8) throws {
        let card = TamperedCard(try Self.card("suica-p1")) { command, answer in
            command[1] == 0x06 ? Self.answer(command, [0x01, flag2]) : answer
        }
        let outcome = try Self.dump(card)
        #expect(outcome.dump.systems.flatMap(\.services).allSatisfy { $0.blocks.isEmpty })
        #expect(card.exchanges < 700)
    }

    @Test(arguments: [0x02 as UInt8, 0x06, 0x0A, 0x0C])
    func readsACardThatIgnoresOneCommand(_ code: UInt8) throws {
        let card = TamperedCard(try Self.card("five-systems")) { command, answer in
            command[1] == code ? nil : answer
        }
        let outcome = try Self.dump(card)
        #expect(outcome.interruption == nil)
        #expect(!outcome.dump.systems.isEmpty)
        #expect(card.exchanges < 4000)
    }

    @Test func silenceOnBlocksThatDoNotExistDoesNotEndTheDump() throws {
        let card = TamperedCard(try Self.card("suica-p1")) { command, answer in
            guard command[1] == 0x06, let frame = answer?.frame, frame.count > 11, frame[10] != 0 else { return answer }
            return nil
        }
        let outcome = try Self.dump(card)
        #expect(outcome.interruption == nil)
        #expect(Fixture.blocks(of: outcome.dump) == (try Fixture("suica-p1").readableBlocks))
    }

    /// A card that goes silent, and not just refuses, when too much is asked of it.
    @Test(arguments: [15, 12, 8, 4, 1])
    func learnsFromSilenceOnLongCommands(_ limit: Int) throws {
        let random = try RandomCard(seed: 4, style: "ordinal", limit: 15)
        let card = TamperedCard(random.card) { command, answer in
            guard command[1] == 0x06, command.count > 14 else { return answer }
            return Int(command[13 + Int(command[10] - 1) * 2]) > limit ? nil : answer
        }
        let outcome = try Self.dump(card)
        #expect(outcome.interruption == nil)
        for (code, blocks) in random.blocks where !blocks.isEmpty {
            #expect(outcome.dump.systems.first?.service(code)?.blocks == blocks)
        }
    }

    /// Any bytes as answers, to any command but Polling: an end, and no blocks that nobody sent.
    @Test(arguments: 0..<40)
    func garbageEnds(_ seed: Int) throws {
        var random = RandomCard.Generator(state: UInt64(seed))
        let card = TamperedCard(try Self.card("edy")) { command, answer in
            guard command[1] != 0x00 else { return answer }
            var frame = (0..<random.next(40)).map { _ in UInt8(random.next(256)) }
            if frame.count > 1, random.next(2) == 0 {
                frame[0] = UInt8(frame.count)
                frame[1] = command[1] + 1
            }
            if frame.count > 12, random.next(2) == 0 { frame.replaceSubrange(2..<10, with: command[2..<10]) }
            return CardAnswer(frame)
        }
        let outcome = try Self.dump(card)
        #expect(outcome.interruption != nil || card.exchanges > 3)
        #expect(card.exchanges < 3000)
    }

    @Test func distinguishesCardsOfTheSameKind() throws {
        let first = try Self.card("suica-p1")
        let file = """
            {"schema": "kazasu.card/1", "idm": "01010fffffffffff", "pmm": "0120220427674eff",
             "systems": [{"code": "12FC", "blocks": {"000B": 3}}]}
            """
        let second = try VirtualCardFile.load(Array(file.utf8))
        let reader = InProcessReader(VirtualField(cards: [first, second]))
        guard
            case .found(let found) = try CardFinder(reader: reader).find([.transit], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        let outcome = CardDumper(session: CardSession(reader: reader, target: target)).dump()
        #expect(outcome.dump.systems.map(\.systemCode) == [.transit, .commonArea, SystemCode(rawValue: 0x86A7)])
        #expect(outcome.dump.systems.allSatisfy { $0.idm.isSameCard(as: target.idm) })
    }
}
