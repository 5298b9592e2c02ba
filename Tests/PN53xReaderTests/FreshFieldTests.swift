// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// The first look after the field came on.
@Suite(.waits)
struct FreshFieldTests {
    private static func slowCard() throws -> VirtualFeliCaCard {
        let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)
        var profile = CardProfile(pmm: pmm)
        profile.startupTime = .milliseconds(20)
        return VirtualFeliCaCard(
            systems: [VirtualSystem(code: .transit, idm: IDm(rawValue: 0x0101_0312_3456_7890), pmm: pmm)],
            profile: profile)
    }

    /// Real cards need up to 20 ms after they got power.
    @Test(arguments: Way.allCases) func findsASlowCardAtTheFirstAttempt(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.slowCard())
        #expect(try bench.activate() != nil)
        // The field stays on from then on.
        let before = bench.hostCommands
        #expect(try bench.activate(.ndef) == nil)
        #expect(bench.hostCommands == before + 1)
    }

    /// A search that the caller repeats itself is not repeated by the driver; the field is on for the next one.
    @Test(arguments: Way.allCases) func followedSearchIsSentOnce(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.slowCard())
        #expect(try bench.reader.look(for: .felica(.transit), isFollowed: true) == nil)
        #expect(bench.field.statistics.exchanges == 1)
        bench.field.pass(.milliseconds(20))
        #expect(try bench.reader.look(for: .felica(.transit), isFollowed: true) != nil)
        #expect(bench.field.statistics.exchanges == 2)
    }

    /// PN532 boards miss the first requests for type B.
    @Test(arguments: Way.allCases) func requestsTypeBThreeTimes(_ way: Way) throws {
        let missed = InjectedFaultRule(.silence, .during(1...2), command: 0x05)
        let bench = try Bench(way, card: try ISO14443Tests.cardB(), faults: [missed])
        #expect(try bench.activate() == nil)
        #expect(try bench.reader.activate(.typeB()) != nil)
        // FeliCa is asked for once a command, as before.
        let before = bench.field.statistics.exchanges
        #expect(try bench.activate() == nil)
        #expect(bench.field.statistics.exchanges == before + 1)
    }
}
