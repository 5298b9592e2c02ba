// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A value that comes once, and tasks that wait for it.
package final class OneShot<Value: Sendable>: Sendable {
    private let gate = Gate<Value?>(nil)

    package init() {}

    /// Gives the value, unless it is there already.
    ///
    /// - Returns: whether this was the first one.
    @discardableResult
    package func give(_ value: Value) -> Bool {
        gate.withLock { state in
            guard state == nil else { return false }
            state = value
            return true
        }
    }

    /// The value; `nil` before it was given.
    package var given: Value? { gate.withLock { $0 } }

    /// Waits for the value. Cancelling the task does not end that: give another value where it should.
    package var value: Value {
        get async { await gate.wait { $0 } }
    }

    /// Waits for the value, at most for this long.
    ///
    /// - Returns: `nil` if it did not come in time; a value that comes later is kept.
    package func value(within limit: Duration) async -> Value? { await gate.wait(within: limit) { $0 } }

    /// Waits for the value, which a cancelled task gets, too: what is done then must see to it that it comes.
    package func value(onCancel cancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler(operation: { await value }, onCancel: cancel)
    }
}

/// A state behind a lock, and tasks that wait until it lets them go on, in the order in which they came.
///
/// A condition is asked under the lock, so a task that it lets go on may take what it waited for in the same step.
package final class Gate<State: Sendable>: Sendable {
    private struct Locked {
        var state: State
        /// - Returns: what resumes the task, or `nil` if it waits on.
        var waiters: [@Sendable (inout State) -> (@Sendable () -> Void)?] = []

        /// Removes those that may go on. What one of them takes or changes may let one before it go on.
        mutating func resumable() -> [@Sendable () -> Void] {
            var resumes: [@Sendable () -> Void] = []
            while true {
                let known = resumes.count
                waiters.removeAll { waiter in
                    guard let resume = waiter(&state) else { return false }
                    resumes.append(resume)
                    return true
                }
                if resumes.count == known { return resumes }
            }
        }
    }

    private let locked: Mutex<Locked>

    package init(_ state: State) { locked = Mutex(Locked(state: state)) }

    /// Reads or changes the state; tasks that waited for the change go on.
    package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, resumes) = locked.withLock { locked in
            let result = body(&locked.state)
            return (result, locked.resumable())
        }
        for resume in resumes { resume() }
        return result
    }

    /// Waits until a condition returns a value.
    package func wait<Value: Sendable>(until condition: @escaping @Sendable (inout State) -> Value?) async -> Value {
        await withCheckedContinuation { continuation in
            let (value, resumes) = locked.withLock { locked -> (Value?, [@Sendable () -> Void]) in
                guard let value = condition(&locked.state) else {
                    locked.waiters.append { state in
                        guard let value = condition(&state) else { return nil }
                        return { continuation.resume(returning: value) }
                    }
                    return (nil, [])
                }
                return (value, locked.resumable())
            }
            for resume in resumes { resume() }
            if let value { continuation.resume(returning: value) }
        }
    }
}

extension Gate {
    /// Waits until a condition returns a value, at most for this long. Cancelling the task does not end that.
    ///
    /// - Returns: `nil` if it did not in time.
    package func wait<Value: Sendable>(
        within limit: Duration, until condition: @escaping @Sendable (inout State) -> Value?
    ) async -> Value? {
        await wait(within: limit, endedBy: CancellationToken(), until: condition)
    }

    /// Waits until a condition returns a value or the task is cancelled, at most for this long if there is a limit.
    ///
    /// - Returns: `nil` if the condition returned none.
    package func waitUnlessCancelled<Value: Sendable>(
        within limit: Duration? = nil, until condition: @escaping @Sendable (inout State) -> Value?
    ) async -> Value? {
        let end = CancellationToken()
        return await withTaskCancellationHandler {
            await wait(within: limit, endedBy: end, until: condition)
        } onCancel: {
            stop(end)
        }
    }

    private func wait<Value: Sendable>(
        within limit: Duration?, endedBy end: CancellationToken,
        until condition: @escaping @Sendable (inout State) -> Value?
    ) async -> Value? {
        let timer = limit.map { Task.after($0) { self.stop(end) } }
        defer { timer?.cancel() }
        return await wait { state -> Value?? in
            guard let value = condition(&state) else { return end.isCancelled ? .some(nil) : nil }
            return value
        }
    }

    private func stop(_ end: CancellationToken) {
        end.cancel()
        withLock { _ in }
    }
}

/// Runs calls that block, such as a driver's, a child's or an HTTP request's, on threads of their own.
///
/// Swift's shared threads are as many as the processors, and those of `DispatchQueue.global()` become one more a second: calls that
/// hang there hold up everything else.
package enum BlockingWork {
    /// More threads than this are not started; further calls wait for one of them to end. All of them hang only if that many
    /// readers and servers do.
    private static let mostThreads = 128

    private struct State {
        var threads = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private static let state = Mutex(State())

    /// Runs a call and waits for its result.
    package static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = OneShot<Result<Value, Failure>>()
        start { result.give(Result { () throws(Failure) in try body() }) }
        return try await result.value.get()
    }

    /// Runs a call and waits for its result, at most for this long; after that the call is abandoned.
    ///
    /// - Parameter late: called with a result that came too late, such as a reader that is to be closed.
    /// - Returns: `nil` if it took longer.
    package static func run<Value: Sendable, Failure: Error>(
        within limit: Duration, late: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        let result = OneShot<Result<Value, Failure>?>()
        start {
            let end = Result { () throws(Failure) in try body() }
            if !result.give(end), case .success(let value) = end { late(value) }
        }
        let timer = Task.after(limit) { result.give(nil) }
        defer { timer.cancel() }
        return try await result.value?.get()
    }

    /// Runs a call and waits for its result until the task is cancelled; then the call is abandoned.
    ///
    /// - Returns: `nil` if the task was cancelled.
    package static func runUnlessCancelled<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        let result = OneShot<Value?>()
        start { result.give(body()) }
        return await result.value(onCancel: { result.give(nil) })
    }

    /// Starts a call that nobody waits for.
    package static func start(_ body: @escaping @Sendable () -> Void) {
        let mayStart = state.withLock { state in
            guard state.threads < mostThreads else {
                state.waiting.append(body)
                return false
            }
            state.threads += 1
            return true
        }
        if mayStart { thread(body) }
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
        let work: @Sendable () -> Void = {
            body()
            while let next = BlockingWork.next() { next() }
        }
        // The system has no thread left: one that others share is better than none.
        if SystemThread.start(work) != 0 { DispatchQueue.global().async(execute: work) }
    }

    /// The next call of a thread that has ended its own; `nil` if the thread is to end.
    private static func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.threads -= 1
            return nil
        }
    }
}
