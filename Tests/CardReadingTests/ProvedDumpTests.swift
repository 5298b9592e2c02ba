// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Dumps of cards with the systems and nodes of known ones, whose lists are proved.
struct ProvedDumpTests {
    static let names = ["ft-02", "ft-08", "ft-24"]

    /// A session with a listed card, whose open services have two blocks each.
    private static func session(
        _ name: String, faults: InjectedFaults = InjectedFaults()
    ) throws -> (session: CardSession, field: VirtualField) {
        let card = try #require(ListedCard.all.first { $0.name == name })
        let systems = card.systems.map { system in
            let nodes = system.nodes.map { node in
                let code = NodeCode(rawValue: node.code).description
                return "\"" + (node.end.map { "\(code)-\(NodeCode(rawValue: $0))" } ?? code) + "\""
            }
            let open = system.nodes.filter { !$0.isArea && $0.code & 1 == 1 }.map {
                "\"\(NodeCode(rawValue: $0.code))\": 2"
            }
            return """
                {"code": "\(system.code)", "keyVersion": "0001", "nodes": [\(nodes.joined(separator: ","))],
                 "blocks": {\(open.joined(separator: ","))}}
                """
        }
        let text = """
            {"schema": "kazasu.card/1", "idm": "0101031234567890", "pmm": "0120220427674eff",
             "systems": [\(systems.joined(separator: ","))]}
            """
        let field = VirtualField(cards: [try VirtualCardFile.load(Array(text.utf8))], faults: faults)
        let reader = InProcessReader(field)
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        return (CardSession(reader: reader, target: target), field)
    }

    /// Wherever the card leaves, the dump is marked as incomplete and contains nothing else than the card; continued with
    /// the card put back, it is the whole one.
    @Test(arguments: names) func resumesAfterEveryExchange(_ name: String) throws {
        let (session, field) = try Self.session(name)
        let whole = CardDumper(session: session).dump()
        #expect(whole.interruption == nil && whole.scans.allSatisfy { $0.isProved })
        let walked = CardDumper(session: try Self.session(name).session, layouts: .none).dump()
        #expect(walked.dump == whole.dump)
        for moment in 2...field.statistics.exchanges {
            let part = CardDumper(session: try Self.session(name, faults: .cardAway(from: moment)).session).dump()
            #expect(part.interruption == .cardLost, "\(moment)")
            #expect(!part.dump.isComplete && !part.dump.missing.isEmpty, "\(moment)")
            for system in part.dump.systems {
                let all = try #require(whole.dump.system(system.systemCode))
                for service in system.services {
                    let same = try #require(all.services.first { $0.code == service.code }, "\(moment)")
                    for (number, block) in service.blocks { #expect(same.blocks[number] == block, "\(moment)") }
                }
            }
            let rest = CardDumper(session: try Self.session(name).session, resuming: part.dump).dump()
            #expect(rest.dump.isComplete, "\(moment)")
            #expect(rest.dump.systems == whole.dump.systems, "\(moment)")
        }
    }
}
