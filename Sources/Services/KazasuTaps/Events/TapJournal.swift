// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
internal import CardDecoders
package import Kazasu

/// Turns what happens on the readers into events: numbers them, names the readers and cards, and hides cards that are
/// back within the debounce time.
package struct TapJournal {
    /// The user's settings.
    package struct Settings: Sendable {
        /// The name of the place.
        package var site: String
        /// The names of readers by their IDs; a reader without a name has its ID.
        package var names: [String: String] = [:]
        /// Replaces the numbers of cards.
        package var key: IdentityKey?
        /// A card that is back within this time gives no events.
        package var debounce = Duration.zero
        /// The cards that have names.
        package var known = KnownCards()
        /// Whether a card must have proved something: the events of one that did not, for whatever reason, have no tag, no
        /// name and nothing else that says whose it is.
        package var requiresProof = false
        /// Whether the events of other cards have no number, so that no sink gets them.
        package var hidesOthers = false
        /// The language of names in balances and records.
        package var language = Language.english
        /// Whether the records of a card that was read before, as far as they have numbers, are only those that are new and the
        /// newest ones of before.
        package var omitsKnownRecords = false
        /// The word for an error.
        package var reason: @Sendable (KazasuError) -> String = { _ in "failed" }

        package init(site: String) { self.site = site }

        /// Why nobody is asked about a card that came: it did not prove what it must, or has no name where it needs one. A
        /// word; `nil` if it is asked about.
        func obstacle(of event: StoredEvent) -> String? {
            guard case .on(let card, let content) = event.kind else { return nil }
            if requiresProof, card.tag == nil { return content.error ?? "notGenuine" }
            return hidesOthers && event.sequence == 0 ? "unknownCard" : nil
        }
    }

    /// A card on a reader. One that is back within the debounce time has none.
    private struct Visit {
        /// The id of its `on`.
        let id: String
        let card: TapEvent.Card
        /// `nil` for a visit of an earlier run.
        var time: ContinuousClock.Instant?
        /// Whether its events have numbers.
        var isNumbered = true
    }

    private struct ReaderRecord {
        var sequence = 0
        /// The last event about the reader itself in this run.
        var state: (state: TapEvent.ReaderState, since: String)?
        var visit: Visit?
        /// The number of the card whose `off` was the last, and when it left.
        var lastOff: (number: [UInt8], time: ContinuousClock.Instant)?
    }

    /// What a card's last event had is forgotten: somebody new may want all of it.
    package var settings: Settings { didSet { lastReads = [:] } }
    /// The newest record of a card, and the event that had it, by the card's number.
    private var lastReads: [[UInt8]: (newest: JSONValue, on: String)] = [:]
    /// How many cards are remembered, and how many records of before are in an event beside the new ones.
    private static let (mostReads, overlap) = (4096, 3)
    private let clock: EventClock
    private var ids: EventIDs
    private var readers: [String: ReaderRecord] = [:]

    /// - Parameter outbox: what the outbox remembers of earlier runs.
    package init(_ settings: Settings, after outbox: OutboxMemory = OutboxMemory(), clock: EventClock = .system) {
        self.settings = settings
        self.clock = clock
        ids = EventIDs(after: outbox.lastID)
        for (name, memory) in outbox.readers {
            var record = ReaderRecord(sequence: memory.sequence)
            if let on = memory.visit, case .on(let card, _) = on.kind { record.visit = Visit(id: on.id, card: card) }
            readers[name] = record
        }
    }

    /// The event for a change on a reader; `nil` if there is none.
    ///
    /// - Parameter time: when it was reported.
    package mutating func event(
        for event: ReaderWatch.Event, at time: ContinuousClock.Instant = .now
    ) -> TapEvent? {
        switch event {
        case .tap(let tap, let id):
            switch tap.kind {
            case .on: arrival(tap, on: name(id))
            case .off: departure(from: name(id), at: tap.time)
            case .lost: departure(from: name(id), at: tap.time, .reader)
            }
        case .reader(let id, let state): change(TapEvent.ReaderState(state), of: name(id), at: time)
        case .opened, .beeps, .failed: nil
        }
    }

    /// The event for the answer of an asker; it has a number where the event has one that it was asked about.
    mutating func event(
        for decision: Answering.Decision, to on: TapEvent, after milliseconds: Int,
        at time: ContinuousClock.Instant = .now
    ) -> TapEvent {
        let answer = TapEvent.Answer(
            on: on.id, verdict: decision.verdict, milliseconds: max(0, milliseconds), reason: decision.reason)
        return event(.answer(answer), on.reader, at: time, isNumbered: on.sequence > 0)
    }

    /// Ends visits whose end was missed. A card that is seen again begins a new visit, however soon.
    ///
    /// - Parameters:
    ///   - reader: the name of the reader; `nil` for every reader.
    ///   - time: when they ended.
    package mutating func close(
        _ reason: TapEvent.UnseenEnd, on reader: String? = nil, at time: ContinuousClock.Instant = .now
    ) -> [TapEvent] {
        let names = reader.map { [$0] } ?? readers.keys.sorted()
        return names.compactMap { name in
            defer { readers[name]?.lastOff = nil }
            return departure(from: name, at: time, reason)
        }
    }

    /// Reports readers as gone that were ready and are no longer watched.
    ///
    /// - Parameters:
    ///   - names: those that are watched; `nil` for every reader.
    ///   - time: since when the others are not.
    package mutating func forget(
        except names: Set<String>?, at time: ContinuousClock.Instant = .now
    ) -> [TapEvent] {
        guard let names else { return [] }
        return readers.keys.sorted().filter { !names.contains($0) && readers[$0]?.state?.state == .ready }
            .compactMap { change(.gone, of: $0, at: time) }
    }

    private func name(_ id: String) -> String { settings.names[id] ?? id }

    // MARK: The kinds of event

    private mutating func arrival(_ tap: Tap, on reader: String) -> TapEvent? {
        let isProved = !settings.requiresProof || tap.readError == nil
        let number = tap.isRandom || !isProved ? nil : tap.card.number
        if let last = readers[reader]?.lastOff, let number, last.number == number,
            last.time.duration(to: tap.time) < settings.debounce
        {
            readers[reader]?.visit = nil
            return nil
        }
        let tag = number.map { settings.key?.tag(of: $0) ?? Hex.encode($0) }
        let name = number.flatMap { settings.known.name(of: tap.card.technology, number: $0, tag: tag) }
        let card = TapEvent.Card(
            technology: tap.card.technology, system: tap.system, tag: tag, name: name, isRandom: tap.isRandom)
        let isNumbered = name != nil || !settings.hidesOthers
        var content = content(tap)
        let newest = content.records?.first
        if isNumbered, let number { omitKnown(from: &content, of: number) }
        let event = event(.on(card, content), reader, at: tap.time, isNumbered: isNumbered)
        if isNumbered, let number, let newest, settings.omitsKnownRecords {
            if lastReads.count >= Self.mostReads { lastReads = [:] }
            lastReads[number] = (newest, event.id)
        }
        readers[reader, default: ReaderRecord()].visit = Visit(
            id: event.id, card: card, time: tap.time, isNumbered: isNumbered)
        readers[reader]?.lastOff = number.map { ($0, tap.time) }
        return event
    }

    /// Leaves out what the card's last event had, but for its newest records: a busy door would store the same twenty all day.
    private func omitKnown(from content: inout TapEvent.Content, of number: [UInt8]) {
        guard let last = lastReads[number], let records = content.records,
            case .object(let newest) = last.newest, case .integer? = newest["serial"],
            let known = records.firstIndex(of: last.newest)
        else { return }
        content.records = Array(records.prefix(known + Self.overlap))
        content.since = last.on
    }

    /// The data read from the card.
    private func content(_ tap: Tap) -> TapEvent.Content {
        var content = TapEvent.Content(
            of: tap.card, balance: tap.balance, history: tap.history, brand: tap.brand,
            error: tap.readError.map(settings.reason), in: settings.language)
        if content.card != nil, settings.key != nil {
            let kind = tap.history?.kind ?? tap.balance?.balances.first?.kind
            content.card = [
                "technology": .string(tap.card.technology.rawValue), "kind": .text(kind?.rawValue),
                "brand": .text(tap.brand?.id),
            ]
        }
        // It identifies the tag as a number does.
        if settings.key == nil { content.homeAssistantTag = tap.homeAssistantTag }
        return content
    }

    private mutating func departure(
        from reader: String, at time: ContinuousClock.Instant, _ reason: TapEvent.UnseenEnd? = nil
    ) -> TapEvent? {
        guard let visit = readers[reader]?.visit else { return nil }
        readers[reader]?.visit = nil
        if let last = readers[reader]?.lastOff { readers[reader]?.lastOff = (last.number, time) }
        let dwell = visit.time.map { $0.duration(to: time).count(of: .milliseconds(1)) }
        let end = TapEvent.Visit(on: visit.id, dwell: dwell, reason: reason)
        return event(.off(visit.card, end), reader, at: time, isNumbered: visit.isNumbered)
    }

    /// A reader that is retried again and again gives one event, not one for each try.
    private mutating func change(
        _ state: TapEvent.ReaderState, of reader: String, at time: ContinuousClock.Instant
    ) -> TapEvent? {
        guard readers[reader]?.state?.state != state else { return nil }
        let event = event(.reader(state), reader, at: time)
        readers[reader]?.state = (state, event.moment.text)
        return event
    }

    /// Every reader that is known, of this run or an earlier one.
    ///
    /// - Parameters:
    ///   - ids: the readers that are watched; `nil` for all.
    ///   - products: the models of the readers, by their names.
    func readers(watching ids: [String]?, products: [String: String]) -> [ReaderStatus] {
        let given = Set(settings.names.values)
        let watched = ids.map { Set($0.map(name)) }
        return Set(readers.keys).union(products.keys).sorted().map { name in
            ReaderStatus(
                name: name, isNamed: given.contains(name), isWatched: watched?.contains(name) ?? true,
                state: readers[name]?.state?.state, since: readers[name]?.state?.since,
                sequence: readers[name]?.sequence ?? 0, product: products[name])
        }
    }

    private mutating func event(
        _ kind: TapEvent.Kind, _ reader: String, at time: ContinuousClock.Instant, isNumbered: Bool = true
    ) -> TapEvent {
        let now = clock.now()
        let moment = now.earlier(by: max(.zero, time.duration(to: .now)))
        if isNumbered { readers[reader, default: ReaderRecord()].sequence += 1 }
        return TapEvent(
            id: ids.next(at: now.wall), sequence: isNumbered ? readers[reader]?.sequence ?? 1 : 0, kind: kind,
            moment: TapEvent.Moment(moment), site: settings.site, reader: reader)
    }
}

extension TapEvent.ReaderState {
    package init(_ state: ReaderWatch.ReaderState) {
        switch state {
        case .ready: self = .ready
        case .gone: self = .gone
        case .error: self = .error
        }
    }
}

extension CardIdentity {
    /// The bytes of the IDm, UID or PUPI.
    fileprivate var number: [UInt8]? { idm?.bytes ?? uid ?? pupi }
}
