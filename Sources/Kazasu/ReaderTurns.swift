// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
package import NFCTransport
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
    package let reader: any Reader
    /// Cancelled when nobody wants the result any more.
    package let cancellation: CancellationToken
    /// Whether this is the only attempt: nobody waits for a card.
    package let isOnlyAttempt: Bool
}

extension ReaderTurn {
    /// Looks once for a card, the kinds in their usual order.
    ///
    /// - Returns: the card, selected; `nil` if there is none.
    package func findCard() throws(KazasuError) -> FoundCard? {
        do throws(KazasuError) {
            let reader = CardReader(borrowing: reader, cancellation: cancellation)
            return try reader.waitForCard(.any, timeout: .zero).found
        } catch .noCard {
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
            return .failure(error == .cancelled ? .cancelled : .reader(error, id: reader.information.id))
        }
    }
}

/// The programs that want to use one reader, in the order in which they came.
///
/// The thread that has the reader, its host, lets them have it between two presence checks or searches: ``CardWatch`` if
/// cards are reported, else a thread that opens the reader for them.
///
/// Programs that wait for a card share one search. When a card comes, each has its turn, in order.
final class ReaderTurns: Sendable {
    /// What a host found when it offered the reader.
    enum Offer {
        /// Nobody wants the reader now.
        case declined
        case used
        /// The reader failed, and must be opened again.
        case failed(TransportError)
    }

    /// The thread that has the reader now.
    struct Host: Equatable, Sendable {
        fileprivate let number: Int
        /// Whether it opened the reader for programs alone.
        fileprivate let isOnDemand: Bool
    }

    private struct Turn: Sendable {
        let number: Int
        let cancellation = CancellationToken()
        /// Whether it waits for a card if there is none.
        var waits: Bool
        /// Whether the time to wait is over.
        let isExpired: @Sendable () -> Bool
        /// - Returns: whether it is over; else it is to be repeated when a card comes.
        let attempt: @Sendable (ReaderTurn) -> Bool
        let fail: @Sendable (KazasuError) -> Void
        /// The arrival of a card after which it was attempted last, or joined a search; `nil` if it is new.
        var attempted: Int?
    }

    private struct State {
        var turns: [Turn] = []
        /// Where they are now.
        var successor: ReaderTurns?
        /// The turn that has the reader, and what cancels the reader.
        var running: (number: Int, device: CancellationToken)?
        /// How many cards have come: a turn that found none is repeated after the next.
        var arrivals = 0
        var host: Host?
        var lastHost = 0
        /// How many want to report cards: then nobody else may open the reader.
        var claims = 0
        /// Resumed when the host before has closed the reader.
        var claimers: [CheckedContinuation<Void, Never>] = []
        /// Ends the running search.
        var search: CancellationToken?
        /// Whether the reader was cancelled for good, to end a turn.
        var wasAborted = false
        /// The host that is about to close the reader: it gives no more turns.
        var leaving: Host?
        /// Resumed when the running turn is over.
        var leavers: [CheckedContinuation<Void, Never>] = []

        /// The turn that can have the reader now.
        ///
        /// - Parameter hasCard: whether a card is there, which each of them may try.
        func next(for host: Host, hasCard: Bool) -> Turn? {
            guard running == nil, leaving != host, !mustLeave(host) else { return nil }
            if hasCard { return turns.first { $0.attempted.map { $0 < arrivals } ?? true } }
            // A program that waits does not overtake those that came before, which wait for the same card.
            let waiting = turns.first { $0.attempted != nil }
            return turns.first { $0.attempted == nil && (waiting == nil || !$0.waits) }
        }

        /// Whether this host must close the reader for another one.
        func mustLeave(_ host: Host) -> Bool { self.host != host || host.isOnDemand && claims > 0 }

        /// The host to start, if somebody wants the reader and nobody has it.
        mutating func newHost() -> Host? {
            guard host == nil, claims == 0, !turns.isEmpty else { return nil }
            lastHost += 1
            host = Host(number: lastHost, isOnDemand: true)
            return host
        }

        /// Makes this the host, if there is none.
        mutating func take(_ new: Host) -> Bool {
            guard host == nil else { return false }
            host = new
            return true
        }
    }

    /// How long an exchange with a card may go on after its turn was cancelled. Then the reader is cancelled for good.
    private static let patience = Duration.milliseconds(100)

