// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import Kazasu
package import ReaderCore
internal import Synchronization

/// The result of one attempt of a program that takes its turn on a reader.
package enum TurnAttempt<Value: Sendable>: Sendable {
    /// The work is done, or has failed.
    case done(Value)
    /// There was no card: the turn is repeated when one comes, and this is the result if none comes in time.
    case noCard(Value)
}

/// A reader while it is a program's turn.
package struct ReaderTurn {
    /// The reader, which must not escape the turn. Once the turn is cancelled, it refuses further work.
    package var reader: any Reader { guarded }
    /// Cancelled when nobody wants the result any more.
    package let cancellation: CancellationToken
    /// Whether this is the only attempt: nobody waits for a card.
    package let isOnlyAttempt: Bool
    /// The reader, which refuses work once the attempt is over.
    let guarded: GuardedReader
}

extension ReaderTurn {
    /// Looks once for a card, the kinds in their usual order.
    ///
    /// - Returns: the card, selected; `nil` if there is none.
    package func findCard() throws(KazasuError) -> FoundCard? {
        do throws(KazasuError) {
            let reader = CardReader(borrowing: reader, cancellation: cancellation)
            return try reader.waitForCard(.any, timeout: .zero).found
        } catch {
            guard error.foundNoCard else { throw error }
            return nil
        }
    }

    /// Selects a card that was found before, as when it comes new onto the reader.
    ///
    /// - Returns: `false` if it is gone, or another one is in its place.
    package func select(_ card: FoundCard) throws(TransportError) -> Bool {
        if case .present = try Presence.check(card, on: reader, isSelected: false) { true } else { false }
    }

    /// Whether a card that others may have used since is still there. It may be selected again for that.
    package func isPresent(_ card: FoundCard) throws(TransportError) -> Bool { try select(card) }

    /// Whether the card that this turn selected is still there, with the state that its commands gave it.
    ///
    /// - Parameter unknown: what counts where the reader cannot ask, as after an exchange that failed.
    package func isStillSelected(_ card: FoundCard, unknown: Bool = true) throws(TransportError) -> Bool {
        guard card.picc.isISODEP else {
            return if case .present = try Presence.check(card, on: reader) { true } else { false }
        }
        return try reader.isCardPresent() ?? unknown
    }

    /// The result of work that may fail as the reader does.
    package func result<Value>(
        _ work: () throws(TransportError) -> Value
    ) -> Result<Value, KazasuError> {
        do throws(TransportError) {
            return .success(try work())
        } catch {
            return .failure(KazasuError(error, of: reader.information.id))
        }
    }
}

/// The programs that want to use one reader, in the order in which they came.
///
/// The thread that has the reader, its host, lets them have it between two presence checks or searches: the watch if
/// cards are reported, else a thread that opens the reader for them. Programs that wait for a card share one search. When a
/// card comes, each has its turn, in order.
///
/// | A turn is | Until |
/// | --- | --- |
/// | new | its first attempt, or a search that it joins |
/// | waiting | a card comes and it is attempted again, or its time is over: then it has its last result, or ``KazasuError/noCard`` |
/// | running | its attempt is over; once it is cancelled, its reader refuses work, and after 100 ms is cancelled for good |
///
/// | The reader has | Until |
/// | --- | --- |
/// | no host | somebody claims it, or a turn comes, for which `start` begins a host |
/// | a host on demand | nobody wants the reader for a while, it fails, or a watch claims it |
/// | a claiming host, the watch | it leaves: it starts no more turns, the running one ends, the reader is closed |
///
/// | Who | Calls | From |
/// | --- | --- | --- |
/// | programs | ``run(timeout:_:)`` | any task |
/// | a watch | ``claim()``, ``leave(_:within:)``, ``end(_:_:)`` | its task |
/// | any host | ``offer(_:_:by:hasCard:beat:)``, ``search(_:on:_:)``, ``pause(_:_:hasCard:)``, ``cardArrived()`` | the reader's thread |
///
/// Who has the reader next is decided by ``TurnQueue`` under one lock. A reader that hangs keeps its thread, not its programs:
/// after their time to wait and the patience of ``SignsOfLife``, requests fail whose reader has gone quiet.
final class ReaderTurns: Sendable {
    /// What a program wants to do.
    private struct Work: Sendable {
        let cancellation = CancellationToken()
        /// Whether the time to wait is over.
        let isExpired: @Sendable () -> Bool
        /// - Returns: whether it is over; else it is to be repeated when a card comes.
        let attempt: @Sendable (ReaderTurn) -> Bool
        let fail: @Sendable (KazasuError) -> Void
    }

