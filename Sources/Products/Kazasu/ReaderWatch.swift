// SPDX-License-Identifier: Apache-2.0

package import CardDecoders
internal import CardReading
internal import ReaderCore

/// Watches several readers, each on its own thread. Readers may be connected and disconnected.
package struct ReaderWatch: Sendable {
    /// An event on the watched readers.
    package enum Event: Sendable {
        /// A reader was opened by this ID; it has this name of its own.
        case opened(String, product: String)
        /// A tap, on the reader that was opened by this ID; the tap itself has the driver's ID of the reader.
        case tap(Tap, reader: String)
        /// A reader's state changed.
        case reader(String, ReaderState)
        /// The reader that was opened by this ID may beep by itself although it was to be quiet.
        case beeps(String)
        /// A reader named by the caller can never be used.
        case failed(KazasuError)
    }

    /// What a reader does between two events.
    package enum Progress: Sendable {
        /// It looks for a card.
        case looking
        /// A card on it did not answer.
        case missed
    }

    package typealias ReaderState = Taps.ReaderState

    /// The readers to watch; `nil` for all that are ready, now or later.
    let readers: [String]?
    let query: CardQuery
    let reading: TapReading
    /// Called on the reader's thread with each card that is put on it.
    package var work: (@Sendable (Card) throws(KazasuError) -> Void)?
    /// Names the places of a history.
    let stations: any StationNames
    /// Whether the readers are not to beep by themselves.
    package var isQuiet = false
    /// Lets programs use the readers, too.
    var shared: (any ReaderSharing)?
    /// Called on the reader's thread, with the ID by which it was opened.
    let progress: @Sendable (Progress, String) -> Void
    /// Opens a reader; tests replace it.
    var open: @Sendable (String, CancellationToken) throws(KazasuError) -> any Reader = {
        id, cancellation throws(KazasuError) in
        try ReaderRegistry.openReader(id, cancellation)
    }
    /// Lists the readers, and reports that they may have changed; tests replace both.
    var list: @Sendable () -> [ReaderListing] = { ReaderRegistry.list() }
    var notices: @Sendable (CancellationToken) -> any DeviceNotices = { ReaderRegistry.notices($0) }
    /// How long a reader's calls may take; one that hangs is closed and opened again.
    var limits = BoundedReader.Limits()
    /// Waits between attempts; tests replace it to avoid waiting.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    package init(
        readers: [String]?, query: CardQuery, reading: TapReading, stations: any StationNames = ShippedStations(),
        shared: (any ReaderSharing)? = nil, progress: @escaping @Sendable (Progress, String) -> Void = { _, _ in }
    ) {
        (self.readers, self.query, self.reading, self.progress) = (readers, query, reading, progress)
        (self.stations, self.shared) = (stations, shared)
    }

    /// Watches until the task is cancelled or no reader can deliver any more cards.
    ///
    /// - Parameter tell: called from any thread.
    package func run(_ tell: @escaping @Sendable (Event) -> Void) async {
        if let readers = readers ?? ReaderRegistry.namedReader.map({ [$0] }) {
            await withDiscardingTaskGroup { group in
                for id in readers {
                    group.addTask {
                        var reader = WatchedReader(isNamed: true)
                        _ = await watch(id, &reader, Gate(0), isListed: { true }, tell)
                    }
                }
            }
        } else {
            await watchAll(tell)
        }
    }

    /// Watches every reader as soon as it is ready.
    private func watchAll(_ tell: @escaping @Sendable (Event) -> Void) async {
        let watched = Gate(WatchedReaders())
        // How often each was plugged in.
        var plugs: [String: Gate<Int>] = [:]
        await withDiscardingTaskGroup { group in
            do throws(TransportError) {
                let devices = try AsyncDeviceTracker(notices, list: list)
                while true {
                    for change in try await devices.next() {
                        let id = change.device.id
                        let isReady: Bool? = if case .left = change { nil } else { change.device.isUsable }
                        let plug = plugs[id] ?? Gate(0)
                        plugs[id] = plug
                        // One that has been listed becomes ready again each time that it is closed here.
                        if case .arrived = change { plug.withLock { $0 += 1 } }
                        guard watched.withLock({ $0.note(id, isReady: isReady) }) else { continue }
                        group.addTask {
                            var reader = WatchedReader(isNamed: false)
                            while await watch(
                                id, &reader, plug, isListed: { watched.withLock { $0.isListed(id) } }, tell)
                            {
                                guard watched.withLock({ $0.isBack(id) }) else { return }
                            }
                            watched.withLock { $0.end(id) }
                        }
                    }
                }
            } catch {
                group.cancelAll()
                if error != .cancelled { tell(.failed(.reader(error, id: ""))) }
            }
        }
    }

    /// Watches one reader, opening it again after each failure.
    ///
    /// - Parameter plugs: how often it was plugged in, which ends a pause.
    /// - Returns: whether it ended since the reader is not listed.
    private func watch(
        _ id: String, _ reader: inout WatchedReader, _ plugs: Gate<Int>, isListed: () -> Bool,
        _ tell: @escaping @Sendable (Event) -> Void
    ) async -> Bool {
        shared?.beginsWatching(id)
        defer { shared?.endsWatching(id) }
        while !Task.isCancelled {
            let seen = plugs.withLock { $0 }
            let outcome = await hosted(id, tell)
            if outcome.wasReady { _ = reader.opened() }
            switch outcome.error {
            case .cancelled,
                // The recording is over.
                .reader(.outOfScript, _), .reading(.reader(.outOfScript)):
                return false
            case .noReader:
                tell(.failed(outcome.error))
                return false
            case let error where error.isAboutID:
                tell(.failed(error))
                return false
            case let error:
                let (state, next) = reader.failed(error)
                if let state { tell(.reader(id, state)) }
                let pause: Duration
                switch next {
                case .retry(let time): pause = time
                case .retryIfListed(let time):
                    guard isListed() else { return true }
                    pause = time
                }
                guard await sleep(pause, or: plugs, after: seen) else { return false }
                if plugs.withLock({ $0 }) != seen { reader.pluggedIn() }
            }
        }
        return false
    }

    /// Waits between two attempts, until the reader is plugged in.
    ///
    /// - Parameter seen: how often it had been plugged in before the last attempt.
    /// - Returns: `false` if the task was cancelled.
    private func sleep(_ pause: Duration, or plugs: Gate<Int>, after seen: Int) async -> Bool {
        let sleep = sleep
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await sleep(pause) }
            group.addTask { _ = await plugs.waitUnlessCancelled { $0 != seen ? () : nil } }
            await group.next()
            group.cancelAll()
        }
        return !Task.isCancelled
    }

    /// How a session ended.
    private struct Outcome {
        var error: KazasuError
        /// Whether the reader could be used before.
        var wasReady: Bool
        /// Set if the reader is to be opened again at once.
        var interruption: Interruption?
    }

    /// A reader was cancelled, to end its exchange for a program.
    private struct Interruption {
        /// The card that lies on it.
        var card: FoundCard?
    }

    /// Runs one reader from opening it to its failure, and lets programs use it meanwhile.
    private func hosted(_ id: String, _ tell: @escaping @Sendable (Event) -> Void) async -> Outcome {
        guard let shared else { return await session(id, nil, tell) }
        guard let guests = await shared.guests(of: id) else { return Outcome(error: .cancelled, wasReady: false) }
        var outcome = await session(id, guests, tell)
        while outcome.interruption != nil, !Task.isCancelled {
            outcome = await session(id, guests, after: outcome, tell)
        }
        guests.end()
        return outcome
    }

    /// - Parameter before: the end of the session that this one continues, as if the reader had never been closed.
    private func session(
        _ id: String, _ guests: (any ReaderGuests)?, after before: Outcome? = nil,
        _ tell: @escaping @Sendable (Event) -> Void
    ) async -> Outcome {
        let reader: AsyncCardReader
        do throws(KazasuError) {
            reader = try await AsyncCardReader.open(id, limits) { cancellation throws(KazasuError) in
                try open(id, cancellation)
            }
        } catch {
            if let card = before?.interruption?.card {
                tell(.tap(Tap(.lost, card, reader: id, time: .now), reader: id))
            }
            return Outcome(error: error, wasReady: before != nil)
        }
        let product = await reader.product
        if before == nil {
            if let product { tell(.opened(id, product: product)) }
            tell(.reader(id, .ready))
        }
        let present = before?.interruption?.card
        let watching = Task {
            let ended = await reader.run { watchCards(on: $0, opened: id, guests, present, tell) }
            await reader.close()
            return ended
        }
        let ended = await withTaskCancellationHandler {
            await watching.value
        } onCancel: {
            Task {
                // What a program has begun is finished first.
                await guests?.leave(within: limits.grace)
                watching.cancel()
            }
        }
        guard !Task.isCancelled else { return Outcome(error: .cancelled, wasReady: true) }
        if ended.error == .cancelled, guests?.wasAborted() == true {
            return Outcome(error: .cancelled, wasReady: true, interruption: Interruption(card: ended.present))
        }
        let error = ended.error == .cancelled ? .reader(.readerTimeout, id: id) : ended.error
        for tap in ended.taps { tell(.tap(tap, reader: id)) }
        return Outcome(error: error, wasReady: true)
    }

    /// How the watch of an open reader ended: why, what is to be reported of the card that lay there unless the reader is
    /// opened again at once, and that card.
    private typealias End = (error: KazasuError, taps: [Tap], present: FoundCard?)

    /// Reports the cards that come to an open reader, on its thread, until it fails or is cancelled.
    ///
    /// - Parameter present: the card that lay on it when it was closed for a program.
    private func watchCards(
        on reader: CardReader, opened id: String, _ guests: (any ReaderGuests)?, _ present: FoundCard?,
        _ tell: @escaping @Sendable (Event) -> Void
    ) -> End {
        let device = reader.information.id
        guests?.didOpen(reader.information)
        defer { guests?.didClose() }
        // A reader that fails here fails again in a moment, and is reported then.
        if isQuiet, (try? reader.device.silence()) != true { tell(.beeps(id)) }
        /// A card that is being read, and when it came.
        var unread: (card: FoundCard, time: ContinuousClock.Instant)?
        var watch = CardWatch(reader, query, reading, stations, work, guests: guests, present: present) { step in
            switch step {
            case .looking: progress(.looking, id)
            case .missed: progress(.missed, id)
            case .found(let card): unread = (card, .now)
            }
        }
        do throws(KazasuError) {
            while true {
                let tap = try watch.next()
                unread = nil
                tell(.tap(tap, reader: id))
            }
        } catch {
            let on = unread.map { unread in
                let report = Tap.Report(error: .reader(.readerTimeout, id: device))
                return Tap(.on, unread.card, reader: device, time: unread.time, report)
            }
            let lost = watch.present.map { Tap(.lost, $0, reader: device, time: .now) }
            return (error, [on, lost].compactMap(\.self), watch.present)
        }
    }
}
