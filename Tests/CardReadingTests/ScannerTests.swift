// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import Testing
import VirtualReader

struct ScannerTests {
    @Test(arguments: Fixture.names)
    func everyNodeOfTheCardIsFound(_ name: String) throws {
        let fixture = try Fixture(name)
        let outcome = CardScanner(session: try fixture.session()).scan()
        #expect(outcome.interruption == nil)
        #expect(Set(outcome.systems.map(\.system.code)) == Set(fixture.dump.systems.map(\.systemCode)))
        for scan in outcome.systems where scan.listing.isComplete {
            let expected = try #require(fixture.dump.system(scan.system.code))
            #expect(scan.system.idm == expected.idm)
            #expect(Set(scan.services) == Set(expected.services.map(\.code)))
            if scan.listing == .searchServiceCode {
                #expect(Set(scan.areas) == Set(expected.areas.map(\.start)))
                for service in expected.services {
                    let node = scan.nodes.first { $0.code == service.code.node }
                    #expect(node?.keyVersion == service.keyVersion)
                }
            }
        }
    }

    @Test func nestingIsRebuiltFromTheEndCodes() throws {
        let outcome = CardScanner(session: try Fixture("suica-p1").session()).scan()
        let nodes = try #require(outcome.systems.first).nodes
        var open: [(end: UInt16, depth: Int)] = []
        for node in nodes {
            while let last = open.last, last.end < node.code.rawValue { open.removeLast() }
            #expect(node.depth == open.count)
            if case .area(_, let end) = node.kind { open.append((end.rawValue, node.depth)) }
        }
        #expect(nodes.contains { $0.depth >= 2 })
    }

    @Test func findsUnlistedSystems() throws {
        let outcome = CardScanner(session: try Fixture("five-systems").session()).scan()
        #expect(outcome.systems.map(\.system.code).contains(.ndef))
        #expect(outcome.systems.map(\.system.code).contains(.secureID))
    }

    @Test func liteHasAFixedLayout() throws {
        let fixture = try Fixture("felica-lite-s")
        let outcome = CardScanner(session: try fixture.session()).scan()
        #expect(outcome.systems.allSatisfy { $0.listing == .fixedLayout })
        #expect(fixture.field.statistics.count(of: 0x0A) == 0)
        #expect(fixture.field.statistics.count(of: 0x02) == 0)
    }

    @Test func scansKnownServicesWithoutSearchServiceCode() throws {
        let outcome = CardScanner(session: try Fixture("awkward").session()).scan()
        let octopus = try #require(outcome.systems.first { $0.system.code == .octopus })
        #expect(!octopus.listing.isComplete)
        #expect(octopus.services.contains(ServiceCode(rawValue: 0x0117)))
    }

    @Test func interruptedScanKeepsItsResults() throws {
        let fixture = try Fixture("suica-p1", faults: .cardAway(from: 30))
        let outcome = CardScanner(session: try fixture.session()).scan()
        #expect(outcome.interruption == .cardLost)
        #expect(outcome.systems.count == 1)
        #expect((outcome.systems.first?.nodes.count ?? 0) > 20)
    }
}

extension SystemScan {
    var areas: [AreaCode] {
        nodes.compactMap { if case .area(let start, _) = $0.kind { start } else { nil } }
    }
}
