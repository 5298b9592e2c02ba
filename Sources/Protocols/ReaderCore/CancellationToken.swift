// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Ends blocking work from another thread, once and permanently.
public final class CancellationToken: Sendable {
    private struct State {
        var nextHandler = 0
        var handlers: [(id: Int, run: @Sendable () -> Void)] = []
    }

    /// Outside the lock: asking does not wait for a handler that hangs.
    private let cancelled = Atomic(false)
    private let state = Mutex(State())

    /// Makes a token that is not cancelled.
    public init() {}

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { cancelled.load(ordering: .sequentiallyConsistent) }

    /// Cancels: runs every registered handler, on the calling thread, once, in the order in which they were registered.
    public func cancel() {
        state.withLock { state in
            guard !isCancelled else { return }
            cancelled.store(true, ordering: .sequentiallyConsistent)
            for handler in state.handlers { handler.run() }
            state.handlers = []
        }
    }

    /// Registers a handler that ends the work; runs it immediately if the token is already cancelled.
    ///
    /// No handler runs after ``remove(_:)`` has returned, so it can use resources that its owner then frees.
    ///
    /// - Parameter handler: ends the work and returns quickly. It runs while the token is locked, so it must not use
    ///   the token itself.
    /// - Returns: the value to pass to ``remove(_:)``.
    @discardableResult
    public func onCancel(_ handler: @escaping @Sendable () -> Void) -> Int {
        let (id, runNow) = state.withLock { state in
            let id = state.nextHandler
            state.nextHandler += 1
            if !isCancelled { state.handlers.append((id, handler)) }
            return (id, isCancelled)
        }
        if runNow { handler() }
        return id
    }

    /// Removes a handler.
    public func remove(_ id: Int) {
        state.withLock { $0.handlers.removeAll { $0.id == id } }
    }

    /// Throws if cancelled.
    public func check() throws(TransportError) {
        if isCancelled { throw .cancelled }
    }
}

extension CancellationToken {
    /// Runs a closure; any failure after a cancellation is reported as cancelled, whatever the error.
    ///
    /// - Throws: whatever `work` throws, or ``TransportError/cancelled``.
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