    /// The last number of a turn; they are unique, since turns may move.
    private static let lastNumber = Atomic(0)

    private let state = Mutex(State())
    /// Signalled when somebody wants the reader.
    private let arrivals = DispatchSemaphore(value: 0)
    /// Starts a host if there is none.
    private let start: @Sendable (ReaderTurns, Host) -> Void

    init(start: @escaping @Sendable (ReaderTurns, Host) -> Void) { self.start = start }

    // MARK: Programs

    /// Waits for a turn and runs a closure on the thread of the reader.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait for a card: zero for one attempt, `nil` for no limit.
    ///   - body: does the work with a card that lies there; it must use the reader at least every ten seconds. It is
    ///     called again when a card comes after it found none.
    /// - Throws: ``KazasuError`` if the reader cannot be opened; ``KazasuError/noCard`` if none came in time while others
    ///   looked for one; ``KazasuError/cancelled``.
    func run<Value: Sendable>(
        timeout: Duration?, _ body: @escaping @Sendable (ReaderTurn) -> TurnAttempt<Value>
    ) async throws(KazasuError) -> Value {
        let answer = Answer<Value>()
        let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
        let waits = timeout != .zero
        let turn = Turn(
            number: number, waits: waits, isExpired: { answer.isExpired },
            attempt: { turn in
                switch body(turn) {
                case .done(let value): return answer.give(.success(value))
                case .noCard(let value): return answer.postpone(value, waits: waits)
                }
            }, fail: { answer.give(.failure($0)) })
        let expiry =
            waits
            ? timeout.map { time in
                Task {
                    guard (try? await Task.sleep(for: time)) != nil else { return }
                    expire(number) { answer.expire(hasSearched: $0) }
                }
            } : nil
        defer { expiry?.cancel() }
        return try await withTaskCancellationHandler {
            add(turn)
            return await answer.result
        } onCancel: {
            answer.give(.failure(.cancelled))
            turn.cancellation.cancel()
            cancel(number)
        }.get()
    }

    private func add(_ turn: Turn) { add([turn]) }

    private func add(_ turns: [Turn]) {
        let (successor, host, search) = state.withLock { state -> (ReaderTurns?, Host?, CancellationToken?) in
            if let successor = state.successor { return (successor, nil, nil) }
            for var turn in turns where !turn.cancellation.isCancelled {
                // Its time may have passed before it was here.
                if turn.isExpired() { turn.waits = false }
                state.turns.append(turn)
            }
            return (nil, state.newHost(), state.search)
        }
        if let successor { return successor.add(turns) }
        if let host { start(self, host) }
        search?.cancel()
        arrivals.signal()
    }

    /// Moves everybody to the queue of another reader: until now, it was not known which one to use.
    func move(to other: ReaderTurns) {
        let turns = state.withLock { state in
            defer { state.turns = [] }
            state.successor = other
            return state.turns
        }
        other.add(turns)
    }

    private func cancel(_ number: Int) {
        if let successor = state.withLock(\.successor) { successor.cancel(number) }
        let isRunning = state.withLock { state in
            guard state.running?.number != number else { return true }
            state.turns.removeAll { $0.number == number }
            return false
        }
        guard isRunning else { return }
        Task {
            try? await Task.sleep(for: Self.patience)
            let device = state.withLock { state -> CancellationToken? in
                guard let running = state.running, running.number == number else { return nil }
                state.wasAborted = true
                return running.device
            }
            device?.cancel()
        }
    }

    /// The time to wait for a card is over. A turn that has not been anybody's yet still gets its attempt.
    private func expire(_ number: Int, _ answer: (_ hasSearched: Bool) -> Bool) {
        let (successor, search) = state.withLock { state -> (ReaderTurns?, CancellationToken?) in
            if let successor = state.successor { return (successor, nil) }
            guard let index = state.turns.firstIndex(where: { $0.number == number }),
                state.running?.number != number
            else {
                _ = answer(false)
                return (nil, nil)
            }
            if answer(state.turns[index].attempted != nil) {
                state.turns.remove(at: index)
                return (nil, nil)
            }
            state.turns[index].waits = false
            return (nil, state.search)
        }
        if let successor { return successor.expire(number, answer) }
        search?.cancel()
        arrivals.signal()
    }

    // MARK: Hosts