    typealias Host = TurnHost
    private typealias Turn = TurnQueue<Work>.Turn

    private struct State: Sendable {
        var queue = TurnQueue<Work>()
        /// Where the turns are now.
        var successor: ReaderTurns?
        /// Cancels the reader that the running turn has.
        var device: CancellationToken?
        /// Ends the running search.
        var search: CancellationToken?
        /// Whether the reader was cancelled for good, to end a turn.
        var wasAborted = false
    }

    /// How long an exchange with a card may go on after its turn was cancelled. Then the reader is cancelled for good.
    private static let patience = Duration.milliseconds(100)
    /// How often a reader that somebody waits for is checked for activity.
    private static let checks = Duration.milliseconds(250)

    /// The last number of a turn; they are unique, since turns may move.
    private static let lastNumber = Atomic(0)

    private let state = Gate(State())
    /// Signalled when somebody wants the reader.
    private let arrivals = DispatchSemaphore(value: 0)
    private let start: @Sendable (ReaderTurns, Host) -> Void
    /// What the reader shows of itself while its host has it.
    let signs: SignsOfLife

    /// - Parameters:
    ///   - patience: how much longer than it should a reader may take.
    ///   - start: starts a host if there is none.
    init(patience: Duration = SignsOfLife.usualPatience, start: @escaping @Sendable (ReaderTurns, Host) -> Void) {
        signs = SignsOfLife(patience: patience)
        self.start = start
    }

    // MARK: Programs

    /// Waits for a turn and runs a closure on the thread of the reader.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait for a card: zero for one attempt, `nil` for no limit.
    ///   - body: does the work with a card that lies there; it must use the reader at least every two seconds. It is
    ///     called again when a card comes after it found none.
    /// - Throws: ``KazasuError`` if the reader cannot be opened; ``KazasuError/noCard`` if none came in time while others
    ///   looked for one; ``KazasuError/reader(_:id:)`` if the reader hangs; ``KazasuError/cancelled``.
    func run<Value: Sendable>(
        timeout: Duration?, _ body: @escaping @Sendable (ReaderTurn) -> TurnAttempt<Value>
    ) async throws(KazasuError) -> Value {
        let answer = Answer<Value>()
        let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
        let waits = timeout != .zero
        let turn = Turn(
            number, waits: waits,
            Work(
                isExpired: { answer.isExpired },
                attempt: { turn in
                    let outcome = body(turn)
                    // Before the caller gets the result.
                    turn.guarded.end()
                    switch outcome {
                    case .done(let value): return answer.give(.success(value))
                    case .noCard(let value): return answer.postpone(value, waits: waits)
                    }
                }, fail: { answer.give(.failure($0)) }))
        let expiry = timeout.map { time in
            Task {
                guard (try? await Task.sleep(for: time)) != nil else { return }
                if waits { expire(number) { answer.expire(hasSearched: $0) } }
                guard (try? await Task.sleep(for: signs.patience)) != nil else { return }
                while current.signs.isAlive {
                    guard (try? await Task.sleep(for: Self.checks)) != nil else { return }
                }
                answer.give(.failure(.reader(.hanging, id: "")))
                turn.work.cancellation.cancel()
                cancel(number)
            }
        }
        defer { expiry?.cancel() }
        return try await withTaskCancellationHandler {
            add([turn])
            return await answer.result
        } onCancel: {
            answer.give(.failure(.cancelled))
            turn.work.cancellation.cancel()
            cancel(number)
        }.get()
    }

    /// The queue that has the turns of this one now.
    private var current: ReaderTurns { state.withLock(\.successor)?.current ?? self }

