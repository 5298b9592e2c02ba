// SPDX-License-Identifier: Apache-2.0

package import CardReading
internal import Glibc

/// The time of a simulated field in another process, in which a search's pauses pass at once: a file that both map.
///
/// The host waits while the chip works, so one of them uses it at a time.
package final class SharedClock: @unchecked Sendable {
    /// Nanoseconds: what the host has paused in all, what of it has passed for the field, the field's time.
    private let values: UnsafeMutablePointer<Int64>

    /// Maps a file, which is made if there is none.
    package init?(_ path: String) {
        let size = 3 * MemoryLayout<Int64>.size
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard ftruncate(file, size) == 0, let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
            memory != MAP_FAILED
        else { return nil }
        values = memory.bindMemory(to: Int64.self, capacity: 3)
    }

    /// How the host's driver pauses.
    package var pause: @Sendable (Duration) -> Void { search.pause }

    /// The host's side.
    package var search: SearchClock {
        SearchClock(
            now: { [self] in .nanoseconds(values[2] + values[0] - values[1]) },
            pause: { [self] in values[0] += Int64($0 / .nanoseconds(1)) })
    }

    /// The chip's side: what the host has paused since the last call.
    package func takePause() -> Duration {
        let time = values[0] - values[1]
        values[1] += time
        return .nanoseconds(time)
    }

    /// The chip's side: the field's time after an exchange.
    package func set(_ time: Duration) {
        values[2] = Int64(time / .nanoseconds(1))
    }
}
