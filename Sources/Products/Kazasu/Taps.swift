// SPDX-License-Identifier: Apache-2.0

public import CardDecoders

/// A sequence of cards being put on readers and taken off.
///
/// ```swift
/// for try await tap in taps() where tap.kind == .on { print(tap.card) }
/// ```
///
/// The readers are opened by ``makeAsyncIterator()`` and closed when the iterator is gone or its task is cancelled.
/// Each has its own thread, so that a failing reader does not stop the others; it is opened again as soon as that
/// works. Taps wait until the loop takes them, however slow the loop is.
public struct Taps: AsyncSequence, Sendable {
    /// A tap.
    public typealias Element = Tap
    /// Why there are no more taps.
    public typealias Failure = KazasuError

    let watch: ReaderWatch

    /// Opens the readers and starts watching.
    public func makeAsyncIterator() -> Iterator { Iterator(events: events.makeAsyncIterator()) }

    /// Waits for one tap after another.
    public struct Iterator: AsyncIteratorProtocol {
        var events: Events.Iterator

        /// Waits for the next tap.
        ///
        /// - Returns: `nil` if no reader is left that could deliver one, such as when a recording is over.
        /// - Throws: ``KazasuError`` if a reader named by the caller cannot be used at all; ``KazasuError/cancelled``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(KazasuError) -> Tap? {
            while let event = try await events.next(isolation: actor) {
                if case .tap(let tap) = event { return tap }
            }
            return nil
        }
    }

    // MARK: Readers

    /// The same taps, and each change of a reader's state between them.
    ///
    /// ```swift
    /// for try await event in taps().events {
    ///     switch event {
    ///     case .tap(let tap): print(tap.kind, tap.card)
    ///     case .reader(let id, let state): print(id, state)
    ///     }
    /// }
    /// ```
    public var events: Events { Events(watch: watch) }

    /// Something that happened on the readers.
    @nonexhaustive
    public enum Event: Sendable {
        /// A card was put on a reader or taken off.
        case tap(Tap)
        /// The reader with this ID became ready, or is not ready.
        case reader(String, ReaderState)
    }

    /// Whether a reader can notice cards.
    @nonexhaustive
    public enum ReaderState: Hashable, Sendable {
        case ready
        /// It was ready and is not connected any more.
        case gone
        /// It cannot be used, or has not been connected yet.
        case error(KazasuError)
    }

    /// A sequence of taps and changes of readers.
    public struct Events: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = Event
        /// Why there are no more events.
        public typealias Failure = KazasuError

        let watch: ReaderWatch

        /// Opens the readers and starts watching.
        public func makeAsyncIterator() -> Iterator {
            let (events, continuation) = AsyncStream.makeStream(of: ReaderWatch.Event.self)
            let task = Task { [watch] in
                await watch.run { continuation.yield($0) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
            return Iterator(events: events.makeAsyncIterator())
        }

        /// Waits for one event after another.
        public struct Iterator: AsyncIteratorProtocol {
            var events: AsyncStream<ReaderWatch.Event>.Iterator

            /// Waits for the next event.
            ///
            /// - Returns: `nil` if no reader is left that could deliver one, such as when a recording is over.
            /// - Throws: ``KazasuError`` if a reader named by the caller cannot be used at all;
            ///   ``KazasuError/cancelled``.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(KazasuError) -> Event? {
                while let event = await events.next(isolation: actor) {
                    switch event {
                    case .tap(let tap, _): return .tap(tap)
                    case .reader(let id, let state): return .reader(id, state)
                    case .opened, .beeps: continue
                    case .failed(let error): throw error
                    }
                }
                if Task.isCancelled { throw .cancelled }
                return nil
            }
        }
    }
}

/// Returns the cards being put on readers and taken off.
///
/// - Parameters:
///   - readers: their IDs, as in ``openReader(_:)``; one that is not connected yet is waited for. `nil` for the
///     one that the environment variable `KAZASU_READER` names, else every reader that is connected now or later.
///   - query: the cards to report; any card by default.
///   - reading: the data to read from each card.
///   - stations: the table of names of stations and stops.
///   - work: what else to do with each card, on the reader's thread, before its tap is reported; the card must not
///     escape it. A cancelled sequence waits until it returns. An error becomes ``Tap/readError``.
public func taps(
    on readers: [String]? = nil, _ query: CardQuery = .any, reading: TapReading = .id,
    stations: any StationNames = ShippedStations(),
    with work: (@Sendable (Card) throws(KazasuError) -> Void)? = nil
) -> Taps {
    var watch = ReaderWatch(readers: readers, query: query, reading: reading, stations: stations)
    watch.work = work
    return Taps(watch: watch)
}

/// Returns the cards being put on readers that the program opens itself, and taken off.
///
/// ```swift
/// for try await tap in taps(from: [ReaderSource("mine") { try MyReader(cancellation: $0) }]) { print(tap.card) }
/// ```
///
/// - Parameters:
///   - sources: the readers; one that fails is opened again.
///   - query: the cards to report; any card by default.
///   - reading: the data to read from each card.
///   - stations: the table of names of stations and stops.
///   - work: as in ``taps(on:_:reading:stations:with:)``.
public func taps(
    from sources: [ReaderSource], _ query: CardQuery = .any, reading: TapReading = .id,
    stations: any StationNames = ShippedStations(),
    with work: (@Sendable (Card) throws(KazasuError) -> Void)? = nil
) -> Taps {
    var watch = ReaderWatch(readers: sources.map(\.id), query: query, reading: reading, stations: stations)
    watch.use(sources)
    watch.work = work
    return Taps(watch: watch)
}

extension ReaderWatch {
    /// Opens these readers as the program says, all others by their IDs.
    package mutating func use(_ sources: [ReaderSource]) {
        guard !sources.isEmpty else { return }
        let openByID = open
        open = { id, cancellation throws(KazasuError) in
            guard let source = sources.first(where: { $0.id == id }) else { return try openByID(id, cancellation) }
            return try source.open(cancellation)
        }
    }
}
