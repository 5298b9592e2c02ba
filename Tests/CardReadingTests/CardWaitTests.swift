// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Synchronization
import TestSupport
import Testing

@testable import CardReading

/// How a wait is divided, without a reader.
struct CardWaitTests {
    /// A clock whose pauses are over at once.
    private final class Time: Sendable {
        private let time = Mutex(Duration.zero)

        var clock: SearchClock {
            SearchClock(now: { self.time.withLock { $0 } }, pause: { pause in self.time.withLock { $0 += pause } })
        }
    }

    /// A limit in milliseconds, and the slices: their milliseconds, and whether each is a wait of its own or a part.
    static let slices: [(limit: Int?, isPart: Bool, pace: CardWait.Pace, expected: [String])] = [
        (0, false, .attentive, ["0 own"]),
        (300, false, .attentive, ["0 own", "300 own"]),
        (500, false, .attentive, ["0 own", "500 own"]),
        (1200, false, .attentive, ["0 own", "500 part", "500 part", "200 own"]),
        (nil, false, .attentive, ["0 own", "500 part", "500 part", "500 part", "500 part"]),
        (0, true, .attentive, ["0 part"]),
        (1200, true, .attentive, ["500 part", "500 part", "200 part"]),
        (1200, true, .idle, ["750 part", "450 part"]),
    ]

    @Test(arguments: slices)
    func waitsAreDivided(_ row: (limit: Int?, isPart: Bool, pace: CardWait.Pace, expected: [String])) throws {
        let clock = Time().clock
        let limit = row.limit.map { Duration.milliseconds($0) }
        let wait = row.isPart ? CardWait(nil, clock: clock, pace: row.pace).part(limit) : CardWait(limit, clock: clock)
        var (slice, found): (CardWait?, [String]) = (wait.firstSlice, [])
        while let current = slice, found.count < 5 {
            let length = try #require(current.deadline) - clock.now()
            found.append("\(Int(length / .milliseconds(1))) \(current.isPart ? "part" : "own")")
            clock.pause(length)
            slice = wait.nextSlice
        }
        #expect(found == row.expected)
        #expect(wait.isOver == (row.limit != nil))
    }

    @Test func partsKeepOneRhythm() {
        let clock = Time().clock
        let wait = CardWait(nil, clock: clock)
        let (first, second) = (wait.part(.zero), wait.part(.seconds(1)))
        #expect(first.begin() && !second.begin())
        #expect(!second.areOtherSystemsDue(at: .milliseconds(999)))
        #expect(second.areOtherSystemsDue(at: .milliseconds(1000)))
        second.didPollOtherSystems(at: .milliseconds(1000))
        #expect(!first.areOtherSystemsDue(at: .milliseconds(3249)) && first.areOtherSystemsDue(at: .milliseconds(3250)))
        wait.expectOtherSystems()
        #expect(first.areOtherSystemsDue(at: .milliseconds(1001)))
        second.didPollOtherSystems(at: .milliseconds(1001))
        #expect(!first.areOtherSystemsDue(at: .milliseconds(1002)))
        // Another wait has one of its own.
        #expect(CardWait(nil, clock: clock).begin())
    }

    @Test func aWaitBecomesIdleAfterTwoBeats() {
        var wait = CardWait(nil)
        wait.didBeat()
        #expect(wait.pace == .attentive && wait.part(.zero).pace == .attentive)
        wait.didBeat()
        #expect(wait.pace == .idle && wait.part(.zero).pace == .idle)
        #expect(wait.part(.zero, pace: .attentive).pace == .attentive)
        // A look for cards of other kinds is always attentive.
        #expect(wait.part(.zero).look.pace == .attentive)
    }

    /// Where FeliCa cards without the transit system are used, the next one is looked for at once, unless a phone was there.
    @Test func aPhoneSlowsTheSearchForOthers() {
        func card(_ system: SystemCode, _ pmm: UInt64) -> FoundCard {
            let target = FeliCaTarget(idm: IDm(rawValue: 1), pmm: PMm(rawValue: pmm), bitRate: .kbps212)
            return FoundCard(picc: .felica(target), request: .felica(system))
        }
        let (company, phone) = (card(.commonArea, 0x0120_2204_2767_4EFF), card(.transit, 0x0116_8B86_8FBE_CBFF))
        var visitors = CardWait.Visitors()
        #expect(visitors.pace == .attentive)
        visitors.note(company)
        #expect(visitors.pace == .idleForOthers)
        visitors.note(phone)
        #expect(visitors.pace == .attentive)
        visitors.note(company)
        #expect(visitors.pace == .attentive)
        var wait = CardWait(nil, pace: .idleForOthers)
        for _ in 0..<3 { wait.didBeat() }
        #expect(wait.pace == .idleForOthers)
    }

    /// An idle wait polls for other systems so seldom that a phone's 55 ms are less than 2 % of the time.
    @Test(arguments: [(CardWait.Pace.idle, 2750), (.idleForOthers, 750)])
    func otherSystemsOfAnIdleWait(_ pace: CardWait.Pace, _ milliseconds: Int) {
        let wait = CardWait(nil, clock: Time().clock, pace: pace)
        _ = wait.begin()
        #expect(wait.areOtherSystemsDue(at: .zero))
        for polled in [Duration.zero, .milliseconds(milliseconds)] {
            wait.didPollOtherSystems(at: polled)
            #expect(!wait.areOtherSystemsDue(at: polled + .milliseconds(milliseconds - 1)))
            #expect(wait.areOtherSystemsDue(at: polled + .milliseconds(milliseconds)))
        }
    }
}
