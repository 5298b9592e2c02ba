// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// The end of a call that may hang.
package enum BoundedResult<Value: Sendable>: Sendable {
    case returned(Value)
    /// It took longer than its limit and was abandoned.
    case hanging
    /// It went on although it was cancelled, and was abandoned.
    case cancelled
}

/// Calls that may hang, on other threads, for code that waits on its own: a driver's call cannot be ended from outside, but
/// nobody has to wait for it.
package final class BoundedCalls: Sendable {
    /// How many calls were abandoned and have not returned yet.
    private let hanging = Mutex(0)

    package init() {}

    /// Runs a call on a thread of its own, at most for this long.
    ///
    /// - Returns: `nil` if it took longer, or one before it has not returned yet.
    package func run<Value: Sendable>(within limit: Duration, _ body: @escaping @Sendable () -> Value) -> Value? {
        // For a moment it may be below zero: a call that returns late does so before it was counted.
        guard hanging.withLock({ $0 }) <= 0 else { return nil }
        let result = Self.run(within: limit, late: { _ in self.hanging.withLock { $0 -= 1 } }, body)
        if case .returned(let value) = result { return value }
        hanging.withLock { $0 += 1 }
        return nil
    }

    /// Runs a call on another thread and waits for its result.
    ///
    /// - Parameters:
    ///   - limit: how long the call may take.
    ///   - cancellation: ends the wait before, once the call had `grace` to return by itself.
    ///   - start: starts the call; by default on a thread of its own.
    ///   - late: called on that thread with the result of a call that was abandoned.
    package static func run<Value: Sendable>(
        within limit: Duration, endedBy cancellation: CancellationToken? = nil, grace: Duration = .zero,
        on start: (@escaping @Sendable () -> Void) -> Void = BlockingWork.start,
        late: @escaping @Sendable (Value) -> Void = { _ in }, _ body: @escaping @Sendable () -> Value
    ) -> BoundedResult<Value> {
        let (end, arrivals) = (OneShot<Value?>(), DispatchSemaphore(value: 0))
        start {
            let value = body()
            if !end.give(value) { late(value) }
            arrivals.signal()
        }
        let handler = cancellation?.onCancel { arrivals.signal() }
        arrivals.wait(within: limit)
        if let handler { cancellation?.remove(handler) }
        let isCancelled = cancellation?.isCancelled == true
        if isCancelled, end.given == nil { arrivals.wait(within: grace) }
        _ = end.give(nil)
        if case .some(.some(let value)) = end.given { return .returned(value) }
        return isCancelled ? .cancelled : .hanging
    }
}

/// A thread that runs one closure after another, and ends when nobody needs it.
final class DedicatedThread: Sendable {
    /// The pending work. The thread holds this instead of its owner, so that it ends with it.
    private final class Queue: Sendable {
        private struct State {
            var work: [@Sendable () -> Void] = []
            var isOver = false
        }

        private let state = Mutex(State())
        private let arrivals = DispatchSemaphore(value: 0)

        func add(_ body: @escaping @Sendable () -> Void) {
            state.withLock { $0.work.append(body) }
            arrivals.signal()
        }

        func end() {
            state.withLock { $0.isOver = true }
            arrivals.signal()
        }

        func run() {
            while true {
                arrivals.wait()
                if let body = state.withLock({ $0.work.isEmpty ? nil : $0.work.removeFirst() }) {
                    body()
                } else if state.withLock(\.isOver) {
                    return
                }
            }
        }
    }

    private let queue = Queue()

    /// Starts the thread.
    ///
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` if the system has no thread left.
    init() throws(TransportError) {
        let status = SystemThread.start { [queue] in queue.run() }
        guard status == 0 else {
            throw .readerUnavailable(reason: .unsupported, detail: .init(.noThread, "\(status)"))
        }
    }

    deinit { queue.end() }

    func run(_ body: @escaping @Sendable () -> Void) { queue.add(body) }
}
