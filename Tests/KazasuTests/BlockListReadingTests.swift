// SPDX-License-Identifier: Apache-2.0

import KazasuTesting
import TestSupport
import Testing

/// Blocks of several services at once: whatever the card's and the reader's limits, the caller gives one list.
struct BlockListReadingTests {
    /// Every FeliCa card among the fixtures.
    static let cards = TestFiles.names(in: "Fixtures/cards").filter { name in
        guard let bytes = try? TestFiles.read("Fixtures/cards/\(name)/card.json"),
            let card = try? virtualReader(cards: bytes).waitForCard(.feliCa, timeout: .zero)
        else { return false }
        return card.feliCaSystem != nil
    }

    @Test("Gives what a dump of the card has", arguments: cards, [255, 77, 45])
    func wholeCard(_ name: String, _ longest: Int) throws {
        let bytes = try TestFiles.read("Fixtures/cards/\(name)/card.json")
        let dump = try virtualReader(cards: bytes).waitForCard(.feliCa).dump().get()
        let cancellation = CancellationToken()
        let reader = InProcessReader(
            try VirtualField(cardFile: bytes),
            information: ReaderInformation(id: "narrow", name: "Narrow", longestFeliCaAnswer: longest),
            cancellation: cancellation)
        var count = 0
        for system in dump.systems {
            let target = try #require(try reader.activateFeliCa(systems: [system.systemCode]))
            let list = system.services.filter { $0.state == .read && !$0.blocks.isEmpty }.map { service in
                (service.code, service.blocks.map(\.number))
            }
            let read = try FeliCaSystem(channel: reader, target: target).read(
                Dictionary(list, uniquingKeysWith: { first, _ in first }))
            for (service, numbers) in list {
                for number in numbers {
                    #expect(read[service]?[number] == system.services.first { $0.code == service }?.blocks[number])
                    count += 1
                }
            }
        }
        #expect(count > 0)
    }

    private static func suica(_ faults: InjectedFaults = []) throws -> (FeliCaSystem, VirtualField) {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/cards/suica-p1/card.json"))
        let reader = CardReader(InProcessReader(field), cancellation: CancellationToken())
        let system = try #require(try reader.pollFeliCa([.transit]))
        field.plan(faults)
        return (system, field)
    }

    private static let (attributes, history) = (ServiceCode(rawValue: 0x008B), ServiceCode(rawValue: 0x090F))

    @Test func errors() throws {
        let (system, _) = try Self.suica()
        #expect(try system.read([Self.history: [UInt16]()]) == [Self.history: [:]])
        #expect(try system.read([Self.history: [3, 3]])[Self.history]?.count == 1)
        for (service, block) in [(Self.history, 99), (ServiceCode(rawValue: 0x7F0F), 0)] as [(ServiceCode, UInt16)] {
            #expect {
                try system.read([Self.attributes: [0], service: [block]])
            } throws: { error in
                if case FeliCaError.status = error { true } else { false }
            }
        }
    }

    @Test("A card that left is an error after few commands")
    func leaves() throws {
        let (system, field) = try Self.suica(.cardAway(from: 2))
        #expect(throws: FeliCaError.transport(.noAnswer)) { try system.read([Self.history: 0..<20]) }
        #expect(field.statistics.exchanges <= 8)
    }

    @Test("More nodes than one command has room for", arguments: [1, 32, 33, 67, 300])
    func nodes(_ count: Int) throws {
        let (system, field) = try Self.suica()
        let before = field.statistics.exchanges
        let codes = (0..<count).map { NodeCode(rawValue: $0 % 3 == 0 ? 0x090F : 0x0FC0 &+ UInt16($0 % 60)) }
        let versions = try system.requestService(codes)
        #expect(versions.count == count)
        for (place, version) in versions.enumerated() where place % 3 == 0 { #expect(version != nil) }
        #expect(field.statistics.exchanges - before == (count + 31) / 32)
    }
}
