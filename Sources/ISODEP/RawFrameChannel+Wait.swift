// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import NFCTransport

extension RawFrameChannel {
    /// Sleeps; no card asks for more than five seconds.
    public func wait(_ time: Duration) throws(TransportError) {
        let time = min(max(time, .zero), WaitingTime.longest)
        let (seconds, attoseconds) = time.components
        var request = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        var rest = timespec()
        while unsafe nanosleep(&request, &rest) != 0, errno == EINTR { request = rest }
    }
}
