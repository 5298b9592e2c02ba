// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
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
    /// After so many beats without a card, the search becomes idle; at once after a card that only a search for any
    /// system finds, since those cards are asked for more often then.
    private static let attentiveBeats = 2
    /// The pause after a missing answer.
    private static let shortInterval = Duration.milliseconds(50)

    /// What happens between two taps.
    enum Step {
        /// The reader is about to look for a card.
        case looking
        /// A card did not answer.
        case missed
        /// A card was found, and is to be read: reading may never end.
        case found(FoundCard)
    }

    private let reader: CardReader
    private let query: CardQuery
    private let reading: TapReading
    /// Called with each card that is put on the reader, while it lies there.
    private let work: ((Card) throws(KazasuError) -> Void)?
    private let stations: any StationNames
    private let clock: SearchClock
    /// Called for every event that is not a tap.
    private let note: (Step) -> Void
    private(set) var present: FoundCard?
    /// Another card that is in the place of the last one, and is not reported yet.
    private var replacement: FoundCard?
    /// Whether the last card was a FeliCa card without the transit system.
    private var hasOtherSystem = false

    init(
        _ reader: CardReader, _ query: CardQuery, _ reading: TapReading,
        _ stations: any StationNames = ShippedStations(), _ work: ((Card) throws(KazasuError) -> Void)? = nil,
        clock: SearchClock? = nil,
        note: @escaping (Step) -> Void = { _ in }
    ) {
        self.reader = reader
        self.query = query
        self.reading = reading
        self.work = work
        self.stations = stations
        let (time, pace) = (reader.clock, (reader.device as? any PacedReader)?.pace ?? 1)
        self.clock = clock ?? SearchClock(now: time.now) { time.pause($0 / pace) }
        self.note = note
    }

    /// Waits until a card arrives or leaves.
    ///
    /// - Throws: ``KazasuError`` if the reader failed or was cancelled.
    mutating func next() throws(KazasuError) -> Tap {
        if let other = replacement {
            replacement = nil
            return on(Card(other, reader: reader))
        }
        guard let present else { return on(try waitForCard()) }
        let (time, other) = try waitForRemoval(of: present)
        (self.present, replacement) = (nil, other)
        return Tap(.off, present, reader: reader.information.id, time: time)
    }

    /// Waits for a card, with a beat now and then.
    private func waitForCard() throws(KazasuError) -> Card {
        let rhythm = SearchRhythm()
        var beats = hasOtherSystem ? Self.attentiveBeats : 0
        while true {
            note(.looking)
            do throws(KazasuError) {
                let pace = beats < Self.attentiveBeats ? SearchPace.attentive : .idle
                let cards = try reader.waitForCards(query, timeout: Self.beatInterval, pace: pace, rhythm: rhythm)
                if let card = cards.first { return card }
            } catch {
                guard error == .noCard else { throw error }
            }
            beats += 1
        }
    }

    private mutating func on(_ card: Card) -> Tap {
        let time = ContinuousClock.now
        present = card.found
        hasOtherSystem = card.found.feliCa != nil && card.found.system != .transit
        note(.found(card.found))
        var report = reading.read(card, stations)
        do throws(KazasuError) {
            if report.error == nil { try work?(card) }
        } catch {
            report.error = error
        }
        return Tap(.on, card.found, reader: reader.information.id, time: time, report)
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
            note(.looking)
            let now = ContinuousClock.now
            do throws(TransportError) {
                switch try Presence.check(card, on: reader.device) {
                case .present: (missed, firstMiss) = (0, nil)
                case .other(let other): return (firstMiss ?? now, other)
                case .silent:
                    missed += 1
                    note(.missed)
                    firstMiss = firstMiss ?? now
                }
            } catch {
                throw error == .cancelled ? .cancelled : .reader(error, id: reader.information.id)
            }
            if missed >= Self.misses { return (firstMiss ?? now, nil) }
        }
    }
}
