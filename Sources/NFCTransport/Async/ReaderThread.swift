// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

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
            throw .readerUnavailable(reason: .unsupported, detail: "no thread can be started (error \(status))")
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
