// SPDX-License-Identifier: Apache-2.0

import Arrivals
import CardModel
import CardReading
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// A card with two purses that comes at any moment of a search: the caller's first code wins.
struct ArrivalTests {
    /// A card with system 0003 and, as another purse, FE00.
    static func twoPurses(startup: Duration = .zero) -> VirtualFeliCaCard {
        let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)
        var profile = CardProfile(pmm: pmm)
        profile.startupTime = startup
        let idm = IDm(rawValue: 0x0101_0312_3456_7890)
        return VirtualFeliCaCard(
            systems: [
                VirtualSystem(code: .transit, idm: idm, pmm: pmm),
                VirtualSystem(code: .commonArea, idm: idm.inSystem(1), pmm: pmm),
            ], profile: profile)
    }

    /// A search on the field's own clock.
    private static func clock(_ field: VirtualField) -> SearchClock {
        SearchClock(now: { field.now }, pause: { field.pass($0) })
    }

    private static let codes: [[SystemCode]] = [
        [.transit, .commonArea, .any], [.commonArea, .transit], [.lite, .transit, .commonArea],
        [.ndef, .commonArea, .any],
    ]

    /// Also where the implied last Polling, for any system, is the first that the card hears.
    @Test(arguments: codes, [[FeliCaBitRate.kbps212, .kbps424], [.kbps424, .kbps212]])
    func firstCodeWinsWhenTheCardArrivesBeforeAnyFrame(
        _ codes: [SystemCode], _ bitRates: [FeliCaBitRate]
    ) throws {
        let expected = codes.first { [.transit, .commonArea].contains($0) }
        for frame in 1...120 {
            let field = VirtualField(cards: [Self.twoPurses()], faults: .cardAway(from: 1, until: frame))
            let reader = InProcessReader(
                field, information: ReaderInformation(id: "test", name: "test", feliCaBitRates: bitRates))
            let finding = try CardFinder(reader: reader).find(
                codes, for: CardWait(.seconds(5), clock: Self.clock(field)))
            guard case .found(let found) = finding, let code = found.system else {
                Issue.record("frame \(frame): \(finding)")
                continue
            }
            #expect(code == expected, "frame \(frame)")
        }
    }

    /// A card that lies there and needs some time after the field came on.
    @Test(arguments: codes) func firstCodeWinsForAnInitiallySilentCard(_ codes: [SystemCode]) throws {
        let expected = codes.first { [.transit, .commonArea].contains($0) }
        for step in 0...240 {
            let field = VirtualField(cards: [Self.twoPurses(startup: .microseconds(250 * step))])
            let finding = try CardFinder(reader: InProcessReader(field))
                .find(codes, for: CardWait(.seconds(5), clock: Self.clock(field)))
            guard case .found(let found) = finding, let code = found.system else {
                Issue.record("\(step): \(finding)")
                continue
            }
            #expect(code == expected, "deaf for \(step) quarters of a millisecond")
        }
    }

    /// The order of speeds, kinds of card and systems that `dump` looks in.
    @Test func firstTechnologyWins() throws {
        let requests: [ActivationRequest] = [
            .felica(.transit), .felica(.any), .felica(.transit, bitRate: .kbps424), .typeA(), .typeB(),
        ]
        for frame in 1...80 {
            let cards = try VirtualCardFile.loadCards(TestFiles.read("Fixtures/virtual/phone.json"))
            let field = VirtualField(cards: cards, faults: .cardAway(from: 1, until: frame))
            let found = try CardFinder(reader: InProcessReader(field)).findFirst(
                requests, for: CardWait(.seconds(5), clock: Self.clock(field)))
            guard case .felica(.transit, _, _, _)? = found?.request else {
                Issue.record("frame \(frame): \(String(describing: found))")
                continue
            }
        }
    }

    /// Whatever answers first, all kinds that a phone is are found.
    @Test(arguments: [[Technology.felica, .typeA, .typeB], [.typeB, .typeA, .felica]])
    func findsAllTechnologiesTogether(_ technologies: [Technology]) throws {
        for frame in 1...80 {
            let cards = try VirtualCardFile.loadCards(TestFiles.read("Fixtures/virtual/phone.json"))
            let field = VirtualField(cards: cards, faults: .cardAway(from: 1, until: frame))
            let found = try CardFinder(reader: InProcessReader(field)).findAll(
                technologies, for: CardWait(.seconds(5), clock: Self.clock(field)))
            #expect(found.map(\.technology) == technologies, "frame \(frame)")
        }
    }

    /// A card that is there, and one of whose systems answers, is still the card when another answer of it is lost.
    @Test func lostAnswerSelectsNoOtherPurse() throws {
        for seed in 0..<500 as Range<UInt64> {
            let field = VirtualField(
                cards: [Self.twoPurses()],
                faults: [InjectedFaultRule(.damaged(status: 0x02), .random(perThousand: 100, seed: seed))])
            let finding = try CardFinder(reader: InProcessReader(field))
                .find([.transit, .commonArea, .any], for: CardWait(.seconds(5), clock: Self.clock(field)))
            guard case .found(let found) = finding, found.system == .transit else {
                Issue.record("seed \(seed): \(finding)")
                continue
            }
        }
    }

    @Test func arrivalsAtRandomMoments() throws {
        let field = try VirtualField(cardFile: TestFiles.read("Fixtures/felica/two-purses.json"))
        let reader = InProcessReader(field)
        #expect(ArrivalSoak.breaches(reader, arrivals: ArrivalSoak.arrivals, clock: Self.clock(field)) == [])
    }
}