    private func add(_ turns: [Turn]) {
        let (successor, host, search) = state.withLock { state -> (ReaderTurns?, Host?, CancellationToken?) in
            if let successor = state.successor { return (successor, nil, nil) }
            for var turn in turns where !turn.work.cancellation.isCancelled {
                // Its time may have passed before it was here.
                if turn.work.isExpired() { turn.waits = false }
                state.queue.add(turn)
            }
            return (nil, state.queue.newHost(), state.search)
        }
        if let successor { return successor.add(turns) }
        if let host { start(self, host) }
        search?.cancel()
        arrivals.signal()
    }

    /// Moves everybody to the queue of another reader: until now, it was not known which one to use.
    func move(to other: ReaderTurns) {
        let turns = state.withLock { state in
            state.successor = other
            return state.queue.removeAll()
        }
        other.add(turns)
    }

    private func cancel(_ number: Int) {
        if let successor = state.withLock(\.successor) { successor.cancel(number) }
        guard state.withLock({ $0.queue.remove(number) }) else { return }
        Task {
            try? await Task.sleep(for: Self.patience)
            let device = state.withLock { state -> CancellationToken? in
                guard state.queue.running == number else { return nil }
                state.wasAborted = true
                return state.device
            }
            device?.cancel()
        }
    }

    /// The time to wait for a card is over. A turn that has not been anybody's yet still gets its attempt.
    private func expire(_ number: Int, _ answer: (_ hasSearched: Bool) -> Bool) {
        let (successor, search) = state.withLock { state -> (ReaderTurns?, CancellationToken?) in
            if let successor = state.successor { return (successor, nil) }
            let isLastAttempt = state.queue.expire(number, isOver: answer)
            return (nil, isLastAttempt ? state.search : nil)
        }
        if let successor { return successor.expire(number, answer) }
        search?.cancel()
        arrivals.signal()
    }

    // MARK: Hosts

    /// Takes the reader from the host that opened it for programs, which ends after its turn.
    ///
    /// - Returns: `nil` if the task was cancelled before.
    func claim() async -> Host? {
        let (host, search) = state.withLock { state in (state.queue.claim(), state.search) }
        search?.cancel()
        arrivals.signal()
        let isTaken = await state.waitUnlessCancelled { $0.queue.take(host) ? () : nil } != nil
        if isTaken { return host }
        let next = state.withLock { state in
            state.queue.giveUp(host)
            return state.queue.newHost()
        }
        if let next { start(self, next) }
        return nil
    }

    /// Whether this host must close the reader for another one.
    func mustLeave(_ host: Host) -> Bool { state.withLock { $0.queue.mustLeave(host) } }

    /// Starts no more turns on the reader of this host, which is about to close it, and waits until the running one is over:
    /// its program must not learn that the reader was closed.
    ///
    /// - Parameter limit: how long to wait; a driver may hang.
    func leave(_ host: Host, within limit: Duration) async {
        guard !state.withLock({ $0.queue.leave(host) }) else { return }
        await state.wait(within: limit) { $0.queue.leave(host) ? () : nil }
    }

    /// Whether the host starts no more turns.
    var isLeaving: Bool { state.withLock { $0.queue.leaving != nil } }

    /// The host has closed the reader, or could not open it. A turn that has not ended by now will not.
    ///
    /// - Parameter error: why, for everybody who wants the reader; `nil` if another host is to try.
    func end(_ host: Host, _ error: KazasuError? = nil) {
        let (failed, next) = state.withLock { state -> ([Turn], Host?) in
            guard let failed = state.queue.end(host, isFailure: error != nil) else { return ([], nil) }
            signs.stop()
            (state.device, state.wasAborted) = (nil, false)
            return (failed, state.queue.newHost())
        }
        for turn in failed { turn.work.fail(error ?? .reader(.readerTimeout, id: "")) }
        if let next { start(self, next) }
    }

    /// Whether the reader was cancelled to end a turn; asks once.
    func wasAborted(_ host: Host) -> Bool {
        state.withLock { state in
            defer { state.wasAborted = false }
            return state.queue.host == host && state.wasAborted
        }
    }

