// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB
internal import Dispatch
package import ReaderCore

/// A libusb context that is notified of every device that arrives or leaves; it opens none.
@safe final class LibUSBEvents {
    private let context: OpaquePointer
    private let registration: libusb_hotplug_callback_handle
    private let hasNotice: UnsafeMutablePointer<Int32>

    /// Starts listening; `nil` when libusb cannot be started or has no hot-plug events.
    init?() {
        var context: OpaquePointer?
        guard unsafe libusb_init(&context) == 0, let context = unsafe context else { return nil }
        let hasNotice = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        unsafe hasNotice.initialize(to: 0)
        var registration: libusb_hotplug_callback_handle = 0
        let kinds = LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED.rawValue | LIBUSB_HOTPLUG_EVENT_DEVICE_LEFT.rawValue
        guard libusb_has_capability(LIBUSB_CAP_HAS_HOTPLUG.rawValue) != 0,
            unsafe libusb_hotplug_register_callback(
                context, Int32(kinds), 0, LIBUSB_HOTPLUG_MATCH_ANY, LIBUSB_HOTPLUG_MATCH_ANY, LIBUSB_HOTPLUG_MATCH_ANY,
                { _, _, _, pointer in
                    unsafe pointer?.assumingMemoryBound(to: Int32.self).pointee = 1
                    return 0
                }, hasNotice, &registration) == 0
        else {
            unsafe hasNotice.deallocate()
            unsafe libusb_exit(context)
            return nil
        }
        unsafe self.context = context
        unsafe self.hasNotice = hasNotice
        self.registration = registration
    }

    deinit {
        unsafe libusb_hotplug_deregister_callback(context, registration)
        unsafe libusb_exit(context)
        unsafe hasNotice.deallocate()
    }

    /// Wakes ``handle(within:)`` from any thread during the lifetime of this object.
    var waker: USBWaker { unsafe USBWaker(context: context) }

    /// Waits for an event and handles it; the callback runs on this thread.
    ///
    /// - Returns: whether libusb could listen.
    func handle(within time: Duration) -> Bool {
        var limit = timeval(time)
        let result = unsafe libusb_handle_events_timeout_completed(context, &limit, hasNotice)
        return result == 0 || libusb_error(result) == LIBUSB_ERROR_INTERRUPTED
    }

    /// Returns whether a device arrived or left since the last call.
    func takeNotice() -> Bool {
        defer { unsafe hasNotice.pointee = 0 }
        return unsafe hasNotice.pointee != 0
    }
}

/// Reports that a USB device was plugged in or out, by libusb's hot-plug events, which come from udev.
///
/// Where libusb has none, or cannot even be started, it only lets the time pass. In a container without udev libusb has
/// them and they never come, which cannot be detected: `SystemNotices` looks for itself.
package final class USBNotices: DeviceNotices {
    private let cancellation: CancellationToken
    private let events: LibUSBEvents?
    private let wakeUp = DispatchSemaphore(value: 0)
    private var handler: Int?

    /// Starts listening.
    ///
    /// - Parameter cancellation: ends a wait, from any thread.
    package init(cancellation: CancellationToken = CancellationToken()) {
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

    /// Waits for a USB device to arrive or leave.
    ///
    /// - Throws: ``ReaderCore/TransportError/cancelled``.
    package func wait(within time: Duration) throws(TransportError) -> Bool {
        try cancellation.check()
        let deadline = ContinuousClock.now + time
        repeat {
            let left = max(.zero, deadline - .now)
            guard let events else {
                wakeUp.wait(within: left)
                try cancellation.check()
                return false
            }
            let isListening = events.handle(within: left)
            try cancellation.check()
            if events.takeNotice() { return true }
            // An object that can no longer listen must not return immediately again and again.
            if !isListening { wakeUp.wait(within: .milliseconds(100)) }
        } while ContinuousClock.now < deadline
        return false
    }
}
