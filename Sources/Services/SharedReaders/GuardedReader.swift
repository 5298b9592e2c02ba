// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import Synchronization

/// Until when a reader that others wait for counts as alive.
final class SignsOfLife: Sendable {
    /// How much longer than it says a call may take, and how long nothing need happen between two calls.
    let patience: Duration
    private let end = Mutex(ContinuousClock.now)

    /// So that a request is answered two seconds after its time at the latest.
    static let usualPatience = Duration.milliseconds(1800)

    init(patience: Duration = usualPatience) { self.patience = patience }

    /// The reader does something that takes at most so long.
    func expect(within time: Duration = .zero) { end.withLock { $0 = .now + time + patience } }

    /// Nothing is expected any more.
    func stop() { end.withLock { $0 = .now } }

    var isAlive: Bool { end.withLock { $0 > .now } }
}

/// A reader that refuses work once a token is cancelled, and stays open when it is closed.
final class GuardedReader: FollowedSearch, LongJobReader {
    /// The longest wait for an event without a check of the token.
    private static let slice = Duration.milliseconds(50)
    /// The longest call that does not say how long it may take: activating a card, a presence check, cycling the power.
    private static let longestCall = Duration.seconds(1)

    let information: ReaderInformation
    /// The first failure of the reader itself.
    private(set) var failure: TransportError?
    private let reader: any Reader
    private let cancellation: CancellationToken
    private let signs: SignsOfLife?
    private let beat: () -> Void
    private var isOver = false

    /// - Parameters:
    ///   - signs: learns how long each call may take.
    ///   - beat: called before each call.
    init(
        _ reader: any Reader, _ cancellation: CancellationToken, signs: SignsOfLife? = nil,
        _ beat: @escaping () -> Void = {}
    ) {
        (self.reader, self.cancellation, self.signs, self.beat) = (reader, cancellation, signs, beat)
        information = reader.information
    }

    /// Refuses work from now on.
    func end() { isOver = true }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try activate(request, isFollowed: false)
    }

    func activate(_ request: ActivationRequest, isFollowed: Bool) throws(TransportError) -> PICC? {
        try perform { () throws(TransportError) in try reader.look(for: request, isFollowed: isFollowed) }
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try perform(within: timeout) { () throws(TransportError) in try reader.transceive(frame, timeout: timeout) }
    }

    func isCardPresent() throws(TransportError) -> Bool? {
        try perform { () throws(TransportError) in try reader.isCardPresent() }
    }

    func cyclePower() throws(TransportError) -> Bool {
        try perform { () throws(TransportError) in try reader.cyclePower() }
    }

    func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
        try perform { () throws(TransportError) in try reader.show(signal) }
    }

    func silence() throws(TransportError) -> Bool {
        try perform { () throws(TransportError) in try reader.silence() }
    }

    func beginLongJob() {
        try? perform { () throws(TransportError) in reader.expectLongJob() }
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

    private func perform<Value>(
        within time: Duration = GuardedReader.longestCall, _ body: () throws(TransportError) -> Value
    ) throws(TransportError) -> Value {
        guard !isOver else { throw .closed }
        guard !cancellation.isCancelled else { throw .cancelled }
        beat()
        signs?.expect(within: time)
        defer { signs?.expect() }
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
