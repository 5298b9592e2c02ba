// SPDX-License-Identifier: Apache-2.0

internal import CardReading
package import Kazasu
package import ReaderCore
internal import Synchronization

/// Readers that the programs of a server share, with each other and with the taps.
///
/// A reader whose cards are reported (``ReaderWatch``) is used between its presence checks. Another one is opened when somebody
/// wants it, and closed when nobody has for a while.
package final class SharedReaders: Sendable {
    private struct State {
        var turns: [String: ReaderTurns] = [:]
        /// Those who want any reader, until it is known which one is ready.
        var undecided: ReaderTurns?
        /// The readers that are open, in the order in which they were opened; drivers may use other IDs.
        var open: [(id: String, device: ReaderInformation)] = []
        /// The IDs of readers that have names, in the order in which the user named them.
        var names: [(name: String, id: String)] = []
        /// The IDs of readers that had names and have none now: they are not opened any more.
        var removed: Set<String> = []
        /// How many report the cards of a reader, by the ID by which they open it.
        var watched: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let open: @Sendable (String, CancellationToken) throws(KazasuError) -> any Reader
    private let choose: @Sendable () throws(KazasuError) -> String
    /// How long a reader stays open for the next program.
    private let linger: Duration
    private let limits: BoundedReader.Limits
    /// How much longer than it should a reader may take before programs give up waiting for it.
    private let patience: Duration

    /// - Parameters:
    ///   - linger: how long a reader stays open for the next program.
    ///   - limits: how long a reader's calls may take.
    ///   - patience: how much longer than it should a reader may take before programs give up waiting for it.
    ///   - open: opens a reader; tests replace it.
    ///   - choose: returns the reader to use if none is named.
    package init(
        linger: Duration = .seconds(5), limits: BoundedReader.Limits = BoundedReader.Limits(),
        patience: Duration? = nil,
        open: @escaping @Sendable (String, CancellationToken) throws(KazasuError) -> any Reader = {
            id, cancellation throws(KazasuError) in try ReaderRegistry.openReader(id, cancellation)
        },
        choose: @escaping @Sendable () throws(KazasuError) -> String = { () throws(KazasuError) in
            try ReaderRegistry.choose(nil)
        }
    ) {
        (self.linger, self.limits) = (linger, limits)
        self.patience = patience ?? SignsOfLife.usualPatience
        (self.open, self.choose) = (open, choose)
    }

    /// Gives readers names, by which programs may ask for them, in place of those of before. A reader that loses its name
    /// is no longer there for programs, unless any reader may be used: those who wait for it fail once its cards are not
    /// reported any more.
    package func setNames(_ names: [(name: String, id: String)]) {
        state.withLock { state in
            let all = state.removed.union(state.names.map(\.id))
            state.removed = names.isEmpty ? [] : all.subtracting(names.map(\.id))
            state.names = names
        }
    }

    /// Whether the user has removed this reader.
    private func isRemoved(_ id: String) -> Bool {
        state.withLock { state in
            !state.names.contains { $0.id == id }
                && state.removed.contains { id == $0 || id.hasPrefix($0 + ":") }
        }
    }

    /// A reader that the user named, or that is watched or open.
    package struct Known: Sendable {
        /// The name that the user gave it, if it has one.
        package let name: String?
        /// The ID with which it is opened; drivers may use another one.
        package let id: String
        /// What the driver says; `nil` while it is not open.
        package let device: ReaderInformation?
        /// Whether its cards are reported.
        package let isWatched: Bool
    }

    /// The readers that the user named, in that order, and the others that are watched or open.
    package var known: [Known] {
        let (names, open, watched) = state.withLock { ($0.names, $0.open, $0.watched) }
        func known(_ name: String?, _ id: String) -> Known {
            Known(
                name: name, id: id, device: open.first { $0.id == id }?.device, isWatched: watched[id] != nil)
        }
        let others = Set(open.map(\.id) + watched.keys).subtracting(names.map(\.id))
        return names.map { known($0.name == $0.id ? nil : $0.name, $0.id) } + others.sorted().map { known(nil, $0) }
    }

    /// By what a program may ask for the readers that the user named or that are open.
    package var allNames: [String] { known.map { $0.name ?? $0.device?.id ?? $0.id } }

    /// Whether this is the name or ID of a reader that was named or is open.
    package func isKnown(_ reader: String) -> Bool {
        let reader = ReaderRegistry.lastingID(of: reader)
        return state.withLock { state in
            state.names.contains { $0.name == reader || $0.id == reader }
                || state.open.contains { $0.id == reader || $0.device.id == reader }
        }
    }

    /// Runs a closure with a reader as soon as it is its turn.
    ///
    /// - Parameters:
    ///   - reader: the name or ID of the reader. By default the one of `KAZASU_READER`, else the first that the user named,
    ///     else the first that is open, else the first that is ready.
    ///   - timeout: how long to wait for a card: zero for one attempt, `nil` for no limit.
    ///   - body: does the work on the thread of the reader, with a card that lies there. It is called again when a card
    ///     comes after it found none.
    /// - Throws: ``KazasuError`` if there is no such reader or it cannot be opened; ``KazasuError/cancelled``.
    package func run<Value: Sendable>(
        on reader: String?, timeout: Duration?, _ body: @escaping @Sendable (ReaderTurn) -> TurnAttempt<Value>
    ) async throws(KazasuError) -> Value {
        let id = id(of: reader)
        if let id, isRemoved(id) { throw .unknownReader(id) }
        do throws(KazasuError) {
            return try await (id.map(turns(of:)) ?? undecided).run(timeout: timeout, body)
        } catch {
            // The queue does not know whose it is.
            if case .reader(.hanging, "") = error, let id { throw .reader(.hanging, id: id) }
            throw error
        }
    }

    /// The queue of those who want any reader.
    private var undecided: ReaderTurns {
        state.withLock { state in
            if let turns = state.undecided { return turns }
            let turns = ReaderTurns(patience: patience) { [weak self] turns, host in
                guard let self else { return turns.end(host, .cancelled) }
                Task { await self.decide(turns, host) }
            }
            state.undecided = turns
            return turns
        }
    }

    private func decide(_ undecided: ReaderTurns, _ host: ReaderTurns.Host) async {
        let choose = choose
        do throws(KazasuError) {
            let id = try await BlockingWork.run { () throws(KazasuError) in try choose() }
            let turns = turns(of: id)
            state.withLock { $0.undecided = nil }
            undecided.move(to: turns)
        } catch {
            undecided.end(host, error)
        }
    }

    /// The queue of a reader.
    func turns(of id: String) -> ReaderTurns {
        state.withLock { state in
            if let turns = state.turns[id] { return turns }
            let turns = ReaderTurns(patience: patience) { [weak self] turns, host in
                guard let self else { return turns.end(host, .cancelled) }
                Task { await self.host(id, turns, host) }
            }
            state.turns[id] = turns
            return turns
        }
    }

    /// A reader was opened; drivers may call it by another ID.
    fileprivate func didOpen(_ id: String, device: ReaderInformation) {
        state.withLock { $0.open.append((id, device)) }
    }

    fileprivate func didClose(_ id: String) {
        state.withLock { state in
            if let index = state.open.lastIndex(where: { $0.id == id }) { state.open.remove(at: index) }
        }
    }

    /// The ID by which a reader is known here; `nil` if any will do and none is known.
    private func id(of reader: String?) -> String? {
        if let reader = (reader ?? ReaderRegistry.namedReader).map(ReaderRegistry.lastingID) {
            return state.withLock { state in
                if let named = state.names.first(where: { $0.name == reader }) { return named.id }
                if state.turns[reader] != nil { return reader }
                // One ID may be short for another, as rcs380 is.
                let open = state.open.first { $0.device.id == reader || $0.id.hasPrefix(reader + ":") }
                return open?.id ?? reader
            }
        }
        return state.withLock { $0.names.first?.id ?? $0.open.first?.id }
    }

    // MARK: Readers without taps

    /// Opens a reader for the programs that want it, until nobody does.
    private func host(_ id: String, _ turns: ReaderTurns, _ host: ReaderTurns.Host) async {
        guard !isRemoved(id) else { return turns.end(host, .unknownReader(id)) }
        let open = open
        let reader: AsyncCardReader
        do throws(KazasuError) {
            reader = try await AsyncCardReader.open(id, limits) { cancellation throws(KazasuError) in
                try open(id, cancellation)
            }
        } catch {
            return turns.end(host, error)
        }
        turns.signs.expect()
        let linger = linger
        let error = await reader.run { reader in
            self.didOpen(id, device: reader.information)
            defer { self.didClose(id) }
            return Self.serve(turns, host, on: reader, linger)
        }
        await reader.close()
        turns.end(host, error)
    }

    /// Lets programs have the reader until nobody wants it. Runs on the reader's thread.
    ///
    /// - Returns: why nobody can be served any more; `nil` if the reader is to be opened again for those who still want it.
    private static func serve(
        _ turns: ReaderTurns, _ host: ReaderTurns.Host, on reader: CardReader, _ linger: Duration
    ) -> KazasuError? {
        var hasCard = false
        while !turns.mustLeave(host), !reader.cancellation.isCancelled {
            switch turns.offer(reader.device, reader.cancellation, by: host, hasCard: hasCard) {
            case .used: continue
            case .failed: return nil
            case .declined: break
            }
            hasCard = false
            if turns.areWaiting {
                do throws(KazasuError) {
                    hasCard = try search(turns, host, reader)
                    if hasCard { turns.cardArrived() }
                } catch {
                    return error == .cancelled ? nil : error
                }
            } else {
                turns.pause(linger, host, hasCard: false)
                if !turns.areWanted(host, hasCard: false) { break }
            }
        }
        return nil
    }

    /// Looks for any card, until somebody wants the reader.
    private static func search(
        _ turns: ReaderTurns, _ host: ReaderTurns.Host, _ reader: CardReader
    ) throws(KazasuError) -> Bool {
        // A card that was there and that nobody could read is not looked for again at once.
        turns.pause(.milliseconds(100), host, hasCard: false)
        do throws(KazasuError) {
            return try !turns.search(host, on: reader) { searching, _, pause throws(KazasuError) in
                let clock = SearchClock(now: SearchClock.system.now, pause: pause)
                return try searching.waitForCards(.any, CardWait(.seconds(5), clock: clock))
            }.isEmpty
        } catch {
            switch error {
            case .noCard, .heard, .severalCards, .wrongCard: return false
            default: throw error
            }
        }
    }

    /// Closes the readers that were opened for programs, for good.
    ///
    /// - Parameter limit: how long to wait for those whose driver hangs.
    package func close(within limit: Duration = BoundedReader.grace) async {
        let closing = Task {
            await withDiscardingTaskGroup { group in
                for turns in state.withLock({ Array($0.turns.values) }) {
                    group.addTask { _ = await turns.claim() }
                }
            }
        }
        let timer = Task.after(limit) { closing.cancel() }
        await closing.value
        timer.cancel()
    }
}

// MARK: Readers with taps

extension SharedReaders: ReaderSharing {
    package func beginsWatching(_ id: String) { state.withLock { $0.watched[id, default: 0] += 1 } }

    package func endsWatching(_ id: String) {
        state.withLock { state in
            let count = state.watched[id, default: 1] - 1
            state.watched[id] = count > 0 ? count : nil
        }
    }

    package func guests(of id: String) async -> (any ReaderGuests)? {
        let turns = turns(of: id)
        return await turns.claim().map { Guests(id: id, readers: self, turns: turns, host: $0) }
    }

    /// The programs of a reader whose cards are reported.
    private struct Guests: ReaderGuests {
        let id: String
        let readers: SharedReaders
        let turns: ReaderTurns
        let host: ReaderTurns.Host

        func didOpen(_ device: ReaderInformation) { readers.didOpen(id, device: device) }
        func didClose() { readers.didClose(id) }
        func offer(
            _ reader: any Reader, _ device: CancellationToken, hasCard: Bool, beat: @escaping () -> Void
        ) -> ReaderOffer {
            turns.offer(reader, device, by: host, hasCard: hasCard, beat: beat)
        }
        func search(on reader: CardReader, _ body: ReaderTurns.Search) throws(KazasuError) -> [Card] {
            try turns.search(host, on: reader, body)
        }
        func pause(_ time: Duration, hasCard: Bool) { turns.pause(time, host, hasCard: hasCard) }
        func expect(within time: Duration) { turns.signs.expect(within: time) }
        func cardArrived() { turns.cardArrived() }
        func wasAborted() -> Bool { turns.wasAborted(host) }
        func leave(within limit: Duration) async { await turns.leave(host, within: limit) }
        func end() { turns.end(host) }
    }
}
