// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// A reader for code that must not block: its calls run one at a time on a dedicated thread.
///
/// Cancelling a task that waits here cancels the reader permanently, as ``CancellationToken`` does: the blocking call
/// ends immediately, the task gets ``TransportError/cancelled``, and the reader must be opened again for more work.
///
/// ```swift
/// let reader = try AsyncReader(cancellation: token)
/// guard try await reader.open(within: .seconds(15), { try driver.open("rcs380", cancellation: token) }) == true else { return }
/// let card = try await reader.run { try $0.activate(.felica(.transit)) }
/// await reader.close()
/// ```
package actor AsyncReader {
    private let thread: ReaderThread
    private let cancellation: CancellationToken
    private var reader: any Reader = ClosedReader()
    private var isOpen = false

    /// The reader's own thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// Makes a thread for a reader, which ``open(_:)`` opens.
    ///
    /// - Parameter cancellation: the token that is cancelled when a task that waits here is.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` if the system has no thread left.
    package init(cancellation: CancellationToken = CancellationToken()) throws(TransportError) {
        thread = try ReaderThread()
        self.cancellation = cancellation
    }

    /// How long a driver that was told to stop may take, and a reader to close, before its thread is abandoned.
    package static let grace = Duration.seconds(3)

    /// Opens a reader on this thread.
    ///
    /// A driver that takes longer, or that does not stop within `grace` after the task was cancelled, is abandoned: its
    /// thread ends when the driver returns, and the reader that it may have opened is closed.
    ///
    /// - Parameter late: called when a driver that was abandoned has returned.
    /// - Returns: whether `body` returned a reader; `nil` if it was abandoned.
    /// - Throws: whatever `body` throws.
    package nonisolated func open<Failure: Error>(
        within limit: Duration, grace: Duration = AsyncReader.grace,
        late: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable () throws(Failure) -> (any Reader)?
    ) async throws(Failure) -> Bool? {
        let end = OneShot<Result<Bool, Failure>?>()
        Task { await self.start(body, end, late) }
        let cancellation = cancellation
        let timer = Task.after(limit) { if end.give(nil) { cancellation.cancel() } }
        defer { timer.cancel() }
        return try await end.value(onCancel: {
            cancellation.cancel()
            Task.after(grace) { end.give(nil) }
        })?.get()
    }

    /// The properties of the reader; `nil` once it is closed.
    package var information: ReaderInformation? { isOpen ? reader.information : nil }

    /// Runs a closure on the reader's thread, such as a dump or a sequence of commands that must not be interrupted.
    ///
    /// - Parameter body: receives the reader, which must not escape it; once it is closed, every call to it throws.
    /// - Throws: whatever `body` throws.
    package nonisolated func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (any Reader) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let cancellation = cancellation
        return try await withTaskCancellationHandler {
            await self.perform(body)
        } onCancel: {
            cancellation.cancel()
        }.get()
    }

    /// Switches the field off and releases the device. Further calls throw.
    package func close() {
        reader.close()
        reader = ClosedReader()
        isOpen = false
    }

    /// Closes the reader; a driver that takes longer is abandoned.
    package nonisolated func close(within limit: Duration) async {
        let end = OneShot<Void>()
        Task {
            await self.close()
            end.give(())
        }
        _ = await end.value(within: limit)
    }

    /// The result is given on this thread: Swift's threads may be busy for longer than the limit.
    private func start<Failure: Error>(
        _ body: () throws(Failure) -> (any Reader)?, _ end: OneShot<Result<Bool, Failure>?>, _ late: () -> Void
    ) {
        let result: Result<Bool, Failure>
        do throws(Failure) {
            if let opened = try body() {
                (reader, isOpen) = (opened, true)
                result = .success(true)
            } else {
                result = .success(false)
            }
        } catch {
            result = .failure(error)
        }
        guard !end.give(result) else { return }
        late()
        close()
    }

    private func perform<Value: Sendable, Failure: Error>(
        _ body: (any Reader) throws(Failure) -> Value
    ) -> Result<Value, Failure> {
        Result { () throws(Failure) in try body(reader) }
    }
}

/// A stand-in for a reader that is closed, or was never opened.
private final class ClosedReader: Reader {
    let information = ReaderInformation(id: "", name: "")

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { throw .closed }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] { throw .closed }

    func close() {}
}

/// A dedicated thread that runs one job after another: readers block, which Swift's few shared threads must not do.
final class ReaderThread: SerialExecutor {
    /// A job and the executor that it sees; its actor keeps both alive until it has run.
    @safe private struct Job: Sendable {
        @unsafe let job: UnownedJob
        @unsafe let executor: UnownedSerialExecutor

        func run() { unsafe job.runSynchronously(on: executor) }
    }

    /// The pending jobs. The thread holds this instead of the executor, so that it ends when nobody needs it.
    private final class Queue: Sendable {
        private struct State {
            var jobs: [Job] = []
            var isOver = false
        }

        private let state = Mutex(State())
        private let arrivals = DispatchSemaphore(value: 0)

        func add(_ job: Job) {
            state.withLock { $0.jobs.append(job) }
            arrivals.signal()
        }

        func end() {
            state.withLock { $0.isOver = true }
            arrivals.signal()
        }

        func run() {
            while true {
                arrivals.wait()
                if let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) {
                    job.run()
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

    deinit {
        queue.end()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        unsafe queue.add(Job(job: job, executor: asUnownedSerialExecutor()))
    }
}
