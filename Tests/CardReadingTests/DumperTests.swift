// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ReaderCore
import Testing
import VirtualReader

struct DumperTests {
    /// Cards that list their own services; the others give what is known of them.
    static let listing = ["suica-p1", "edy", "felica-lite-s", "five-systems"]

    @Test(arguments: listing)
    func dumpContainsEveryReadableBlock(_ name: String) throws {
        let fixture = try Fixture(name)
        let outcome = CardDumper(session: try fixture.session()).dump()
        #expect(outcome.interruption == nil)
        #expect(outcome.dump.isComplete)
        #expect(outcome.dump.missing.isEmpty)
        #expect(outcome.dump.systems.count == fixture.dump.systems.count)
        for (place, blocks) in Fixture.blocks(of: outcome.dump) {
            guard let expected = fixture.readableBlocks[place] else { continue }
            #expect(blocks == expected, "\(place)")
        }
        let total = outcome.dump.systems.flatMap(\.services).reduce(0) { $0 + $1.blocks.count }
        #expect(total > 0)
    }

    @Test func readsATransitCardInFewCommands() throws {
        let fixture = try Fixture("suica-p1")
        let outcome = CardDumper(session: try fixture.session()).dump()
        let blocks = outcome.dump.systems.flatMap(\.services).reduce(0) { $0 + $1.blocks.count }
        #expect(blocks == fixture.readableBlocks.values.reduce(0) { $0 + $1.count })
        #expect(blocks >= 138)
        #expect(fixture.field.statistics.count(of: 0x06) <= 40)
        #expect(fixture.field.statistics.exchanges <= 118)
    }

    @Test(arguments: [("suica-p1", 1), ("five-systems", 1), ("five-systems", 2), ("suica-p1", 3)])
    func overlappedServicesAreReadOnce(_ name: String, _ seed: Int) throws {
        let outcome = CardDumper(session: try Fixture(name).session()).dump()
        for system in outcome.dump.systems {
            var groups: Set<UInt16> = []
            for service in system.services where !service.blocks.isEmpty {
                #expect(groups.insert(service.code.overlapGroup).inserted)
            }
        }
    }

    /// Whatever exchange the card leaves at, the dump says what is missing, and going on with it ends with the same
    /// document as a dump that nothing disturbed.
    @Test(arguments: ["suica-p1", "five-systems", "felica-lite-s", "edy"])
    func resumesADumpAfterEveryExchange(_ name: String) throws {
        let whole = try Fixture(name)
        let undisturbed = CardDumper(session: try whole.session()).dump().dump
        let exchanges = whole.field.statistics.exchanges
        #expect(exchanges > 3)
        for moment in 2...exchanges {
            let fixture = try Fixture(name, faults: .cardAway(from: moment))
            let session = try fixture.session()
            let first = CardDumper(session: session).dump()
            #expect(first.interruption == .cardLost, "\(moment)")
            #expect(!first.dump.isComplete, "\(moment)")
            #expect(!first.dump.missing.isEmpty, "\(moment)")
            fixture.field.plan(InjectedFaults())
            let again = try fixture.session()
            let resuming = CardDumper(session: again, resuming: try CardDump(json: first.dump.json))
            #expect(resuming.isSameCard(first.dump))
            let second = resuming.dump()
            #expect(second.interruption == nil, "\(moment)")
            #expect(second.dump == undisturbed, "\(moment)")
        }
    }

    /// Several interruptions in a row.
    @Test func resumesADumpRepeatedly() throws {
        let undisturbed = CardDumper(session: try Fixture("suica-p1").session()).dump().dump
        let fixture = try Fixture("suica-p1")
        var dump: CardDump?
        for _ in 0..<40 {
            let start = fixture.field.statistics.exchanges
            fixture.field.plan(.cardAway(from: start + 12))
            let session = try fixture.session()
            let outcome = CardDumper(session: session, resuming: dump).dump()
            dump = outcome.dump
            if outcome.interruption == nil { break }
            fixture.field.plan(InjectedFaults())
        }
        fixture.field.plan(InjectedFaults())
        let last = CardDumper(session: try fixture.session(), resuming: dump).dump()
        #expect(last.dump == undisturbed)
    }

    @Test(arguments: [2, 3, 5, 7, 11], [0x02 as UInt8, 0x03, 0x05])
    func damagedAnswersAreAskedForAgain(_ period: Int, _ status: UInt8) throws {
        let undisturbed = CardDumper(session: try Fixture("suica-p1").session()).dump().dump
        let fixture = try Fixture("suica-p1")
        let session = try fixture.session()
        fixture.field.plan([InjectedFaultRule(.damaged(status: status), .every(period))])
        let outcome = CardDumper(session: session).dump()
        #expect(outcome.interruption == nil)
        #expect(outcome.dump == undisturbed)
    }

    @Test(arguments: [
        InjectedFault.otherIDm, .wrongResponseCode, .wrongCount, .truncated(to: 9), .lengthened(by: [0]), .silence,
    ])
    func toleratesOneBadAnswerAnywhere(_ fault: InjectedFault) throws {
        let whole = try Fixture("edy")
        let undisturbed = CardDumper(session: try whole.session()).dump().dump
        for moment in 2...whole.field.statistics.exchanges {
            let fixture = try Fixture("edy")
            let session = try fixture.session()
            fixture.field.plan(.once(fault, at: moment))
            let outcome = CardDumper(session: session).dump()
            if outcome.interruption == nil {
                let dump = outcome.dump
                #expect(Fixture.blocks(of: dump) == Fixture.blocks(of: undisturbed), "\(moment)")
            } else {
                Issue.record("\(fault) at \(moment): \(String(describing: outcome.interruption))")
            }
        }
    }

    @Test(arguments: [InjectedFault.damaged(status: 2), .otherIDm, .wrongResponseCode, .truncated(to: 9)])
    func lastingFaultsEndTheDumpAndAreReported(_ fault: InjectedFault) throws {
        let fixture = try Fixture("suica-p1")
        let session = try fixture.session()
        fixture.field.plan([InjectedFaultRule(fault, .during(60...1_000_000))])
        let outcome = CardDumper(session: session).dump()
        #expect(outcome.interruption != nil)
        #expect(!outcome.dump.isComplete)
        #expect(fixture.field.statistics.exchanges < 90)
    }

    @Test func selectionReadsNothingElse() throws {
        let fixture = try Fixture("suica-p1")
        let selection = DumpSelection(systems: [.transit], services: [ServiceCode(rawValue: 0x090F)])
        let outcome = CardDumper(session: try fixture.session(), selection: selection).dump()
        #expect(outcome.dump.systems.map(\.systemCode) == [.transit])
        #expect(outcome.dump.systems.first?.services.map(\.code) == [ServiceCode(rawValue: 0x090F)])
        #expect(outcome.dump.systems.first?.services.first?.blocks.count == 20)
        #expect(fixture.field.statistics.count(of: 0x0A) == 0)
        #expect(fixture.field.statistics.exchanges <= 5)
    }

    @Test func sendsShortCommandsToAReaderWithShortAnswers() throws {
        let fixture = try Fixture("suica-p1")
        let outcome = CardDumper(session: try fixture.session(longestAnswer: 64)).dump()
        #expect(outcome.interruption == nil)
        #expect(Fixture.blocks(of: outcome.dump) == fixture.readableBlocks)
    }
}
