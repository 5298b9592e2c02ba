// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Runs actors whose calls block, as those of SQLite do, on a thread of their own: on Swift's threads they would block other tasks.
package final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// - Parameter label: the name of the queue, for debuggers.
    package init(_ label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
