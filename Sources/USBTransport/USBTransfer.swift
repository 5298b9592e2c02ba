// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB
package import NFCTransport

/// One libusb bulk transfer, with the memory that it uses until it is over.
@safe final class USBTransfer {
    private let transfer: UnsafeMutablePointer<libusb_transfer>
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    /// The flag that libusb checks to see whether it can stop waiting.
    let completed: UnsafeMutablePointer<Int32>
    private var isAbandoned = false

    /// Creates a transfer to the device.
    convenience init(sending bytes: [UInt8], over device: LibUSBDevice) throws(USBError) {
        try self.init(capacity: max(1, bytes.count), length: bytes.count, device.endpoints.output, device)
        _ = unsafe buffer.initialize(from: bytes)
        if bytes.count % device.endpoints.outputPacket == 0 {
            unsafe transfer.pointee.flags = UInt8(LIBUSB_TRANSFER_ADD_ZERO_PACKET.rawValue)
        }
    }

    /// Creates a transfer from the device.
    convenience init(receiving count: Int, over device: LibUSBDevice) throws(USBError) {
        try self.init(capacity: count, length: count, device.endpoints.input, device)
    }

    private init(capacity: Int, length: Int, _ endpoint: UInt8, _ device: LibUSBDevice) throws(USBError) {
        guard let transfer = unsafe libusb_alloc_transfer(0) else {
            throw .failed(code: Int32(LIBUSB_ERROR_NO_MEM.rawValue))
        }
        unsafe self.transfer = transfer
        unsafe buffer = .allocate(capacity: capacity)
        unsafe buffer.initialize(repeating: 0)
        unsafe completed = .allocate(capacity: 1)
        unsafe completed.initialize(to: 0)
        unsafe libusb_fill_bulk_transfer(
            transfer, device.handle, endpoint, buffer.baseAddress, Int32(clamping: length),
            { transfer in
                let completed = unsafe transfer?.pointee.user_data?.assumingMemoryBound(to: Int32.self)
                unsafe completed?.pointee = 1
            }, completed, 0)
    }

    deinit {
        guard !isAbandoned else { return }
        unsafe libusb_free_transfer(transfer)
        unsafe buffer.deallocate()
        unsafe completed.deallocate()
    }

    /// Submits it to the kernel; `nil` when that accepted it.
    func submit(within time: Duration) -> USBError? {
        let (seconds, attoseconds) = time.components
        let milliseconds = min(max(seconds, 0), 3600) * 1000 + max(attoseconds, 0) / 1_000_000_000_000_000
        // Zero would mean for ever.
        unsafe transfer.pointee.timeout = UInt32(clamping: max(1, milliseconds))
        return unsafe USBError(libusb_submit_transfer(transfer))
    }

    /// Asks the kernel to end it; it is over only once ``isOver`` is true.
    func cancel() {
        unsafe libusb_cancel_transfer(transfer)
    }

    /// Leaves its memory to libusb for ever.
    func abandon() {
        isAbandoned = true
    }

    /// Whether the kernel is done with it.
    var isOver: Bool { unsafe completed.pointee != 0 }

    /// The error; `nil` on success.
    var outcome: USBError? { unsafe USBError(transfer.pointee.status) }

    /// The transferred bytes.
    var bytes: [UInt8] { unsafe Array(buffer.prefix(max(0, Int(transfer.pointee.actual_length)))) }
}

extension USBError {
    /// Converts a transfer's status; `nil` on success.
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

    /// Converts the return code of a libusb call; `nil` on success.
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

/// Why a transfer failed.
package enum USBError: Error, Hashable, Sendable {
    /// Nothing was received or accepted in time.
    case timedOut
    /// The endpoint stalled; the halt was cleared.
    case stalled
    /// More data came than fits.
    case overflow
    /// The device was unplugged, or the link is closed.
    case gone
    /// Work was cancelled.
    case cancelled
    /// Another error, as numbered by libusb.
    case failed(code: Int32)

    /// The error for callers that read cards. The driver may first try to recover from those that are not ``isFinal``.
    package var transportError: TransportError {
        switch self {
        case .timedOut: .readerTimeout
        case .gone: .unplugged
        case .cancelled: .cancelled
        case .stalled: .readerFailed(detail: .init(.transferRefused))
        case .overflow: .readerFailed(detail: .init(.transferTooLong))
        case .failed(let code): .readerFailed(detail: .init(.libusb, "\(code)"))
        }
    }

    /// Whether the link is dead for good.
    package var isFinal: Bool { self == .gone || self == .cancelled }
}

extension TransportError {
    /// The reader is gone.
    package static let unplugged = TransportError.readerUnavailable(reason: .absent, detail: .init(.unplugged))
}
