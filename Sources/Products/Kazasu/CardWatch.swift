// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel
internal import CardReading
internal import ReaderCore

/// Watches for cards on one reader, one at a time: the first in polling order is reported until it is gone.
///
/// Runs on the reader's thread.
struct CardWatch {
    /// How many times a card must fail to answer before it counts as gone: one answer may be lost in the air.
    private static let misses = 3
    /// The pause between two presence checks.
    private static let interval = Duration.milliseconds(150)
    /// The pause after a missing answer.
    private static let shortInterval = Duration.milliseconds(50)
    /// So long a card that comes may be read before programs count the reader as hanging.
    private static let longestRead = Duration.seconds(10)

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
    /// How many times shorter pauses are than with a real reader.
    private let pace: Int
    /// Called for every event that is not a tap.
    private let note: (Step) -> Void
    /// The programs that use the reader between presence checks and searches.
    private let guests: (any ReaderGuests)?
    private(set) var present: FoundCard?
    /// Whether another application or card may be selected than the one that is watched.
    private var isSelectionLost: Bool
    /// Another card that is in the place of the last one, and is not reported yet.
    private var replacement: FoundCard?
    /// What was on the reader, which decides how the next card is looked for.
    private var visitors = CardWait.Visitors()

    /// - Parameter present: the card that lay on the reader when it was closed for a moment.
    init(
        _ reader: CardReader, _ query: CardQuery, _ reading: TapReading,
        _ stations: any StationNames = ShippedStations(), _ work: ((Card) throws(KazasuError) -> Void)? = nil,
        clock: SearchClock? = nil, guests: (any ReaderGuests)? = nil, present: FoundCard? = nil,
        note: @escaping (Step) -> Void = { _ in }
    ) {
        self.reader = reader
        self.query = query
        self.reading = reading
        self.work = work
        self.stations = stations
        let (time, pace) = (reader.clock, (reader.device as? any PacedReader)?.pace ?? 1)
        self.pace = pace
        self.clock = clock ?? SearchClock(now: time.now) { time.pause($0 / pace) }
        (self.guests, self.present, isSelectionLost) = (guests, present, present != nil)
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
    private mutating func waitForCard() throws(KazasuError) -> Card {
        var wait = CardWait(nil, clock: reader.clock, pace: visitors.pace)
        while true {
            note(.looking)
            let wasUsed = try offerReader(hasCard: false)
            do throws(KazasuError) {
                // Programs that ask again and again leave time for a look between them.
                let cards = try search(wait, within: wasUsed ? .zero : CardWait.beat)
                if let card = cards.first {
                    // Work begins with a selected card; what else is read selects it.
                    return work == nil ? card : try reader.select(card, foundBy: query) ?? card
                }
            } catch {
                guard error.foundNoCard else { throw error }
            }
            guard !wasUsed else { continue }
            wait.didBeat()
            // A card that is not reported may still be what a program waits for.
            if query != .any { guests?.cardArrived() }
        }
    }

    /// Looks for a card, until a program wants the reader.
    private func search(_ wait: CardWait, within time: Duration) throws(KazasuError) -> [Card] {
        guard let guests, time > .zero else { return try reader.waitForCards(query, wait.part(time)) }
        let cards = try guests.search(on: reader) { searching, isAwaited, pause throws(KazasuError) in
            // A waiting program does not wait for an idle reader.
            let time = isAwaited && query != .any ? min(time, .seconds(1)) : time
            return try searching.waitForCards(
                query, wait.part(time, pace: isAwaited ? .attentive : nil, pause: pause))
        }
        return cards.map { Card($0.found, reader: reader) }
    }

    /// Lets a program use the reader, if one wants it.
    ///
    /// - Returns: whether one did.
    private mutating func offerReader(hasCard: Bool) throws(KazasuError) -> Bool {
        let note = note
        let offer = guests?.offer(reader.device, reader.cancellation, hasCard: hasCard) { note(.looking) }
        switch offer {
        case nil, .declined: return false
        case .used:
            isSelectionLost = true
            return true
        case .failed(let error):
            throw KazasuError(error, of: reader.information.id)
        }
    }

    private mutating func on(_ card: Card) -> Tap {
        let time = ContinuousClock.now
        present = card.found
        isSelectionLost = false
        visitors.note(card.found)
        note(.found(card.found))
        guests?.expect(within: Self.longestRead)
        var report = reading.read(card, stations)
        do throws(KazasuError) {
            if report.error == nil { try work?(card) }
        } catch {
            report.error = error
        }
        guests?.cardArrived()
        return Tap(.on, card.found, reader: reader.information.id, time: time, report)
    }

    /// Waits until a card is gone, or another one is in its place.
    ///
    /// - Returns: the time when it was first missed, and the card in its place.
    private mutating func waitForRemoval(
        of card: FoundCard
    ) throws(KazasuError) -> (ContinuousClock.Instant, FoundCard?) {
        var firstMiss: ContinuousClock.Instant?
        var missed = 0
        while true {
            if missed > 0 {
                clock.pause(Self.shortInterval)
            } else if try !offerReader(hasCard: true) {
                pause()
                _ = try offerReader(hasCard: true)
            }
            if reader.cancellation.isCancelled { throw .cancelled }
            note(.looking)
            guests?.expect(within: Self.shortInterval)
            let now = ContinuousClock.now
            do throws(TransportError) {
                switch try Presence.check(card, on: reader.device, isSelected: !isSelectionLost) {
                case .present: (missed, firstMiss, isSelectionLost) = (0, nil, false)
                case .other(let other): return (firstMiss ?? now, other)
                case .silent:
                    missed += 1
                    note(.missed)
                    firstMiss = firstMiss ?? now
                }
            } catch {
                throw KazasuError(error, of: reader.information.id)
            }
            if missed >= Self.misses { return (firstMiss ?? now, nil) }
        }
    }

    /// Waits for the next presence check, or until a program wants the reader.
    private func pause() {
        guard let guests else { return clock.pause(Self.interval) }
        guests.pause(Self.interval / pace, hasCard: true)
    }
}
