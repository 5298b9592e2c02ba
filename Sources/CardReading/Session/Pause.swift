// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Between two rounds of looking for a card.
enum Pause {
    /// Leaves the bus and the processor to others when a round took less than 40 ms.
    static func afterRound(from start: ContinuousClock.Instant) {
        let left = start + .milliseconds(40) - ContinuousClock().now
        guard left > .zero else { return }
        var pause = timespec(tv_sec: 0, tv_nsec: Int(left.components.attoseconds / 1_000_000_000))
        unsafe nanosleep(&pause, nil)
    }
}
