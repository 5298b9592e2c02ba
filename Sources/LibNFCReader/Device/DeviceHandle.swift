// SPDX-License-Identifier: Apache-2.0

internal import CLibNFC

/// The address of an open libnfc device. From another thread than its owner's libnfc allows one thing only: to end the
/// call that blocks there.
///
/// Its owner sees to it that the device outlives it: a handler of a cancellation token is removed before the device
/// is closed.
@safe struct DeviceHandle: @unchecked Sendable {
    /// What libnfc takes.
    @unsafe let pointer: OpaquePointer
    /// What an abort goes through; `nil` where the driver needs none.
    let pipe: AbortPipe?

    /// For this device.
    @unsafe init(_ pointer: OpaquePointer, _ pipe: AbortPipe?) {
        unsafe self.pointer = pointer
        self.pipe = pipe
    }

    /// Ends the call that runs now. A call that begins later is not affected on a serial port.
    func abort() {
        guard let pipe else {
            _ = unsafe nfc_abort_command(pointer)
            return
        }
        pipe.abort { _ = unsafe nfc_abort_command(pointer) }
    }
}
