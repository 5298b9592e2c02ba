// SPDX-License-Identifier: Apache-2.0

/// The time since which a card has had power, on the field's clock.
package struct CardPower: Hashable, Sendable {
    /// The current time.
    package let now: Duration
    /// When it got power.
    package let since: Duration
    /// How long it had no power before that; `nil` when it never had any.
    package let outage: Duration?
}

/// A card in a field, or on its way into it.
struct PlacedCard: Sendable {
    let card: any VirtualCard
    /// How long it is deaf after it got power.
    var startupTime: Duration
    /// Whether it is outside the field.
    var isAway = false
    private var poweredSince: Duration?
    private var lostPowerAt: Duration?
    private var outage: Duration?

    init(_ card: any VirtualCard, startupTime: Duration) {
        self.card = card
        self.startupTime = startupTime
    }

    /// Does nothing when it has power already, or is away.
    mutating func gainPower(at now: Duration) {
        guard poweredSince == nil, !isAway else { return }
        poweredSince = now
        outage = lostPowerAt.map { now - $0 }
    }

    mutating func losePower(at now: Duration) {
        if poweredSince != nil { lostPowerAt = now }
        poweredSince = nil
        card.losePower()
    }

    func answer(_ frame: RadioFrame, at now: Duration) -> CardAnswer? {
        guard let poweredSince, now - poweredSince >= startupTime else { return nil }
        return card.answer(frame, CardPower(now: now, since: poweredSince, outage: outage))
    }
}

/// When the cards of a field arrive and leave. Away at first, they come at a random moment, with a random time in which
/// they are deaf; they are removed again after their first answer to Read Without Encryption, or after a random number
/// of answers to any command.
///
/// For soak tests: a host that searches for a card and reads it, again and again, meets it at every moment of its
/// search.
package struct CardVisits: Sendable {
    /// When they come.
    package enum Arrival: Hashable, Sendable {
        /// After up to so many frames.
        case frames(Int)
        /// Up to so long after a search began, and not before `from`. A search begins with the first frame after ``pause``
        /// without any; a card that is still there from the last search is taken away then.
        case within(Duration, from: Duration = .zero)
    }

    /// How long a host sends nothing between two searches.
    package static let pause = Duration.milliseconds(500)

    private let arrival: Arrival
    private let startup: Duration
    private let stay: Int?
    /// How many times shorter than before a real card a host should make its pauses; for long tests.
    let pace: Int
    private var random: SplitMix64
    private var comesAfter: Int?
    /// How many answers are left before they go.
    private var answersLeft = 0
    private var lastFrame: Duration?
    private var moment: Duration?
    /// The part of the time in which they come that has passed when they come.
    private var phase: Double
    /// When they came last.
    private(set) var arrivedAt: Duration?

    /// Creates visits that are the same for the same seed.
    ///
    /// - Parameters:
    ///   - arrival: when they come.
    ///   - startup: the longest time for which they are deaf.
    ///   - stay: the maximum number of answers that they give; `nil` for all up to the first that is read.
    ///   - pace: how many times shorter than before a real card a host should make its pauses.
    package init(seed: UInt64, _ arrival: Arrival, startup: Duration, stay: Int? = nil, pace: Int = 1) {
        switch arrival {
        case .frames(let count): self.arrival = .frames(max(count, 0))
        case .within(let time, let first):
            self.arrival = .within(max(time, first, .zero), from: max(first, .zero))
        }
        self.startup = max(startup, .zero)
        self.stay = stay.map { max($0, 1) }
        self.pace = max(pace, 1)
        random = SplitMix64(seed: seed)
        phase = Double(random.next() >> 11) / Double(1 << 53)
        comesAfter = 0
    }

    mutating func come(_ placed: inout [PlacedCard], before exchange: Int, at now: Duration) {
        switch arrival {
        case .frames:
            if comesAfter == 0 { leave(&placed, exchange, at: now) }
            guard let last = comesAfter, exchange > last else { return }
            comesAfter = nil
            arrive(&placed, at: now)
        case .within(let time, let first):
            if lastFrame.map({ now - $0 >= Self.pause }) ?? true {
                // At the latest, with the last frame that they were given.
                leave(&placed, exchange, at: lastFrame ?? now)
                // Multiples of the golden ratio are spread evenly, however many there are.
                phase = (phase + 0.618_033_988_749_895).truncatingRemainder(dividingBy: 1)
                moment = now + first + (time - first) * phase
            }
            lastFrame = now
            guard let moment, now >= moment else { return }
            self.moment = nil
            arrive(&placed, at: moment)
        }
    }

    private mutating func arrive(_ placed: inout [PlacedCard], at time: Duration) {
        arrivedAt = time
        if let stay { answersLeft = Int.random(in: 1...stay, using: &random) }
        for index in placed.indices {
            placed[index].isAway = false
            placed[index].startupTime = startup * Int.random(in: 0...1000, using: &random) / 1000
            placed[index].gainPower(at: time)
        }
    }

    mutating func go(
        _ placed: inout [PlacedCard], after frame: RadioFrame, _ outcome: FieldResult, _ exchange: Int,
        at now: Duration
    ) {
        guard case .answer = outcome else { return }
        if stay != nil {
            answersLeft -= 1
            guard answersLeft <= 0 else { return }
        } else {
            guard case .felica = frame.technology, frame.commandCode == 0x06 else { return }
        }
        leave(&placed, exchange, at: now)
    }

    private mutating func leave(_ placed: inout [PlacedCard], _ exchange: Int, at now: Duration) {
        for index in placed.indices {
            placed[index].losePower(at: now)
            placed[index].isAway = true
        }
        if case .frames(let count) = arrival { comesAfter = exchange + Int.random(in: 0...count, using: &random) }
    }
}
