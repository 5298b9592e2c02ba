// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

extension RawFrameChannel {
    /// Sleeps; no card asks for more than five seconds.
    public func wait(_ time: Duration) throws(TransportError) {
        ThreadPause.sleep(min(time, WaitingTime.longest))
    }
}
