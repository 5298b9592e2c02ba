// SPDX-License-Identifier: Apache-2.0

package import CardDecoders
internal import CardReading
internal import ReaderCore
internal import Synchronization

/// Watches several readers, each on its own thread. Readers may be connected and disconnected.
package struct ReaderWatch: Sendable {
    /// An event on the watched readers.
    package enum Event: Sendable {
        /// A reader was opened by this ID; it has this name of its own.
        case opened(String, product: String)
        /// A tap, on the reader that was opened by this ID; the tap itself has the driver's ID of the reader.
        case tap(Tap, reader: String)
        /// A reader became ready, or is not ready; repeated only when something else was the case meanwhile.
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

    /// How long to wait before retrying a reader that could not be opened or failed; the pause grows up to the limit.
    private static let (firstPause, longestPause): (Duration, Duration) = (.milliseconds(500), .seconds(5))

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
    /// A reader that does not answer for so long is closed and opened again; no read takes a third of it.
    private static let patience = Duration.seconds(30)
    /// How long a reader that was told to stop, or to close, may take before its thread is abandoned.
    var grace = AsyncReader.grace
    /// How long opening a reader may take.
    var opening = AsyncCardReader.opening
    /// Waits between attempts; tests replace it to avoid waiting.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    /// Waits between two looks at whether a reader still answers; tests replace it.
    var tick: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

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
                        var told: ReaderState?
                        await watch(id, isNamed: true, &told, tell)
                    }
                }
            }
        } else {
            await watchAll(tell)
        }
    }

    /// Watches every reader as soon as it is ready.
    private func watchAll(_ tell: @escaping @Sendable (Event) -> Void) async {
        let running = Running()
        await withDiscardingTaskGroup { group in
            do throws(TransportError) {
                let devices = try AsyncDeviceTracker(notices, list: list)
                while true {
                    for change in try await devices.next() {
                        guard let id = running.begin(change) else { continue }
                        group.addTask {
                            var told: ReaderState?
                            repeat {
                                await watch(id, isNamed: false, &told, tell)
                            } while running.isBack(id)
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
    /// - Parameter told: the state that was reported last.
    private func watch(
        _ id: String, isNamed: Bool, _ told: inout ReaderState?, _ tell: @escaping @Sendable (Event) -> Void
    ) async {
        shared?.beginsWatching(id)
        defer { shared?.endsWatching(id) }
        var pause = Self.firstPause
        while !Task.isCancelled {
            let outcome = await hosted(id, tell)
            switch outcome.error {
            case .cancelled: return
            case .noReader: return tell(.failed(outcome.error))
            case let error where error.isAboutID: return tell(.failed(error))
            // The recording is over.
            case .reader(.outOfScript, _), .reading(.reader(.outOfScript)): return
            case let error:
                let state: ReaderState = error.isReaderGone ? .gone : .error(error)
                if outcome.wasReady || state != told { tell(.reader(id, state)) }
                told = state
                // It is found again when it is plugged in.
                if state == .gone, !isNamed { return }
            }
            if outcome.wasReady { pause = Self.firstPause }
            guard (try? await sleep(pause)) != nil else { return }
            pause = min(pause * 2, Self.longestPause)
        }
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
            reader = try await AsyncCardReader.open(id, within: opening, grace: grace) {
                cancellation throws(KazasuError) in try open(id, cancellation)
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
        let session = Session()
        let watching = Task {
            let (error, card) = await reader.run {
                watchCards(on: $0, opened: id, guests, present, session, tell)
            }
            await reader.close(within: grace)
            let isInterrupted = error == .cancelled && guests?.wasAborted() == true
            session.end(error, isInterrupted ? Interruption(card: card) : nil)
        }
        let ended = await end(of: session, watching, guests)
        guard !Task.isCancelled else { return Outcome(error: .cancelled, wasReady: true) }
        if let interruption = ended.interruption {
            return Outcome(error: .cancelled, wasReady: true, interruption: interruption)
        }
        let error = ended.error == .cancelled ? .reader(.readerTimeout, id: id) : ended.error
        for tap in ended.taps { tell(.tap(tap, reader: id)) }
        return Outcome(error: error, wasReady: true)
    }

    /// Reports the cards that come to an open reader, on its thread, until it fails or is cancelled.
    ///
    /// - Parameter present: the card that lay on it when it was closed for a program.
    /// - Returns: why it ended, and the card that lay on the reader then.
    private func watchCards(
        on reader: CardReader, opened id: String, _ guests: (any ReaderGuests)?, _ present: FoundCard?,
        _ session: Session, _ tell: @escaping @Sendable (Event) -> Void
    ) -> (KazasuError, FoundCard?) {
        let device = reader.information.id
        guests?.didOpen(reader.information)
        defer { guests?.didClose() }
        // A reader that fails here fails again in a moment, and is reported then.
        if isQuiet, (try? reader.device.silence()) != true { tell(.beeps(id)) }
        var watch = CardWatch(reader, query, reading, stations, work, guests: guests, present: present) { step in
            switch step {
            case .looking:
                session.beat()
                progress(.looking, id)
            case .missed: progress(.missed, id)
            case .found(let card):
                let unread = Tap.Report(error: .reader(.readerTimeout, id: device))
                session.note([
                    Tap(.on, card, reader: device, time: .now, unread),
                    Tap(.lost, card, reader: device, time: .now),
                ])
            }
        }
        if let present { session.note([Tap(.lost, present, reader: device, time: .now)]) }
        do throws(KazasuError) {
            while true {
                let tap = try watch.next()
                let loss = watch.present.map { [Tap(.lost, $0, reader: device, time: .now)] }
                session.note(loss ?? []) { tell(.tap(tap, reader: id)) }
            }
        } catch {
            return (error, watch.present)
        }
    }

    /// Waits for the end of a session, and ends it when the reader hangs or this task is cancelled.
    private func end(
        of session: Session, _ watching: Task<Void, Never>, _ guests: (any ReaderGuests)?
    ) async -> Session.End {
        let grace = grace
        let stop: @Sendable () async -> Void = {
            watching.cancel()
            // A thread that is stuck in a driver cannot be ended.
            if (try? await Task.sleep(for: grace)) != nil { session.end(.cancelled) }
        }
        let hangs = Task { if await Self.patience.passesInSilence(tick, unless: session.isAlive) { await stop() } }
        defer { hangs.cancel() }
        return await session.end.value(onCancel: {
            Task {
                // What a program has begun is finished first.
                await guests?.leave(within: grace)
                await stop()
            }
        })
    }

    /// What the thread of a reader tells those who wait for it, until either of them ends the session.
    private final class Session: Sendable {
        typealias End = (error: KazasuError, taps: [Tap], interruption: Interruption?)

        private struct State {
            /// Whether the reader has shown that it answers, since the last look.
            var isAlive = false
            /// What is to be reported if the session ends now.
            var taps: [Tap] = []
            var isOver = false
        }

        let end = OneShot<End>()
        private let state = Mutex(State())

        func beat() { state.withLock { $0.isAlive = true } }

        /// Whether there was a beat since the last call.
        func isAlive() -> Bool {
            state.withLock { state in
                defer { state.isAlive = false }
                return state.isAlive
            }
        }

        /// Remembers what is to be reported if the session ends now, and reports, unless it is over.
        func note(_ taps: [Tap], _ report: () -> Void = {}) {
            state.withLock { state in
                guard !state.isOver else { return }
                state.taps = taps
                report()
            }
        }

        /// Ends the session; only the first end counts.
        func end(_ error: KazasuError, _ interruption: Interruption? = nil) {
            let taps = state.withLock { state in
                state.isOver = true
                return state.taps
            }
            end.give((error, taps, interruption))
        }
    }

    /// The readers being watched, and whether they have become ready since their watch began: one that was unplugged may
    /// be back before its watch has noticed that.
    private final class Running: Sendable {
        private let isReadyAgain = Mutex<[String: Bool]>([:])

        /// - Returns: the reader to watch now, if any.
        func begin(_ change: DeviceChange<ReaderListing>) -> String? {
            let id = change.device.id
            let isReady = if case .left = change { false } else { change.device.isUsable }
            return isReadyAgain.withLock { isReadyAgain in
                let isNew = isReadyAgain[id] == nil
                guard isReady || !isNew else { return nil }
                isReadyAgain[id] = isReady && !isNew
                return isNew ? id : nil
            }
        }

        /// The watch of a reader is over.
        ///
        /// - Returns: whether to watch it again.
        func isBack(_ id: String) -> Bool {
            isReadyAgain.withLock { isReadyAgain in
                guard isReadyAgain.removeValue(forKey: id) == true else { return false }
                isReadyAgain[id] = false
                return true
            }
        }
    }
}

extension KazasuError {
    /// Whether the ID of the reader, or its file, is wrong: another attempt cannot succeed.
    package var isAboutID: Bool {
        switch self {
        case .unknownReader, .badFile, .unreadableFile: true
        case .reader(.readerUnavailable(.unsupported, let detail), _): detail.code.isAboutID
        default: false
        }
    }

    /// Whether the reader is not connected.
    fileprivate var isReaderGone: Bool {
        switch self {
        case .reader(.readerUnavailable(.absent, _), _), .reading(.reader(.readerUnavailable(.absent, _))): true
        default: false
        }
    }
}
