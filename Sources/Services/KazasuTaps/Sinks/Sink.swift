// SPDX-License-Identifier: Apache-2.0

/// Makes a sink for a plan: a ``Watcher`` calls it when the plan takes effect, and closes the sink once, when another plan has
/// replaced that one or the watcher ends.
public typealias SinkFactory = @Sendable () -> any Sink

/// A place that events are delivered to: a program, a web server, a broker.
///
/// The outbox calls a sink with the events of one reader in their order, and calls it again with the same events until
/// it has them. So a sink may see an event twice, but always with the same ``TapEvent/id``.
public protocol Sink: Sendable {
    /// The key of its queue in the outbox: stable across restarts, without secrets, as in `webhook:example.com/taps`.
    var name: String { get }

    /// How many events of one reader it takes at a time.
    var window: Int { get }

    /// How often an event is tried again before it is dead; `nil` for no limit, which is the default.
    var retries: Int? { get }

    /// Delivers events of one reader, oldest first. Once its task is cancelled, it returns soon: nobody waits longer than five
    /// seconds for it.
    ///
    /// - Parameter events: at most ``window`` of them.
    /// - Returns: one result for each event, in the same order. No event after a ``DeliveryResult/retry(_:after:)`` may
    ///   be delivered; each of them gets a retry, too: see ``DeliveryResult/inOrder(_:_:)``. An event without a result is
    ///   tried again.
    func deliver(_ events: [StoredEvent]) async -> [DeliveryResult]

    /// Begins to work. Called before any event; a sink of the same name that an earlier plan had is closed by then.
    func start() async

    /// Takes what is known of the readers, for sinks that show their state: before the first event, and at each change.
    func know(_ readers: [ReaderStatus])

    /// Sets a function to call whenever the sink accepts events again, so that none waits for its next attempt.
    func whenReady(_ retry: @escaping @Sendable () -> Void)

    /// Releases what it holds. No more events are delivered afterwards.
    func close() async
}

extension Sink {
    /// Tries each event without a limit.
    public var retries: Int? { nil }
    /// Does nothing.
    public func start() async {}
    /// Does nothing.
    public func know(_ readers: [ReaderStatus]) {}
    /// Does nothing.
    public func whenReady(_ retry: @escaping @Sendable () -> Void) {}
}

/// What a watcher knows of a reader, beside its events.
public struct ReaderStatus: Sendable {
    /// Its name in events.
    public var name: String
    /// Whether the user chose the name; otherwise it is the reader's ID.
    public var isNamed: Bool
    /// Whether it is among the readers that are watched now; others are known from earlier.
    public var isWatched: Bool
    /// Its state; `nil` if there was no event of it in this run.
    public var state: TapEvent.ReaderState?
    /// Since when it has its state (RFC 3339).
    public var since: String?
    /// The number of its last event.
    public var sequence: Int
    /// The product, as its driver names it; `nil` until it was opened.
    public var product: String?
}

/// The result of one delivery.
@nonexhaustive
public enum DeliveryResult: Hashable, Sendable {
    /// The sink has it.
    case delivered
    /// Failed for now; `reason` is a short token such as `timeout` or `exit3`, `after` the least pause.
    case retry(_ reason: String, after: Duration? = nil)
    /// Failed for good: the event goes to the dead letters.
    case dead(_ reason: String)
}

extension DeliveryResult {
    /// Delivers events one by one, and none after one that is to be tried again: those get a retry, too.
    ///
    /// ```swift
    /// await DeliveryResult.inOrder(events) { deliver($0) }
    /// ```
    ///
    /// - Parameters:
    ///   - events: those of ``Sink/deliver(_:)``.
    ///   - deliver: delivers one event.
    /// - Returns: one result for each event, in the same order.
    public nonisolated(nonsending) static func inOrder(
        _ events: [StoredEvent], _ deliver: (StoredEvent) async -> DeliveryResult
    ) async -> [DeliveryResult] {
        var results: [DeliveryResult] = []
        for event in events {
            if let last = results.last, case .retry = last {
                results.append(last)
            } else {
                results.append(await deliver(event))
            }
        }
        return results
    }
}
