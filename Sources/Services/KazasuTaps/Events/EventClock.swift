// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import CardModel
internal import Glibc
internal import ReaderCore

/// The clocks that an event carries.
package struct EventClock: Sendable {
    /// One moment on all clocks.
    package struct Reading: Hashable, Sendable {
        /// Milliseconds since 1970.
        package var wall: Int
        /// Milliseconds of CLOCK_BOOTTIME, which is never adjusted.
        package var boot: Int
        /// Whether the kernel's clock is disciplined, by NTP for example.
        package var isSynchronized: Bool

        package init(wall: Int, boot: Int, isSynchronized: Bool) {
            (self.wall, self.boot, self.isSynchronized) = (wall, boot, isSynchronized)
        }

        /// The moment this long before.
        func earlier(by time: Duration) -> Reading {
            let milliseconds = time.count(of: .milliseconds(1))
            return Reading(wall: wall - milliseconds, boot: boot - milliseconds, isSynchronized: isSynchronized)
        }
    }

    package var now: @Sendable () -> Reading

    package init(now: @escaping @Sendable () -> Reading) {
        self.now = now
    }

    /// The machine's clocks.
    package static let system = EventClock {
        var boot = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &boot)
        return Reading(
            wall: Timestamp.now.milliseconds, boot: Int(boot.tv_sec) * 1000 + Int(boot.tv_nsec) / 1_000_000,
            isSynchronized: kazasu_clock_is_synchronised() != 0)
    }
}
