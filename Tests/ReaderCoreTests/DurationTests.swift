// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ReaderCore
import Testing

/// Durations as numbers, for calls of the system.
struct DurationTests {
    @Test(
        "Units are counted, and rounded as asked",
        arguments: [
            (Duration.zero, Duration.milliseconds(1), 0, 0), (.nanoseconds(1), .milliseconds(1), 0, 1),
            (.microseconds(999), .milliseconds(1), 0, 1), (.milliseconds(1), .milliseconds(1), 1, 1),
            (.microseconds(1001), .milliseconds(1), 1, 2), (.seconds(90), .seconds(60), 1, 2),
            (.milliseconds(1500), .microseconds(100), 15_000, 15_000), (.milliseconds(-1), .microseconds(1), 0, 0),
            (.seconds(Int64.max), .seconds(1), .max, .max), (.seconds(Int64.max), .nanoseconds(1), .max, .max),
            (.seconds(Int64.min), .nanoseconds(1), 0, 0),
            (.seconds(Int64.max) + .nanoseconds(1), .seconds(1), .max, .max),
        ])
    func counts(time: Duration, unit: Duration, whole: Int, roundedUp: Int) {
        #expect(time.count(of: unit) == whole)
        #expect(time.count(of: unit, roundedUp: true) == roundedUp)
    }

    @Test("A semaphore that nobody signals is not waited for longer, one that was signaled not at all")
    func semaphore() {
        let semaphore = DispatchSemaphore(value: 0)
        #expect(!semaphore.wait(within: .milliseconds(1)))
        #expect(!semaphore.wait(within: .seconds(-1)))
        semaphore.signal()
        #expect(semaphore.wait(within: .seconds(Int64.max)))
    }

    @Test("Silence has passed after four looks in a row without a sign")
    func silence() async {
        var signs = [false, true, false, false, false, false, false].makeIterator()
        var ticks: [Duration] = []
        let passed = await Duration.seconds(8).passesInSilence({ ticks.append($0) }, unless: { signs.next() ?? true })
        #expect(passed && ticks == Array(repeating: .seconds(2), count: 6))
        struct Cancelled: Error {}
        #expect(await !Duration.seconds(8).passesInSilence({ _ in throw Cancelled() }, unless: { false }))
    }

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
