// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB

extension USBError {
    /// What became of a transfer; `nil` when it went well.
    init?(_ status: libusb_transfer_status) {
        switch status {
        case LIBUSB_TRANSFER_COMPLETED: return nil
        case LIBUSB_TRANSFER_TIMED_OUT: self = .timedOut
        case LIBUSB_TRANSFER_CANCELLED: self = .cancelled
        case LIBUSB_TRANSFER_STALL: self = .stalled
        case LIBUSB_TRANSFER_NO_DEVICE: self = .gone
        case LIBUSB_TRANSFER_OVERFLOW: self = .overflow
        default: self = .failed(code: Int32(LIBUSB_ERROR_IO.rawValue))
        }
    }

    /// What a call of libusb returned; `nil` when it went well.
    init?(_ result: Int32) {
        switch libusb_error(result) {
        case _ where result >= 0: return nil
        case LIBUSB_ERROR_TIMEOUT: self = .timedOut
        case LIBUSB_ERROR_PIPE: self = .stalled
        case LIBUSB_ERROR_OVERFLOW: self = .overflow
        case LIBUSB_ERROR_NO_DEVICE, LIBUSB_ERROR_NOT_FOUND: self = .gone
        default: self = .failed(code: result)
        }
    }
}
