// SPDX-License-Identifier: Apache-2.0

/// A place that events are delivered to: a program, a web server, a broker.
///
/// The outbox calls a sink with the events of one reader in their order, and calls it again with the same events until
/// it has them. So a sink may see an event twice, but always with the same ``OutboxEvent/id``.
package protocol Sink: Sendable {
    /// What the outbox keeps its queue by: stable across restarts, without secrets, as in `webhook:example.com/taps`.
    var name: String { get }

    /// How many events of one reader it takes at a time.
    var window: Int { get }

    /// How often an event is tried again before it is dead; `nil` for no limit, which is the default.
    var retries: Int? { get }

    /// Delivers events of one reader, oldest first.
    ///
    /// - Parameter events: at most ``window`` of them.
    /// - Returns: one result for each event, in the same order. No event after a ``DeliveryResult/retry(_:after:)`` may
    ///   be delivered; each of them gets a retry, too.
    func deliver(_ events: [OutboxEvent]) async -> [DeliveryResult]

    /// Takes what is known of the readers, for sinks that show their state: before the first event, and at each change.
    func know(_ readers: [ReaderStatus])

    /// Calls a function whenever the sink can take events again, so that none waits for its next attempt.
    func whenReady(_ retry: @escaping @Sendable () -> Void)

    /// Releases what it holds. No more events are delivered afterwards.
    func close() async
}

extension Sink {
    package var retries: Int? { nil }
    package func know(_ readers: [ReaderStatus]) {}
    package func whenReady(_ retry: @escaping @Sendable () -> Void) {}
}

/// What a watcher knows of a reader, beside its events.
package struct ReaderStatus: Sendable {
    /// Its name in events.
    package var name: String
    /// Whether the user chose the name; otherwise it is the reader's ID.
    package var isNamed: Bool
    /// Whether it is among the readers that are watched now; others are known from earlier.
    package var isWatched: Bool
    /// `ready`, `gone` or `error`, since then; `nil` when nothing was heard of it in this run.
    package var state: (word: String, since: String)?
    /// The number of its last event.
    package var sequence: Int
    /// The product, as its driver names it; `nil` until it was opened.
    package var product: String?
}

/// The result of one delivery.
package enum DeliveryResult: Hashable, Sendable {
    /// The sink has it.
    case delivered
    /// Not now; `reason` is a short token such as `timeout` or `exit3`, and `after` what the sink asked for.
    case retry(_ reason: String, after: Duration? = nil)
    /// Never: it goes to the dead letters.
    case dead(_ reason: String)
}

/// An event as the outbox keeps it.
package struct OutboxEvent: Hashable, Sendable {
    /// The UUIDv7, in lower case with hyphens.
    package var id: String
    /// The reader's name in the event.
    package var reader: String
    /// The number within the reader, from 1, without gaps.
    package var sequence: Int
    /// `on`, `off` or `reader`.
    package var type: String
    /// Milliseconds since 1970.
    package var time: Int
    /// The identity of the card; `nil` for a reader's event and for a card whose number is random.
    package var tag: String?
    /// The JSON document `kazasu.tap/1` on one line, without the line's end.
    package var line: String

    package init(
        id: String, reader: String, sequence: Int, type: String, time: Int, tag: String? = nil, line: String
    ) {
        self.id = id
        self.reader = reader
        self.sequence = sequence
        self.type = type
        self.time = time
        self.tag = tag
        self.line = line
    }
}
