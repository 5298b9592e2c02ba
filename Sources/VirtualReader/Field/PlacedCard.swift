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

/// When the cards of a field arrive and leave. Away at first, they come after a random number of frames, with a random
/// time in which they are deaf; they are removed again after their first answer to Read Without Encryption, or after
/// a random number of answers to any command.
///
/// For soak tests: a host that searches for a card and reads it, again and again, meets it at every moment of its
/// search.
package struct CardVisits: Sendable {
    private let frames: Int
    private let startup: Duration
    private let stay: Int?
    /// How many times shorter than before a real card a host should make its pauses; for long tests.
    let pace: Int
    private var random: SplitMix64
    private var comesAfter: Int?
    /// How many answers are left before they go.
    private var answersLeft = 0

    /// Creates visits that are the same for the same seed.
    ///
    /// - Parameters:
    ///   - frames: the maximum number of frames for which they are away.
    ///   - startup: the longest time for which they are deaf.
    ///   - stay: the maximum number of answers that they give; `nil` for all up to the first that is read.
    ///   - pace: how many times shorter than before a real card a host should make its pauses.
    package init(seed: UInt64, frames: Int, startup: Duration, stay: Int? = nil, pace: Int = 1) {
        self.frames = max(frames, 0)
        self.startup = max(startup, .zero)
        self.stay = stay.map { max($0, 1) }
        self.pace = max(pace, 1)
        random = SplitMix64(seed: seed)
        comesAfter = 0
    }

    mutating func come(_ placed: inout [PlacedCard], before exchange: Int, at now: Duration) {
        if comesAfter == 0 { leave(&placed, exchange, at: now) }
        guard let last = comesAfter, exchange > last else { return }
        comesAfter = nil
        if let stay { answersLeft = Int.random(in: 1...stay, using: &random) }
        for index in placed.indices {
            placed[index].isAway = false
            placed[index].startupTime = startup * Int.random(in: 0...1000, using: &random) / 1000
            placed[index].gainPower(at: now)
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
        comesAfter = exchange + Int.random(in: 0...frames, using: &random)
    }
}
