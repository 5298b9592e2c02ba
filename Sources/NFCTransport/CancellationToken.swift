// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Ends blocking work from another thread, once and for good.
public final class CancellationToken: Sendable {
    private struct State {
        var cancelled = false
        var nextHandler = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// A token that is not cancelled.
    public init() {}

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock(\.cancelled) }

    /// Cancels: runs every registered handler, on the calling thread, once.
    public func cancel() {
        state.withLock { state in
            guard !state.cancelled else { return }
            state.cancelled = true
            for handler in state.handlers.values { handler() }
            state.handlers = [:]
        }
    }

    /// Registers what ends the work; run at once when the token is cancelled already. No handler runs after
    /// ``remove(_:)`` has returned, so it may use what its owner frees then.
    ///
    /// - Parameter handler: ends the work and returns soon. It runs while the token is locked, so it must not use
    ///   the token itself.
    /// - Returns: what ``remove(_:)`` takes.
    @discardableResult
    public func onCancel(_ handler: @escaping @Sendable () -> Void) -> Int {
        let (id, runNow) = state.withLock { state in
            let id = state.nextHandler
            state.nextHandler += 1
            if !state.cancelled { state.handlers[id] = handler }
            return (id, state.cancelled)
        }
        if runNow { handler() }
        return id
    }

    /// Takes a handler back.
    public func remove(_ id: Int) {
        state.withLock { $0.handlers[id] = nil }
    }

    /// Throws when cancelled.
    public func check() throws(TransportError) {
        if isCancelled { throw .cancelled }
    }
}

extension CancellationToken {
    /// Does a piece of work; what fails after a cancellation was cancelled, whatever it says itself.
    ///
    /// - Throws: what `work` throws, or ``TransportError/cancelled``.
    public func run<Result>(
        _ work: () throws(TransportError) -> Result
    ) throws(TransportError) -> Result {
        do throws(TransportError) {
            return try work()
        } catch {
            try check()
            throw error
        }
    }
}
