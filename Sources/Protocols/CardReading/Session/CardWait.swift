// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
package import ReaderCore

/// The clock of a wait, and how it sleeps; tests supply their own.
package struct SearchClock: Sendable {
    package let now: @Sendable () -> Duration
    package let pause: @Sendable (Duration) -> Void

    package init(now: @escaping @Sendable () -> Duration, pause: @escaping @Sendable (Duration) -> Void) {
        self.now = now
        self.pause = pause
    }

    package static let system: SearchClock = {
        let start = ContinuousClock.now
        return SearchClock(now: { ContinuousClock.now - start }, pause: ThreadPause.sleep)
    }()
}

/// How a card is waited for: until when, in which slices, and how often each request is sent.
///
/// A wait of its own begins and ends with all requests, since a card may lie there already and this is the last chance to find it.
/// Between those it goes on in parts with one rhythm: the transit system and types A and B all the time, other systems only now and
/// then, because they open the wallet of a phone. Between two slices, cards of other kinds are looked for.
package struct CardWait {
    /// How often a card is looked for.
    package enum Pace: Sendable {
        /// As often as phones need: somebody is about to put a card down.
        case attentive
        /// A few times a second, with fewer requests each time: there has been no card for a while.
        case idle
        /// As idle, but other systems are polled for more often: the last card was one of those, and no phone has been here.
        case idleForOthers
    }

    /// The times of a pace.
    private struct Times {
        /// The duration of a slice. Each slice of an idle wait begins with all requests that open no wallet.
        let slice: Duration
        /// The time from the beginning to the first Polling for systems other than the transit one.
        let firstOther: Duration
        /// The time to the second one. A phone that arrives in the 55 ms before one of them opens its wallet: the 50 that it needs to
        /// start, and a Polling. So there is one in the first three seconds, in which most cards come, and other cards are still
        /// found within a second on average.
        let secondOther: Duration
        /// The time between two later ones: 55 ms are less than 2 % of it.
        let other: Duration

        static let attentive = Times(
            slice: .milliseconds(500), firstOther: .milliseconds(1000), secondOther: .milliseconds(2250),
            other: .milliseconds(3000))
        /// No order of Pollings does better: a phone that came in the 50 ms before one of them could not have answered any.
        static let idle = Times(
            slice: .milliseconds(750), firstOther: .zero, secondOther: .milliseconds(2750), other: .milliseconds(2750))
        static let idleForOthers = Times(
            slice: .milliseconds(750), firstOther: .zero, secondOther: .milliseconds(750), other: .milliseconds(750))
    }

    /// When systems other than the transit one are polled for, in a wait and its parts.
    private final class Rhythm {
        var start: Duration?
        var last: Duration?
        /// How often other systems were polled for.
        var others = 0
        var isExpected = false
        /// When it was last looked more closely.
        var closer: Duration?
    }

    /// The minimum time between two rounds: others share the bus and the processor.
    private static let period = Duration.milliseconds(40)
    /// The same if the transit system is wanted first: phones need it more often.
    private static let transitPeriod = Duration.milliseconds(15)
    /// The same for an idle wait; four looks take less than the 750 ms for which a phone remembers the field.
    private static let idlePeriod = Duration.milliseconds(150)
    /// The time between two closer looks.
    private static let closer = Duration.seconds(1)
    /// A closer look is due at once after so many failures.
    private static let failures = 2
    /// The pause before a wrong card is looked for again.
    private static let rest = Duration.milliseconds(100)
    /// How long a part of a wait without end lasts.
    package static let beat = Duration.seconds(5)
    /// After so many beats without a card, the wait becomes idle.
    private static let attentiveBeats = 2

    package let clock: SearchClock
    package private(set) var pace: Pace
    /// When it ends; `nil` for no end.
    package let deadline: Duration?
    /// Whether it continues another one: nothing is expected to lie there when it begins, and it does not end with all requests.
    let isPart: Bool
    private let rhythm: Rhythm
    /// What was heard of cards that could not be selected.
    package let heard: HeardLog
    private var beats = 0

    /// Begins a wait of its own.
    ///
    /// - Parameters:
    ///   - limit: how long to wait; zero for one round, `nil` for no limit.
    ///   - pace: the pace of its parts.
    package init(_ limit: Duration?, clock: SearchClock = .system, pace: Pace = .attentive) {
        self.init(limit, clock, pace, part: nil, HeardLog())
    }

    private init(_ limit: Duration?, _ clock: SearchClock, _ pace: Pace, part rhythm: Rhythm?, _ heard: HeardLog) {
        (self.clock, self.pace, self.heard, isPart) = (clock, pace, heard, rhythm != nil)
        self.rhythm = rhythm ?? Rhythm()
        deadline = limit.map { clock.now() + $0 }
    }

    /// One round of all requests.
    package static var once: CardWait { CardWait(.zero) }

    // MARK: Parts

    /// A part of this wait.
    ///
    /// - Parameters:
    ///   - pace: its pace, if it is another one.
    ///   - pause: how it sleeps, if it does otherwise.
    package func part(
        _ limit: Duration?, pace: Pace? = nil, pause: (@Sendable (Duration) -> Void)? = nil
    ) -> CardWait {
        let clock = pause.map { SearchClock(now: self.clock.now, pause: $0) } ?? self.clock
        return CardWait(limit, clock, pace ?? self.pace, part: rhythm, heard)
    }

    /// A wait of its own, of which nothing but what is heard is shared.
    private func own(_ limit: Duration) -> CardWait { CardWait(limit, clock, .attentive, part: nil, heard) }

    /// A part of ``beat`` of a wait without end is over, without a card.
    package mutating func didBeat() {
        beats += 1
        if beats >= Self.attentiveBeats, pace == .attentive { pace = .idle }
    }

    /// The first slice: what lies there already is found at once.
    package var firstSlice: CardWait { isPart ? slice(at: clock.now()) : own(.zero) }

    /// The slice that follows; `nil` when the time is over.
    package var nextSlice: CardWait? { isOver ? nil : slice(at: clock.now()) }

    /// Whether the time is over.
    package var isOver: Bool { deadline.map { clock.now() >= $0 } ?? false }

    private func slice(at now: Duration) -> CardWait {
        let left = deadline.map { max(.zero, $0 - now) } ?? times.slice
        if !isPart, deadline != nil, left <= times.slice { return own(left) }
        return part(min(left, times.slice))
    }

    /// One look at this point of the wait, such as for cards of other kinds.
    package var look: CardWait { isPart ? part(.zero, pace: .attentive) : own(.zero) }

    /// Whether it is time to look more closely: once a second, at the end, and after two failures. Not in the parts of
    /// a wait without end, such as a watch: a card that cannot be selected is not a tap.
    package func takesCloserLook(isLast: Bool) -> Bool {
        guard !isPart else { return false }
        let now = clock.now()
        let isDue = now - (rhythm.closer ?? now) >= Self.closer
        guard isDue || isLast || heard.count() >= Self.failures && rhythm.closer == nil else {
            rhythm.closer = rhythm.closer ?? now
            return false
        }
        rhythm.closer = now
        return true
    }

    /// Waits before a wrong card is looked for again.
    package func pauseForWrongCard() { clock.pause(Self.rest) }

    /// A card of another system is known to be there: it may be polled for at once.
    package func expectOtherSystems() { rhythm.isExpected = true }

    // MARK: Rounds

    /// Whether there has been no card for a while.
    var isIdle: Bool { pace != .attentive }

    private var times: Times {
        switch pace {
        case .attentive: .attentive
        case .idle: .idle
        case .idleForOthers: .idleForOthers
        }
    }

    /// Begins a wait, unless it has begun.
    ///
    /// - Returns: whether it begins now.
    func begin() -> Bool {
        defer { rhythm.start = rhythm.start ?? clock.now() }
        return rhythm.start == nil
    }

    /// Whether systems other than the transit one are to be polled for.
    func areOtherSystemsDue(at time: Duration) -> Bool {
        if rhythm.isExpected { return true }
        if let last = rhythm.last { return time - last >= (rhythm.others > 1 ? times.other : times.secondOther) }
        return time - (rhythm.start ?? time) >= times.firstOther
    }

    /// They were polled for, and nothing answered.
    func didPollOtherSystems(at time: Duration) {
        rhythm.last = time
        rhythm.others += 1
        rhythm.isExpected = false
    }

    /// Waits before the next round.
    func pause(since last: Duration, isTransitFirst: Bool) {
        pause(until: last + (isIdle ? Self.idlePeriod : isTransitFirst ? Self.transitPeriod : Self.period))
    }

    /// Waits before the next look for the transit system alone.
    func pause(since last: Duration, for time: Duration) { pause(until: last + time) }

    private func pause(until time: Duration) {
        let left = time - clock.now()
        if left > .zero { clock.pause(left) }
    }
}

extension CardWait {
    /// The cards that were on a reader, as far as they say which come next.
    package struct Visitors {
        private var hasOtherSystem = false
        private var hasMetPhone = false

        package init() {}

        /// Notes a card that was found.
        package mutating func note(_ card: FoundCard) {
            guard case .felica(let target) = card.picc else {
                hasOtherSystem = false
                return
            }
            hasOtherSystem = card.system != .transit
            if PhoneModel.isPhone(target.pmm) { hasMetPhone = true }
        }

        /// The pace of the next wait: where cards without the transit system are used and no phones, a Polling for any system
        /// opens nobody's wallet.
        package var pace: Pace { hasOtherSystem && !hasMetPhone ? .idleForOthers : .attentive }
    }
}
