// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import CardReading
internal import NFCTransport

/// Watches for cards on one reader, one at a time: the first in polling order is reported until it is gone.
///
/// Runs on the reader's thread.
struct CardWatch {
    /// How many times a card must fail to answer before it counts as gone: one answer may be lost in the air.
    private static let misses = 3
    /// The pause between two presence checks.
    private static let interval = Duration.milliseconds(150)
    /// How long to look for a card between two beats.
    private static let beatInterval = Duration.seconds(5)
    /// The pause after a missing answer.
    private static let shortInterval = Duration.milliseconds(50)

    private let reader: CardReader
    private let query: CardQuery
    private let reading: TapReading
    private let clock: SearchClock
    /// Called whenever the reader has answered.
    private let beat: () -> Void
    private(set) var present: FoundCard?

    init(
        _ reader: CardReader, _ query: CardQuery, _ reading: TapReading, clock: SearchClock = .system,
        beat: @escaping () -> Void = {}
    ) {
        self.reader = reader
        self.query = query
        self.reading = reading
        self.clock = clock
        self.beat = beat
    }

    /// Waits until a card arrives or leaves.
    ///
    /// - Returns: one tap, or two if another card has taken the place of the first.
    /// - Throws: ``KazasuError`` if the reader failed or was cancelled.
    mutating func next() throws(KazasuError) -> [Tap] {
        guard let present else {
            return [on(try waitForCard())]
        }
        let (time, other) = try waitForRemoval(of: present)
        self.present = nil
        let off = Tap(.off, present, reader: reader.information.id, time: time)
        guard let other else { return [off] }
        return [off, on(Card(other, reader: reader))]
    }

    /// Waits for a card, with a beat now and then.
    private func waitForCard() throws(KazasuError) -> Card {
        while true {
            beat()
            do throws(KazasuError) {
                return try reader.waitForCard(query, timeout: Self.beatInterval)
            } catch {
                guard error == .noCard else { throw error }
            }
        }
    }

    private mutating func on(_ card: Card) -> Tap {
        let time = ContinuousClock.now
        present = card.found
        return Tap(.on, card.found, reader: reader.information.id, time: time, reading.read(card))
    }

    /// Waits until a card is gone, or another one is in its place.
    ///
    /// - Returns: the time when it was first missed, and the card in its place.
    private func waitForRemoval(
        of card: FoundCard
    ) throws(KazasuError) -> (ContinuousClock.Instant, FoundCard?) {
        var firstMiss: ContinuousClock.Instant?
        var missed = 0
        while true {
            clock.pause(missed == 0 ? Self.interval : Self.shortInterval)
            if reader.cancellation.isCancelled { throw .cancelled }
            beat()
            let now = ContinuousClock.now
            do throws(TransportError) {
                switch try Presence.check(card, on: reader.device) {
                case .present: (missed, firstMiss) = (0, nil)
                case .other(let other): return (firstMiss ?? now, other)
                case .silent:
                    missed += 1
                    firstMiss = firstMiss ?? now
                }
            } catch {
                throw error == .cancelled ? .cancelled : .reader(error, id: reader.information.id)
            }
            if missed >= Self.misses { return (firstMiss ?? now, nil) }
        }
    }
}
