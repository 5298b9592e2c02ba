// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ReaderCore
import Synchronization
import Testing

/// Cancelling from any thread, once.
struct CancellationTokenTests {
    /// How often handlers ran.
    final class Count: Sendable {
        private let number = Atomic(0)
        var value: Int { number.load(ordering: .sequentiallyConsistent) }
        func add() { number.add(1, ordering: .sequentiallyConsistent) }
    }

    @Test func everyHandlerRunsOnce() throws {
        let token = CancellationToken()
        let counts = [Count(), Count(), Count()]
        for count in counts { token.onCancel { count.add() } }
        #expect(!token.isCancelled)
        try token.check()
        #expect(counts.map(\.value) == [0, 0, 0])
        token.cancel()
        token.cancel()
        #expect(token.isCancelled)
        #expect(counts.map(\.value) == [1, 1, 1])
        #expect(throws: TransportError.cancelled) { try token.check() }
    }

    @Test func removedHandlerNeverRuns() {
        let token = CancellationToken()
        let (kept, removed) = (Count(), Count())
        let first = token.onCancel { removed.add() }
        let second = token.onCancel { kept.add() }
        #expect(first != second)
        token.remove(first)
        token.remove(first)
        token.remove(-1)
        token.cancel()
        #expect(removed.value == 0)
        #expect(kept.value == 1)
        token.remove(second)
    }

    @Test func handlerRunsImmediatelyAfterCancellation() {
        let token = CancellationToken()
        token.cancel()
        let count = Count()
        let id = token.onCancel { count.add() }
        #expect(count.value == 1)
        token.remove(id)
        token.cancel()
        #expect(count.value == 1)
    }

    @Test func cancelledTokenReleasesItsHandlers() {
        let token = CancellationToken()
        weak var weakCount: Count?
        do {
            let count = Count()
            weakCount = count
            token.onCancel { count.add() }
            token.cancel()
            #expect(count.value == 1)
        }
        #expect(weakCount == nil)
    }

    /// Threads that register, remove and cancel at the same time: a handler that was not removed runs once, whatever
    /// the order; one that was removed does not run later.
    @Test(arguments: 0..<20) func manyThreads(_ round: Int) {
        let token = CancellationToken()
        let (kept, late) = (Count(), Count())
        let threads = 8
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for step in 0..<50 {
                token.onCancel { kept.add() }
                let mayRun = Mutex(true)
                let id = token.onCancel { [count = late] in if !mayRun.withLock({ $0 }) { count.add() } }
                token.remove(id)
                mayRun.withLock { $0 = false }
                if thread == round % threads, step == round { token.cancel() }
            }
        }
        #expect(token.isCancelled)
        #expect(kept.value == threads * 50)
        #expect(late.value == 0)
    }

    @Test func cancellingFromManyThreadsRunsHandlersOnce() {
        let token = CancellationToken()
        let count = Count()
        for _ in 0..<100 { token.onCancel { count.add() } }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            token.cancel()
            // Whoever comes back from cancelling finds all handlers done.
            #expect(count.value == 100)
        }
        #expect(count.value == 100)
    }
}
