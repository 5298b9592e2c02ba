// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import VirtualReader

/// A card of `Fixtures/cards` in a field, and sessions with it.
struct Fixture {
    static let names = ["suica-p1", "edy", "felica-lite-s", "five-systems", "awkward"]

    let field: VirtualField
    let dump: CardDump

    init(_ name: String, faults: InjectedFaults = InjectedFaults()) throws {
        let bytes = try TestFiles.read("Fixtures/cards/\(name)/card.json")
        dump = try CardDump(parsing: bytes)
        field = VirtualField(cards: [try VirtualCardFile.load(bytes)], faults: faults)
    }

    init(card: VirtualFeliCaCard, dump: CardDump, faults: InjectedFaults = InjectedFaults()) {
        self.dump = dump
        field = VirtualField(cards: [card], faults: faults)
    }

    /// A reader before the card.
    func reader(longestAnswer: Int = 255) -> InProcessReader {
        InProcessReader(
            field,
            information: ReaderInformation(id: "test", name: "test", longestFeliCaAnswer: longestAnswer))
    }

    /// Finds the card and starts a session with it.
    func session(longestAnswer: Int = 255) throws -> CardSession {
        let reader = reader(longestAnswer: longestAnswer)
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw NoCard() }
        return CardSession(reader: reader, target: target)
    }

    struct NoCard: Error {}

    /// The blocks that the card file says can be read, by system and service; overlapped services only once.
    var readableBlocks: [String: BlockTable] { Fixture.blocks(of: dump) }

    static func blocks(of dump: CardDump) -> [String: BlockTable] {
        var blocks: [String: BlockTable] = [:]
        for system in dump.systems {
            for service in system.services where service.state == .read && !service.blocks.isEmpty {
                blocks["\(system.systemCode)/\(service.code)"] = service.blocks
            }
        }
        return blocks
    }
}
