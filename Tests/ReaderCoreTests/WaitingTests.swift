// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import ReaderCore

struct OneShotTests {
    @Test func theFirstValueCounts() async {
        let shot = OneShot<Int>()
        #expect(shot.given == nil)
        #expect(shot.give(1))
        #expect(!shot.give(2))
        #expect(await shot.value == 1 && shot.given == 1)
    }

    @Test func everyWaiterGetsTheValue() async {
        let shot = OneShot<Int>()
        let sum = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { await shot.value } }
            group.addTask { shot.give(3) ? 0 : 1000 }
            return await group.reduce(0, +)
        }
        #expect(sum == 60)
    }

    @Test func aLimitEndsTheWait() async {
        let shot = OneShot<Int>()
        #expect(await shot.value(within: .zero) == nil)
        shot.give(4)
        #expect(await shot.value(within: .seconds(60)) == 4)
    }
}

struct GateTests {
    /// Two hundred tasks take one thing at a time from a store that is filled meanwhile.
    @Test func eachThingIsTakenOnce() async {
        let gate = Gate<[Int]>([])
        let taken = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<200 { group.addTask { await gate.wait { $0.popLast() } } }
            for number in 0..<200 {
                group.addTask {
                    gate.withLock { $0.append(number) }
                    return -1
                }
            }
            return await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(taken == Set(-1..<200))
    }

    @Test func aTaskThatGoesOnMayLetAnotherGoOn() async {
        let gate = Gate(0)
        async let second: Int = gate.wait { state in
            guard state == 2 else { return nil }
            state = 3
            return 2
        }
        async let first: Int = gate.wait { state in
            guard state == 1 else { return nil }
            state = 2
            return 1
        }
        gate.withLock { $0 = 1 }
        #expect(await (first, second) == (1, 2))
        #expect(gate.withLock { $0 } == 3)
    }

    /// The first task begins to wait before it is cancelled, the second is cancelled before it asks.
    @Test func cancellationEndsTheWaitOfOneTask() async {
        let (gate, asked) = (Gate(0), OneShot<Void>())
        let first = Task {
            await gate.waitUnlessCancelled { state -> Int? in
                asked.give(())
                return state == 1 ? 1 : nil
            }
        }
        await asked.value
        first.cancel()
        #expect(await first.value == nil)
        let begin = OneShot<Void>()
        let second = Task {
            await begin.value
            return await gate.waitUnlessCancelled { $0 == 1 ? 2 : nil }
        }
        second.cancel()
        begin.give(())
        #expect(await second.value == nil)
        async let third = gate.waitUnlessCancelled(within: .seconds(60)) { $0 == 1 ? 3 : nil }
        gate.withLock { $0 = 1 }
        #expect(await third == 3)
        #expect(await gate.waitUnlessCancelled(within: .zero) { $0 == 2 ? 4 : nil } == nil)
    }
}

struct BlockingWorkTests {
    private enum Failure: Error { case expected }

    /// More calls hang than there are processors; another one does not wait for them.
    @Test func callsThatHangDelayNoOther() async throws {
        let end = DispatchSemaphore(value: 0)
        for _ in 0..<32 { BlockingWork.start { end.wait() } }
        #expect(await BlockingWork.run { 5 } == 5)
        for _ in 0..<32 { end.signal() }
    }

    /// More calls than threads are run, each once.
    @Test func everyCallIsRun() async {
        let count = Gate(0)
        await withDiscardingTaskGroup { group in
            for _ in 0..<500 { group.addTask { await BlockingWork.run { count.withLock { $0 += 1 } } } }
        }
        #expect(count.withLock { $0 } == 500)
    }

    @Test func errorsAreThrown() async {
        await #expect(throws: Failure.expected) {
            try await BlockingWork.run { () throws(Failure) -> Int in throw .expected }
        }
    }

    @Test func aCallThatTakesTooLongIsAbandoned() async throws {
        let (end, late) = (DispatchSemaphore(value: 0), OneShot<Int>())
        let result = await BlockingWork.run(within: .zero, late: { late.give($0) }) { () -> Int in
            end.wait()
            return 6
        }
        #expect(result == nil)
        end.signal()
        #expect(await late.value == 6)
    }
}

struct TimedWaitingTests {
    @Test("A task that is cancelled goes on waiting for the value that this is to bring")
    func cancelledWait() async {
        let value = OneShot<Int>()
        let waiting = Task { await value.value(onCancel: { value.give(1) }) }
        waiting.cancel()
        #expect(await waiting.value == 1)
    }

    @Test(
        "Something is done after a time, and nothing once it was cancelled",
        arguments: [Duration.seconds(3600), .seconds(Int64.max)])
    func after(longTime: Duration) async {
        let done = OneShot<Int>()
        let first = Task.after(longTime) { done.give(1) }
        first.cancel()
        await first.value
        #expect(done.given == nil)
        Task.after(.zero) { done.give(2) }
        #expect(await done.value == 2)
    }
}
