// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB

/// Wakes a thread that waits in libusb; may be used from any thread while the context lives. A call that comes before
/// the wait ends the next one.
@safe struct USBWaker: @unchecked Sendable {
    private let context: OpaquePointer

    init(context: OpaquePointer) {
        unsafe self.context = context
    }

    func wake() {
        unsafe libusb_interrupt_event_handler(context)
    }
}
