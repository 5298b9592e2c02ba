// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Lets time pass on the calling thread, without Foundation.
package enum ThreadPause {
    /// Sleeps for this long; not at all for zero and less.
    package static func sleep(_ time: Duration) {
        let (seconds, attoseconds) = max(time, .zero).components
        var request = timespec(tv_sec: Int(clamping: seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var rest = timespec()
        while unsafe nanosleep(&request, &rest) != 0, errno == EINTR { request = rest }
    }
}
