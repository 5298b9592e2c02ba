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
}