    /// Takes the reader from the host that opened it for programs, which ends after its turn.
    func claim() async -> Host {
        let (host, search) = state.withLock { state in
            state.claims += 1
            state.lastHost += 1
            return (Host(number: state.lastHost, isOnDemand: false), state.search)
        }
        search?.cancel()
        arrivals.signal()
        while !state.withLock({ $0.take(host) }) {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.host == nil { return true }
                    state.claimers.append(continuation)
                    return false
                }
                if isFree { continuation.resume() }
            }
        }
        return host
    }

    /// Whether this host must close the reader for another one.
    func mustLeave(_ host: Host) -> Bool { state.withLock { $0.mustLeave(host) } }

    /// Gives no more turns on the reader of this host, which is about to close it, and waits until the running one is over:
    /// its program must not learn that the reader was closed.
    ///
    /// - Parameter limit: how long to wait; a driver may hang.
    func leave(_ host: Host, within limit: Duration) async {
        let expiry = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            letLeave()
        }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.host == host else { return true }
                state.leaving = host
                guard state.running != nil else { return true }
                state.leavers.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        expiry.cancel()
    }

    /// Whether the host gives no more turns.
    var isLeaving: Bool { state.withLock { $0.leaving != nil } }

    private func letLeave() {
        let leavers = state.withLock { state in
            defer { state.leavers = [] }
            return state.leavers
        }
        for leaver in leavers { leaver.resume() }
    }

    /// The host has closed the reader, or could not open it. A turn that has not ended by now will not.
    ///
    /// - Parameter error: why, for everybody who wants the reader; `nil` if another host is to try.
    func end(_ host: Host, _ error: KazasuError? = nil) {
        let (failed, next, claimers) = state.withLock { state in
            guard state.host == host else { return ([Turn](), nil as Host?, [CheckedContinuation<Void, Never>]()) }
            let number = state.running?.number
            var failed = state.turns.filter { $0.number == number }
            state.turns.removeAll { $0.number == number }
            if error != nil {
                failed += state.turns
                state.turns = []
            }
            (state.host, state.running, state.wasAborted, state.leaving) = (nil, nil, false, nil)
            if !host.isOnDemand { state.claims -= 1 }
            defer { state.claimers = [] }
            return (failed, state.newHost(), state.claimers)
        }
        letLeave()
        for turn in failed { turn.fail(error ?? .reader(.readerTimeout, id: "")) }
        if let next { start(self, next) }
        for claimer in claimers { claimer.resume() }
    }

    /// Whether the reader was cancelled to end a turn; asks once.
    func wasAborted(_ host: Host) -> Bool {
        state.withLock { state in
            defer { state.wasAborted = false }
            return state.host == host && state.wasAborted
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
    ) -> Offer {
        // The host is about to close the reader: the next one serves them.
        guard !device.isCancelled else { return .declined }
        let turn = state.withLock { state -> Turn? in
            guard let turn = state.next(for: host, hasCard: hasCard) else { return nil }
            state.running = (turn.number, device)
            return turn
        }
        guard let turn else { return .declined }
        let guarded = GuardedReader(reader, turn.cancellation, beat)
        let isOver = turn.attempt(
            ReaderTurn(reader: guarded, cancellation: turn.cancellation, isOnlyAttempt: !turn.waits))
        guarded.end()
        state.withLock { state in
            guard state.running?.number == turn.number else { return }
            state.running = nil
            guard let index = state.turns.firstIndex(where: { $0.number == turn.number }) else { return }
            if isOver || turn.cancellation.isCancelled {
                state.turns.remove(at: index)
            } else {
                state.turns[index].attempted = state.arrivals
            }
        }
        letLeave()
        return guarded.failure.map { .failed($0) } ?? .used
    }

    /// Whether somebody wants the reader now.
    func areWanted(_ host: Host, hasCard: Bool) -> Bool {
        state.withLock { $0.next(for: host, hasCard: hasCard) != nil }
    }

    /// Whether somebody waits for a card.
    var areWaiting: Bool { state.withLock { $0.turns.contains { $0.attempted != nil } } }

    /// A card has come, or may have: those who found none try again.
    func cardArrived() { state.withLock { $0.arrivals += 1 } }

    /// Begins a search for a card, which ends when somebody wants the reader.
    ///
    /// - Returns: what ends it.
    func beginSearch(_ host: Host) -> CancellationToken {
        let token = CancellationToken()
        let isWanted = state.withLock { state in
            state.search = token
            guard state.next(for: host, hasCard: false) == nil else { return true }
            // Those who came after the first join the search.
            for index in state.turns.indices where state.turns[index].attempted == nil {
                state.turns[index].attempted = state.arrivals
            }
            return state.mustLeave(host)
        }
        if isWanted { token.cancel() }
        return token
    }

    func endSearch() { state.withLock { $0.search = nil } }

    /// Waits, until somebody wants the reader.
    func pause(_ time: Duration, _ host: Host, hasCard: Bool) {
        let end = ContinuousClock.now + time
        while true {
            let now = ContinuousClock.now
            guard now < end, !areWanted(host, hasCard: hasCard) else { return }
            let left = (end - now).components
            let nanoseconds = left.seconds * 1_000_000_000 + left.attoseconds / 1_000_000_000
            _ = arrivals.wait(timeout: .now() + .nanoseconds(Int(clamping: nanoseconds)))
            if mustLeave(host) { return }
        }
    }

    // MARK: Answers

    /// What a program waits for: the first result counts.
    private final class Answer<Value: Sendable>: Sendable {
        private struct State {
            var result: Result<Value, KazasuError>?
            /// The result if no card comes in time.
            var postponed: Value?
            var isExpired = false
            var waiter: CheckedContinuation<Result<Value, KazasuError>, Never>?
        }

        private let state = Mutex(State())

        /// - Returns: `true`, since nothing more is to be done.
        @discardableResult
        func give(_ result: Result<Value, KazasuError>) -> Bool {
            let waiter = state.withLock { state -> CheckedContinuation<Result<Value, KazasuError>, Never>? in
                guard state.result == nil else { return nil }
                state.result = result
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: result)
            return true
        }

        /// Keeps the result of an attempt that found no card.
        ///
        /// - Returns: whether it is the last.
        func postpone(_ value: Value, waits: Bool) -> Bool {
            let isLast = state.withLock { state in
                state.postponed = value
                return !waits || state.isExpired || state.result != nil
            }
            return isLast ? give(.success(value)) : false
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

        var result: Result<Value, KazasuError> {
            get async {
                await withCheckedContinuation { continuation in
                    let result = state.withLock { state in
                        if state.result == nil { state.waiter = continuation }
                        return state.result
                    }
                    if let result { continuation.resume(returning: result) }
                }
            }
        }
    }
}

/// A reader that refuses work once a token is cancelled, and stays open when it is closed.
final class GuardedReader: Reader {
    /// The longest wait for an event without a check of the token.
    private static let slice = Duration.milliseconds(50)

    let information: ReaderInformation
    /// The first failure of the reader itself.
    private(set) var failure: TransportError?
    private let reader: any Reader
    private let cancellation: CancellationToken
    private let beat: () -> Void
    private var isOver = false

    init(_ reader: any Reader, _ cancellation: CancellationToken, _ beat: @escaping () -> Void = {}) {
        (self.reader, self.cancellation, self.beat) = (reader, cancellation, beat)
        information = reader.information
    }

    /// Refuses work from now on.
    func end() { isOver = true }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try perform { () throws(TransportError) in try reader.activate(request) }
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try perform { () throws(TransportError) in try reader.transceive(frame, timeout: timeout) }
    }

    func isCardPresent() throws(TransportError) -> Bool? {
        try perform { () throws(TransportError) in try reader.isCardPresent() }
    }

    func cyclePower() throws(TransportError) -> Bool {
        try perform { () throws(TransportError) in try reader.cyclePower() }
    }

    func waitForEvent(within time: Duration) throws(TransportError) -> Bool {
        let end = ContinuousClock.now + time
        while true {
            let start = ContinuousClock.now
            let slice = min(max(end - start, .zero), Self.slice)
            let reports = try perform { () throws(TransportError) in try reader.waitForEvent(within: slice) }
            let now = ContinuousClock.now
            if !reports || now - start < slice || now >= end { return reports }
        }
    }

    func close() {}

    private func perform<Value>(_ body: () throws(TransportError) -> Value) throws(TransportError) -> Value {
        guard !isOver else { throw .closed }
        guard !cancellation.isCancelled else { throw .cancelled }
        beat()
        do throws(TransportError) {
            return try body()
        } catch {
            if error.isReaderError { failure = failure ?? error }
            switch error {
            case .cancelled, .outOfScript: failure = failure ?? error
            default: break
            }
            throw error
        }
    }
}
