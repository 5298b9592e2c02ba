// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel
internal import CardDecoders
package import Kazasu

/// Turns what happens on the readers into events: numbers them, names the readers, and hides cards that are back
/// within the debounce time.
package struct TapJournal {
    /// What the user chose.
    package struct Settings: Sendable {
        /// The name of the place.
        package var site: String
        /// The names of readers by their IDs; a reader without a name has its ID.
        package var names: [String: String] = [:]
        /// Replaces the numbers of cards.
        package var key: IdentityKey?
        /// A card that is back within this time gives no events.
        package var debounce = Duration.zero
        /// The language of names in balances and records.
        package var language = Language.english
        /// The word for an error.
        package var reason: @Sendable (KazasuError) -> String = { _ in "failed" }

        package init(site: String) { self.site = site }
    }

    /// Why a card's visit ended without anybody seeing it leave.
    package enum UnseenEnd: String, Sendable {
        case reader, shutdown, restart
    }

    /// A card on a reader.
    private struct Visit {
        /// The id of its `on`; `nil` while it is hidden.
        var id: String?
        var time: ContinuousClock.Instant?
        /// The members that `off` repeats.
        var card: JSONObject
        var tag: String?
    }

    private struct ReaderRecord {
        var sequence = 0
        /// What it last was in this run, and since when.
        var state: (word: String, since: String)?
        var visit: Visit?
        /// The number of the card whose `off` was the last, and when it left.
        var lastOff: (number: [UInt8], time: ContinuousClock.Instant)?
    }

    package var settings: Settings
    private let clock: EventClock
    private var ids: EventIDs
    private var readers: [String: ReaderRecord] = [:]

    /// - Parameter outbox: what the outbox remembers of earlier runs.
    package init(_ settings: Settings, after outbox: OutboxMemory = OutboxMemory(), clock: EventClock = .system) {
        self.settings = settings
        self.clock = clock
        ids = EventIDs(after: outbox.lastID)
        for (name, memory) in outbox.readers {
            readers[name] = ReaderRecord(sequence: memory.sequence, visit: memory.visit.flatMap(Self.visit))
        }
    }

    /// The visit that an `on` began.
    private static func visit(_ line: String) -> Visit? {
        guard case .object(let event)? = try? JSONValue(parsing: Array(line.utf8)), case .string(let id)? = event["id"]
        else { return nil }
        var card = JSONObject()
        for name in ["technology", "system", "tag", "identity"] where event[name] != nil { card[name] = event[name] }
        var tag: String?
        if case .string(let text)? = event["tag"] { tag = text }
        return Visit(id: id, card: card, tag: tag)
    }

    /// The events that follow from what happened on a reader.
    package mutating func events(for event: ReaderWatch.Event) -> [OutboxEvent] {
        switch event {
        case .tap(let tap, let id):
            switch tap.kind {
            case .on: arrival(tap, on: name(id)).map { [$0] } ?? []
            case .off: departure(from: name(id), at: tap.time).map { [$0] } ?? []
            case .lost: departure(from: name(id), at: tap.time, .reader).map { [$0] } ?? []
            }
        case .reader(let id, let state): change(state.word, of: name(id)).map { [$0] } ?? []
        case .opened, .failed: []
        }
    }

    /// Ends visits whose end nobody will see, or saw. Where the card is seen again, that is a new visit, however soon.
    ///
    /// - Parameter reader: the name of the reader; `nil` for every reader.
    package mutating func close(_ reason: UnseenEnd, on reader: String? = nil) -> [OutboxEvent] {
        let names = reader.map { [$0] } ?? readers.keys.sorted()
        return names.compactMap { name in
            defer { readers[name]?.lastOff = nil }
            return departure(from: name, at: .now, reason)
        }
    }

    /// Reports readers as gone that are not watched any more.
    ///
    /// - Parameter names: those that are watched; `nil` for every reader.
    package mutating func forget(except names: Set<String>?) -> [OutboxEvent] {
        guard let names else { return [] }
        return readers.keys.sorted().filter { !names.contains($0) && readers[$0]?.state != nil }
            .compactMap { change(ReaderWatch.ReaderState.gone.word, of: $0) }
    }

    private func name(_ id: String) -> String { settings.names[id] ?? id }

    // MARK: The kinds of event

    private mutating func arrival(_ tap: Tap, on reader: String) -> OutboxEvent? {
        let number = tap.isRandom ? nil : tap.card.number
        if let last = readers[reader]?.lastOff, let number, last.number == number,
            last.time.duration(to: tap.time) < settings.debounce
        {
            readers[reader]?.visit = Visit(card: JSONObject())
            return nil
        }
        var card = JSONObject([("technology", .string(tap.card.technology.rawValue))])
        if let system = tap.system { card["system"] = .string(system.description) }
        let tag = number.map { settings.key?.tag(of: $0) ?? Hex.encode($0) }
        if let tag { card["tag"] = .string(tag) }
        card["identity"] = tap.isRandom ? "random" : "fixed"
        var members = card
        members.merge(report(tap))
        let event = event("on", reader, at: tap.time, tag, members)
        readers[reader, default: ReaderRecord()].visit = Visit(id: event.id, time: tap.time, card: card, tag: tag)
        readers[reader]?.lastOff = number.map { ($0, tap.time) }
        return event
    }

    /// What was read from the card.
    private func report(_ tap: Tap) -> JSONObject {
        var members = JSONObject()
        let kind = tap.history?.kind ?? tap.balance?.balances.first?.kind
        if tap.balance != nil || tap.history != nil {
            if settings.key == nil {
                let card = DecodedCard(identity: tap.card, kind: kind, brand: tap.brand)
                members["card"] = JSONValue { card.write(to: &$0) }
            } else {
                members["card"] = [
                    "technology": .string(tap.card.technology.rawValue), "kind": .text(kind?.rawValue),
                    "brand": .text(tap.brand?.id),
                ]
            }
        }
        if let balance = tap.balance {
            members["balances"] = .array(balance.balances.map { $0.json(settings.language) })
        }
        if let history = tap.history?.history {
            members["records"] = .array(history.map { $0.json(settings.language) })
        }
        if let error = tap.readError { members["readError"] = .string(settings.reason(error)) }
        return members
    }

    private mutating func departure(
        from reader: String, at time: ContinuousClock.Instant, _ reason: UnseenEnd? = nil
    ) -> OutboxEvent? {
        guard let visit = readers[reader]?.visit else { return nil }
        readers[reader]?.visit = nil
        guard let id = visit.id else { return nil }
        if let last = readers[reader]?.lastOff { readers[reader]?.lastOff = (last.number, time) }
        var members = visit.card
        members["on"] = .string(id)
        members["dwellMs"] = .optional(visit.time.map { max(0, Int($0.duration(to: time) / .milliseconds(1))) })
        if let reason { members["reason"] = .string(reason.rawValue) }
        return event("off", reader, at: time, visit.tag, members)
    }

    /// A reader that is retried again and again gives one event, not one for each try.
    private mutating func change(_ state: String, of reader: String) -> OutboxEvent? {
        guard readers[reader]?.state?.word != state else { return nil }
        let event = event("reader", reader, at: .now, nil, JSONObject([("state", .string(state))]))
        readers[reader]?.state = (state, EventClock.text(event.time))
        return event
    }

    /// Every reader that is known, of this run or an earlier one.
    ///
    /// - Parameters:
    ///   - ids: the readers that are watched; `nil` for all.
    ///   - products: what the readers are, by their names.
    func readers(watching ids: [String]?, products: [String: String]) -> [ReaderStatus] {
        let given = Set(settings.names.values)
        let watched = ids.map { Set($0.map(name)) }
        return Set(readers.keys).union(products.keys).sorted().map { name in
            ReaderStatus(
                name: name, isNamed: given.contains(name), isWatched: watched?.contains(name) ?? true,
                state: readers[name]?.state, sequence: readers[name]?.sequence ?? 0, product: products[name])
        }
    }

    private mutating func event(
        _ type: String, _ reader: String, at time: ContinuousClock.Instant, _ tag: String?, _ members: JSONObject
    ) -> OutboxEvent {
        let now = clock.now()
        let moment = now.earlier(by: max(.zero, time.duration(to: .now)))
        let id = ids.next(at: now.wall)
        readers[reader, default: ReaderRecord()].sequence += 1
        let sequence = readers[reader]?.sequence ?? 1
        var object = JSONObject([
            ("schema", "kazasu.tap/1"), ("id", .string(id)), ("seq", .int(sequence)), ("type", .string(type)),
            ("at", .string(EventClock.text(moment.wall))), ("mono", .int(moment.boot)),
            ("clock", moment.isSynchronised ? "synchronised" : "unsynchronised"), ("site", .string(settings.site)),
            ("reader", .string(reader)),
        ])
        object.merge(members)
        return OutboxEvent(
            id: id, reader: reader, sequence: sequence, type: type, time: moment.wall, tag: tag,
            line: JSONValue.object(object).compactText)
    }
}

extension ReaderWatch.ReaderState {
    /// The value of `state` in the event.
    package var word: String {
        switch self {
        case .ready: "ready"
        case .gone: "gone"
        case .error: "error"
        }
    }
}

extension CardIdentity {
    /// The bytes of the IDm, UID or PUPI.
    fileprivate var number: [UInt8]? { idm?.bytes ?? uid ?? pupi }
}
