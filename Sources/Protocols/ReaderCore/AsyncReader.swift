// SPDX-License-Identifier: Apache-2.0

/// A reader for code that must not block: its calls run one at a time on a dedicated thread.
///
/// Cancelling a task that waits here cancels the reader permanently, as ``CancellationToken`` does: the blocking call
/// ends immediately, the task gets ``TransportError/cancelled``, and the reader must be opened again for more work.
///
/// ```swift
/// let reader = try AsyncReader(cancellation: token)
/// guard try await reader.open({ try driver.open("rcs380", cancellation: token) }) else { return }
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

    /// Opens a reader on this thread; ``BoundedReader`` sees to it that its calls return.
    ///
    /// - Returns: whether `body` returned a reader.
    /// - Throws: whatever `body` throws.
    package nonisolated func open<Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> (any Reader)?
    ) async throws(Failure) -> Bool {
        let cancellation = cancellation
        return try await withTaskCancellationHandler {
            await self.start(body)
        } onCancel: {
            cancellation.cancel()
        }.get()
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

    private func start<Failure: Error>(
        _ body: () throws(Failure) -> (any Reader)?
    ) -> Result<Bool, Failure> {
        Result { () throws(Failure) in
            guard let opened = try body() else { return false }
            (reader, isOpen) = (opened, true)
            return true
        }
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

/// A dedicated thread for the jobs of an actor: readers block, which Swift's few shared threads must not do.
final class ReaderThread: SerialExecutor {
    /// A job and the executor that it sees; its actor keeps both alive until it has run.
    @safe private struct Job: Sendable {
        @unsafe let job: UnownedJob
        @unsafe let executor: UnownedSerialExecutor

        func run() { unsafe job.runSynchronously(on: executor) }
    }

    private let thread: DedicatedThread

    /// Starts the thread.
    ///
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` if the system has no thread left.
    init() throws(TransportError) { thread = try DedicatedThread() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = unsafe Job(job: UnownedJob(job), executor: asUnownedSerialExecutor())
        thread.run { job.run() }
    }
}
