// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs tasks that compute for long, such as decoding what a client sent, a few at a time and in order, on threads of their
/// own: on Swift's threads they would hold up everything else.
package final class WorkExecutor: TaskExecutor {
    /// As many threads as there are processors.
    package static let shared = WorkExecutor(threads: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

    private struct State {
        var jobs: [UnownedJob] = []
        /// The threads that wait for work.
        var idle: [DispatchQueue]
    }

    private let state: Mutex<State>

    package init(threads: Int) {
        state = Mutex(State(idle: (0..<threads).map { DispatchQueue(label: "kazasu.work.\($0)") }))
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let thread = state.withLock { state in
            state.jobs.append(job)
            return state.idle.popLast()
        }
        thread?.async { [self] in
            while let job = next(on: thread) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// The next job; without one, the thread waits.
    private func next(on thread: DispatchQueue?) -> UnownedJob? {
        state.withLock { state in
            guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
            if let thread { state.idle.append(thread) }
            return nil
        }
    }
}
