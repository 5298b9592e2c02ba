// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import NFCTransport

/// Tells that a USB device was plugged in or out, by libusb's hot-plug events, which come from udev.
///
/// Where libusb has none, or cannot even be started, it only lets the time pass. In a container without udev it has
/// them and they never come, which cannot be told apart: `SystemNotices` looks for itself.
public final class USBNotices: DeviceNotices {
    private let cancellation: CancellationToken
    private let events: LibUSBEvents?
    private let wakeUp = DispatchSemaphore(value: 0)
    private var handler: Int?

    /// Listens from now on.
    ///
    /// - Parameter cancellation: what ends a wait, from any thread.
    public init(cancellation: CancellationToken = CancellationToken()) {
        self.cancellation = cancellation
        events = LibUSBEvents()
        let waker = events?.waker
        let wakeUp = wakeUp
        handler = cancellation.onCancel {
            waker?.wake()
            wakeUp.signal()
        }
    }

    deinit {
        if let handler { cancellation.remove(handler) }
    }

    /// Whether libusb can tell at all.
    public var areTold: Bool { events != nil }

    /// Waits for a USB device to come or go.
    ///
    /// - Throws: ``NFCTransport/TransportError/cancelled``.
    public func wait(within time: Duration) throws(TransportError) -> Bool {
        try cancellation.check()
        let deadline = ContinuousClock.now + time
        repeat {
            let left = max(.zero, deadline - .now)
            guard let events else {
                let (seconds, attoseconds) = left.components
                let nanoseconds = Int(min(seconds, 3600)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
                _ = wakeUp.wait(timeout: .now() + .nanoseconds(nanoseconds))
                try cancellation.check()
                return false
            }
            let isListening = events.handle(within: left)
            try cancellation.check()
            if events.takeNotice() { return true }
            // What cannot listen any more must not return at once again and again.
            if !isListening { _ = wakeUp.wait(timeout: .now() + .milliseconds(100)) }
        } while ContinuousClock.now < deadline
        return false
    }
}
