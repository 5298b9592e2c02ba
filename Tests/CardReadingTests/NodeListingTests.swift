// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import Testing
import VirtualReader

/// How the nodes are found when the card does not answer Search Service Code.
struct NodeListingTests {
    static func scan(silent: String) throws -> SystemScan? {
        let file = """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01188b868fbecbff",
             "systems": [{"code": "0003", "keyVersion": "0001", "nodes": ["0040-07FF", "0048", "1000-17FF"],
             "blocks": {"008B": 1, "090F": 20, "100B": 2}}], "virtual": {"silent": [\(silent)]}}
            """
        let reader = InProcessReader(try VirtualCardFile.load(Array(file.utf8)))
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        let outcome = CardScanner(session: CardSession(reader: reader, target: target)).scan()
        #expect(outcome.interruption == nil)
        return outcome.systems.first
    }

    @Test(arguments: [("", NodeListing.searchServiceCode), ("\"0A\"", .requestCodeList)])
    func cardThatListsItsServicesGivesAll(_ silent: String, _ listing: NodeListing) throws {
        let scan = try #require(try Self.scan(silent: silent))
        #expect(scan.listing == listing)
        #expect(Set(scan.services.map(\.rawValue)) == [0x0048, 0x008B, 0x090F, 0x100B])
        #expect(Set(scan.areas.map(\.rawValue)) == [0x0000, 0x0040, 0x1000])
        #expect(scan.nodes.first { $0.code.rawValue == 0x0048 }?.depth == 2)
    }

    @Test(arguments: [("\"0A\", \"1A\"", NodeListing.requestService), ("\"0A\", \"1A\", \"02\"", .readProbe)])
    func fallsBackToKnownServices(_ silent: String, _ listing: NodeListing) throws {
        let scan = try #require(try Self.scan(silent: silent))
        #expect(scan.listing == listing)
        #expect(!scan.listing.isComplete)
        #expect(Set([0x008B, 0x090F]).isSubset(of: scan.services.map(\.rawValue)))
        // No source knows 100B of system 0003, so it cannot be found.
        #expect(!scan.services.map(\.rawValue).contains(0x100B))
    }
}
