// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// A reader for code that must not block: every call to it runs on one thread of its own, one after the other.
///
/// Cancelling a task that waits here cancels the reader for good, as ``CancellationToken`` does: the call that blocks
/// ends at once, the task gets ``TransportError/cancelled``, and for more work the reader is opened anew.
///
/// ```swift
/// guard let reader = try await AsyncReader.open("pn532_uart:/dev/ttyUSB0:115200", with: LibNFCDriver()) else { return }
/// let card = try await reader.activate(.felica(.transit))
/// await reader.close()
/// ```
package actor AsyncReader {
    private let thread: ReaderThread
    private let cancellation = CancellationToken()
    private var reader: (any Reader)?

    /// The reader's own thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    private init() throws(TransportError) {
        thread = try ReaderThread()
    }

    /// Opens a reader on a thread of its own.
    ///
    /// - Returns: `nil` when the ID is not one of the driver's.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)``.
    package static func open(
        _ id: String, with driver: any ReaderDriver
    ) async throws(TransportError) -> AsyncReader? {
        let reader = try AsyncReader()
        let isOpen = try await reader.cancellable { await reader.start(driver, id) }
        return isOpen ? reader : nil
    }

    /// What is known of the reader without a card; `nil` once it is closed.
    package var information: ReaderInformation? { reader?.information }

    /// Looks once for a card and selects it, as ``Reader/activate(_:)``.
    ///
    /// - Throws: ``TransportError``.
    package nonisolated func activate(_ request: ActivationRequest) async throws(TransportError) -> PICC? {
        try await run { reader throws(TransportError) in try reader.activate(request) }
    }

    /// Sends one frame to the selected card and returns its answer, as ``CardChannel/transceive(_:timeout:)``.
    ///
    /// - Throws: ``TransportError``.
    package nonisolated func transceive(
        _ frame: [UInt8], timeout: Duration
    ) async throws(TransportError) -> [UInt8] {
        try await run { reader throws(TransportError) in try reader.transceive(frame, timeout: timeout) }
    }

    /// Does a whole piece of work on the reader's thread: a dump, a sequence of commands that nothing may come between.
    ///
    /// - Parameter body: gets the reader, which must not leave it.
    /// - Throws: ``TransportError``: that of `body`, or that the reader is closed.
    package nonisolated func run<Result: Sendable>(
        _ body: @escaping @Sendable (any Reader) throws(TransportError) -> Result
    ) async throws(TransportError) -> Result {
        try await cancellable { await self.perform(body) }
    }

    /// Switches the field off and gives the device back. Further calls throw.
    package func close() {
        reader?.close()
        reader = nil
    }

    private func start(_ driver: any ReaderDriver, _ id: String) -> Result<Bool, TransportError> {
        Result { () throws(TransportError) in
            reader = try driver.open(id, cancellation: cancellation)
            return reader != nil
        }
    }

    private func perform<Value: Sendable>(
        _ body: @Sendable (any Reader) throws(TransportError) -> Value
    ) -> Result<Value, TransportError> {
        Result { () throws(TransportError) in
            guard let reader else { throw .closed }
            return try body(reader)
        }
    }

    private nonisolated func cancellable<Value: Sendable>(
        _ work: @Sendable () async -> Result<Value, TransportError>
    ) async throws(TransportError) -> Value {
        let cancellation = cancellation
        return try await withTaskCancellationHandler(operation: work) { cancellation.cancel() }.get()
    }
}

/// A thread of its own that runs one job after the other: readers block, which Swift's few shared threads are not for.
final class ReaderThread: SerialExecutor {
    /// A job and what it is to think that it runs on; its actor keeps both alive until it has run.
    @safe private struct Job: Sendable {
        @unsafe let job: UnownedJob
        @unsafe let executor: UnownedSerialExecutor

        func run() { unsafe job.runSynchronously(on: executor) }
    }

    /// What waits to be run. The thread holds this and not the executor, so that it ends when nobody needs it.
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
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` when the system has no thread left.
    init() throws(TransportError) {
        let box = unsafe Unmanaged.passRetained(queue)
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer = unsafe pointer else { return nil }
                unsafe Unmanaged<Queue>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            unsafe box.release()
            throw .readerUnavailable(reason: .unsupported, detail: .init(.noThread, "\(status)"))
        }
        pthread_detach(thread)
    }

    deinit {
        queue.end()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        unsafe queue.add(Job(job: job, executor: asUnownedSerialExecutor()))
    }
}
