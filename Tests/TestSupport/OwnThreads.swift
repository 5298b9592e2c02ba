// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import Synchronization
package import Testing

/// Runs each test of a suite on a thread of its own, for tests that wait: for a program, a simulated chip, pcscd.
///
/// Swift Testing otherwise runs tests on as many threads as there are cores, and a test that waits there keeps a core
/// idle.
package struct OwnThreads: SuiteTrait, TestScoping, TestTrait {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(WaitingThreads.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    /// The tests of this suite wait, so each runs on a thread of its own.
    package static var waits: Self { Self() }
}

/// Sixteen threads that run the latest job first: a test that began goes on before another one begins. Otherwise what a test
/// waited for, such as a child that ended, would wait for all tests that have not begun, and the thread by which Swift
/// Testing waits for children spins as long as one that ended is not taken.
private final class WaitingThreads: TaskExecutor {
    static let shared = WaitingThreads()

    private let jobs = Mutex<[UnownedJob]>([])
    private let waiting = DispatchSemaphore(value: 0)

    private init() {
        for _ in 0..<16 { Thread.detachNewThread { self.work() } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        waiting.signal()
    }

    private func work() {
        while true {
            waiting.wait()
            jobs.withLock { $0.popLast() }?.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