    /// Gives the reader to the next program, if any wants it now.
    ///
    /// - Parameters:
    ///   - device: cancels the reader for good.
    ///   - hasCard: whether a card is known to be there.
    ///   - beat: called before each exchange.
    func offer(
        _ reader: any Reader, _ device: CancellationToken, by host: Host, hasCard: Bool,
        beat: @escaping () -> Void = {}
    ) -> ReaderOffer {
        // The host is about to close the reader: the next one serves them.
        guard !device.isCancelled else { return .declined }
        signs.expect()
        let turn = state.withLock { state -> Turn? in
            guard let turn = state.queue.begin(for: host, hasCard: hasCard) else { return nil }
            state.device = device
            return turn
        }
        guard let turn else { return .declined }
        let cancellation = turn.work.cancellation
        let guarded = GuardedReader(reader, cancellation, signs: signs, beat)
        let isOver = turn.work.attempt(
            ReaderTurn(cancellation: cancellation, isOnlyAttempt: !turn.waits, guarded: guarded))
        state.withLock { $0.queue.finish(turn.number, isOver: isOver || cancellation.isCancelled) }
        return guarded.failure.map { .failed($0) } ?? .used
    }

    /// Whether somebody wants the reader now.
    func areWanted(_ host: Host, hasCard: Bool) -> Bool {
        state.withLock { $0.queue.next(for: host, hasCard: hasCard) != nil }
    }

    /// Whether somebody waits for a card.
    var areWaiting: Bool { state.withLock { $0.queue.areWaiting } }

    /// A card has come, or may have: those who found none try again.
    func cardArrived() { state.withLock { $0.queue.cardArrived() } }

    /// Searches with a reader, and sleeps as told; learns whether somebody waits for a card.
    typealias Search = (
        _ reader: CardReader, _ isAwaited: Bool, _ pause: @escaping @Sendable (Duration) -> Void
    ) throws(KazasuError) -> [Card]

    /// Searches for cards, until somebody wants the reader.
    ///
    /// - Throws: ``KazasuError/noCard`` also if somebody wants it.
    func search(_ host: Host, on reader: CardReader, _ body: Search) throws(KazasuError) -> [Card] {
        let token = CancellationToken()
        let isFree = state.withLock { state in
            state.search = token
            return state.queue.beginSearch(host)
        }
        if !isFree { token.cancel() }
        defer { state.withLock { $0.search = nil } }
        let guarded = GuardedReader(reader.device, token, signs: signs)
        do throws(KazasuError) {
            return try body(CardReader(borrowing: guarded, cancellation: token), areWaiting) {
                self.pause($0, host, hasCard: false)
            }
        } catch {
            throw error == .cancelled && !reader.cancellation.isCancelled ? .noCard : error
        }
    }

    /// Waits, until somebody wants the reader.
    func pause(_ time: Duration, _ host: Host, hasCard: Bool) {
        signs.expect(within: time)
        let end = ContinuousClock.now + time
        while true {
            let now = ContinuousClock.now
            guard now < end, !areWanted(host, hasCard: hasCard) else { return }
            arrivals.wait(within: end - now)
            if mustLeave(host) { return }
        }
    }

    // MARK: Answers

    /// What a program waits for: the first result counts.
    private final class Answer<Value: Sendable>: Sendable {
        private struct State {
            /// The result if no card comes in time.
            var postponed: Value?
            var isExpired = false
        }

        private let state = Mutex(State())
        private let end = OneShot<Result<Value, KazasuError>>()

        /// - Returns: `true`, since nothing more is to be done.
        @discardableResult
        func give(_ result: Result<Value, KazasuError>) -> Bool {
            end.give(result)
            return true
        }

        /// Keeps the result of an attempt that found no card.
        ///
        /// - Returns: whether it is the last.
        func postpone(_ value: Value, waits: Bool) -> Bool {
            let isLast = state.withLock { state in
                state.postponed = value
                return !waits || state.isExpired
            }
            return isLast || end.given != nil ? give(.success(value)) : false
        }

        /// Whether the time to wait for a card is over.
        var isExpired: Bool { state.withLock(\.isExpired) }

        /// The time to wait for a card is over.
        ///
        /// - Parameter hasSearched: whether a card was looked for.
        /// - Returns: whether it has a result.
        func expire(hasSearched: Bool) -> Bool {
            let value = state.withLock { state in
                state.isExpired = true
                return state.postponed
            }
            if let value { return give(.success(value)) }
            return hasSearched ? give(.failure(.noCard)) : false
        }

        var result: Result<Value, KazasuError> { get async { await end.value } }
    }
}
