// SPDX-License-Identifier: Apache-2.0

/// Tells that something may have been plugged in or out; who is told looks at what is there.
public protocol DeviceNotices: AnyObject {
    /// Waits for a notice.
    ///
    /// - Parameter time: how long at most.
    /// - Returns: whether anything may be different now; `false` when the time has passed without a notice.
    /// - Throws: ``TransportError/cancelled``.
    func wait(within time: Duration) throws(TransportError) -> Bool
}
