// SPDX-License-Identifier: Apache-2.0

import Arrivals
import CardModel
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import CardReading

/// A card's own time is measured, and decides what is asked of it.
struct CardPaceTests {
    /// A scan of a card that takes this share of its limits, and what the field counted.
    static func scan(
        _ card: ListedCard, answerTime percent: Int, _ layouts: CardLayouts, isMeasured: Bool = true
    ) throws -> (systems: [SystemScan], time: Duration, pace: CardPace) {
        let usual = try card.virtual()
        var profile = usual.profile
        profile.answerTimePercent = percent
        let virtual = VirtualFeliCaCard(systems: usual.systems, profile: profile)
        let field = VirtualField(cards: [virtual])
        let reader = InProcessReader(field)
        guard case .found(let found) = try CardFinder(reader: reader).find([.any], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        let session = CardSession(reader: reader, target: target, clock: isMeasured ? .of(field) : nil)
        let result = CardScanner(session: session, layouts: layouts, random: SeededGenerator(seed: 1)).scan()
        #expect(result.interruption == nil)
        return (result.systems, field.statistics.time, session.pace)
    }

    /// Each list, and the layouts of the others: what is predicted is partly wrong.
    static let unknown: [(card: ListedCard, layouts: CardLayouts)] = ListedCard.all.enumerated().map { number, card in
        var others = ListedCard.all
        others.remove(at: number)
        return (card, ListedCard.layouts(of: others))
    }

    /// The virtual card takes a share of its limits.
    @Test(arguments: [1, 10, 30, 100]) func measuresTheCardsOwnTime(_ percent: Int) throws {
        let card = try #require(ListedCard.all.first)
        let pace = try Self.scan(card, answerTime: percent, .shipped).pace
        for kind in [ResponseTime.CommandClass.fixed, .variable] {
            // A card's least limit for commands of constant work is more than what its PMm says.
            #expect((0.5...1.2).contains(pace.factor(of: kind) * 10 / Double(max(percent, 10))) || percent < 10)
        }
        #expect(percent > 1 || pace.factor(of: .fixed) < 0.2)
    }

    /// Nothing is measured without a clock, and before there are two answers.
    @Test func expectsATenthOfTheLimits() throws {
        let card = try #require(ListedCard.all.first)
        #expect(try Self.scan(card, answerTime: 100, .shipped, isMeasured: false).pace == CardPace())
        #expect(CardPace().factor(of: .variable) == 1)
        let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)
        var pace = CardPace()
        let search: [UInt8] = [0x0C, 0x0A] + Array(repeating: 0, count: 10)
        pace.didAnswer(search, 14, took: .milliseconds(20), pmm: pmm, at: .kbps212)
        #expect(pace.factor(of: .fixed) == 1)
        #expect(ExchangeTime(pmm, at: .kbps212, pace) == ExchangeTime(pmm, at: .kbps212))
        // The first one may include a change of the line's speed.
        pace.didAnswer(search, 14, took: .milliseconds(3), pmm: pmm, at: .kbps212)
        #expect(pace.factor(of: .fixed) > 1 && pace.factor(of: .fixed) < 10)
    }

    /// Proof or walk: another choice on a slow card, with the same result, each time.
    @Test func choosesByTheCardsOwnTime() throws {
        var flipped: [String] = []
        var (measured, expected) = (Duration.zero, Duration.zero)
        for (card, layouts) in Self.unknown {
            let fast = try Self.scan(card, answerTime: 1, layouts)
            let slow = try Self.scan(card, answerTime: 100, layouts)
            #expect(fast.systems.map(\.nodes) == slow.systems.map(\.nodes))
            if fast.systems.map(\.isProved) != slow.systems.map(\.isProved) {
                flipped.append(card.name)
                #expect(try Self.scan(card, answerTime: 100, layouts).systems == slow.systems)
            }
            measured += slow.time
            expected += try Self.scan(card, answerTime: 100, layouts, isMeasured: false).time
        }
        #expect(!flipped.isEmpty)
        #expect(measured < expected, "\(measured) for \(expected)")
    }
}
