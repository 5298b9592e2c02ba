// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// The clocks that an event carries.
package struct EventClock: Sendable {
    /// One moment on all clocks.
    package struct Reading: Hashable, Sendable {
        /// Milliseconds since 1970.
        package var wall: Int
        /// Milliseconds of CLOCK_BOOTTIME, which is never adjusted.
        package var boot: Int
        /// Whether the kernel's clock is disciplined, by NTP for example.
        package var isSynchronised: Bool

        package init(wall: Int, boot: Int, isSynchronised: Bool) {
            (self.wall, self.boot, self.isSynchronised) = (wall, boot, isSynchronised)
        }

        /// The moment this long before.
        func earlier(by time: Duration) -> Reading {
            let milliseconds = Int(time / .milliseconds(1))
            return Reading(wall: wall - milliseconds, boot: boot - milliseconds, isSynchronised: isSynchronised)
        }
    }

    package var now: @Sendable () -> Reading

    package init(now: @escaping @Sendable () -> Reading) {
        self.now = now
    }

    /// The machine's clocks.
    package static let system = EventClock {
        Reading(
            wall: milliseconds(of: CLOCK_REALTIME), boot: milliseconds(of: CLOCK_BOOTTIME),
            isSynchronised: kazasu_clock_is_synchronised() != 0)
    }

    private static func milliseconds(of clock: Int32) -> Int {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
    }

    /// A time in the machine's time zone, as in `2026-11-20T12:34:56.789+09:00` (RFC 3339).
    package static func text(_ milliseconds: Int) -> String {
        var seconds = time_t((Double(milliseconds) / 1000).rounded(.down))
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return "" }
        let offset = unsafe Int(parts.tm_gmtoff) / 60
        let (year, month, day) = unsafe (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        let (hour, minute, second) = unsafe (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
        let fraction = milliseconds - Int(seconds) * 1000
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
            + "T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2)).\(padded(fraction, 3))"
            + "\(offset < 0 ? "-" : "+")\(padded(abs(offset) / 60, 2)):\(padded(abs(offset) % 60, 2))"
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
