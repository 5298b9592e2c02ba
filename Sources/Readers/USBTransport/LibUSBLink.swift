// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB
package import ReaderCore
package import SystemDevices

/// A link through libusb-1.0. A waiting transfer is ended by the cancellation token immediately, without polling.
package final class LibUSBLink: USBLink {
    private var device: LibUSBDevice?
    private let cancellation: CancellationToken
    private var handler: Int?
    private var isListening = true

    /// The longest wait for one transfer. A message of a whole number of packets may end without an empty packet, so
    /// that its transfer does not end by itself.
    private static let longestWait = Duration.milliseconds(100)
    /// How long to wait for a cancelled transfer.
    private static let cancellingTime = Duration.seconds(2)

    /// The version of libusb, as `1.0.26`.
    package static var libraryVersion: String {
        guard let version = unsafe libusb_get_version()?.pointee else { return "" }
        return unsafe "\(version.major).\(version.minor).\(version.micro)"
    }

    /// Opens a device.
    ///
    /// - Parameters:
    ///   - pipes: the ways of its data.
    ///   - attachesDriver: whether to attach the kernel driver at the end even if none had the interface.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)``.
    package init(
        _ device: USBDevice, classCode: UInt8, pipes: USBPipes = .bulk, attachesDriver: Bool = false,
        cancellation: CancellationToken
    ) throws(TransportError) {
        let opened = try LibUSBDevice(device, classCode: classCode, pipes: pipes, attachesDriver: attachesDriver)
        self.device = opened
        self.cancellation = cancellation
        let waker = unsafe USBWaker(context: opened.context)
        handler = cancellation.onCancel { waker.wake() }
    }

    deinit {
        close()
    }

    package func send(_ bytes: [UInt8], within time: Duration) throws(USBError) {
        guard let device else { throw .gone }
        let transfer = try USBTransfer(sending: bytes, over: device)
        let outcome = wait(for: transfer, over: device, within: time)
        if let outcome { throw examining(outcome, device.endpoints.output) }
    }

    package func receive(within time: Duration) throws(USBError) -> [UInt8] {
        let deadline = ContinuousClock.now + time
        while true {
            // A transfer that could not be cancelled closes the link.
            guard let device else { throw .gone }
            let left = deadline - .now
            let transfer = try USBTransfer(receiving: device.endpoints.longestInput, over: device)
            let outcome = wait(for: transfer, over: device, within: max(.zero, min(left, Self.longestWait)))
            guard let outcome else { return transfer.bytes }
            guard outcome == .timedOut else { throw examining(outcome, device.endpoints.input) }
            // A full last packet does not end a transfer.
            if !transfer.bytes.isEmpty { return transfer.bytes }
            if left <= Self.longestWait { throw .timedOut }
        }
    }

    package func ignoreCancellation() {
        isListening = false
    }

    package func close() {
        if let handler { cancellation.remove(handler) }
        handler = nil
        device?.close()
        device = nil
    }

    /// Clears a halted endpoint, and finds out whether the interface is still this link's.
    private func examining(_ error: USBError, _ endpoint: UInt8) -> USBError {
        guard let device else { return error }
        switch error {
        // A stall of the control endpoint ends with the next request.
        case .stalled where endpoint == 0: break
        case .stalled: unsafe libusb_clear_halt(device.handle, endpoint)
        case .failed where unsafe libusb_kernel_driver_active(device.handle, device.endpoints.interface) == 1:
            return .taken
        default: break
        }
        return error
    }

    private func wait(for transfer: USBTransfer, over device: LibUSBDevice, within time: Duration) -> USBError? {
        if isListening, cancellation.isCancelled { return .cancelled }
        if let error = transfer.submit(within: time) { return error }
        let deadline = ContinuousClock.now + time + Self.cancellingTime
        var failure: USBError?
        while !transfer.isOver, failure == nil {
            if isListening, cancellation.isCancelled {
                failure = .cancelled
            } else if ContinuousClock.now >= deadline {
                failure = .timedOut
            } else {
                failure = handleEvents(of: device, until: transfer, within: time + Self.cancellingTime)
            }
        }
        guard let failure else { return transfer.outcome }
        transfer.cancel()
        finish(transfer, over: device)
        return failure
    }

    /// Waits until a cancelled transfer is over. One that never ends keeps its memory, and the link is dead.
    private func finish(_ transfer: USBTransfer, over device: LibUSBDevice) {
        let deadline = ContinuousClock.now + Self.cancellingTime
        while !transfer.isOver, ContinuousClock.now < deadline {
            _ = handleEvents(of: device, until: transfer, within: .milliseconds(100))
        }
        if !transfer.isOver {
            transfer.abandon()
            close()
        }
    }

    /// Lets libusb work until the transfer is over or work is cancelled.
    private func handleEvents(of device: LibUSBDevice, until transfer: USBTransfer, within time: Duration) -> USBError?
    {
        var limit = timeval(time)
        let result = unsafe libusb_handle_events_timeout_completed(device.context, &limit, transfer.completed)
        return libusb_error(result) == LIBUSB_ERROR_INTERRUPTED ? nil : USBError(result)
    }
}

extension USBDevice {
    /// Resets the device on its port, as if it were plugged in again; it may get another address as a result.
    ///
    /// - Returns: whether the kernel did so.
    package func reset() -> Bool { LibUSBDevice.reset(self) }
}

/// The two endpoints of an opened reader: a chip driver's whole view of the USB.
///
/// A link belongs to one thread at a time and observes the cancellation token that it was opened with.
package protocol USBLink: AnyObject {
    /// Sends one transfer. A bulk transfer that ends with a full packet is followed by an empty packet, so that the
    /// reader sees its end.
    func send(_ bytes: [UInt8], within time: Duration) throws(USBError)

    /// Receives one transfer: the reader's data up to a packet that is not full, or one packet of an interrupt endpoint.
    /// It may be empty.
    func receive(within time: Duration) throws(USBError) -> [UInt8]

    /// Stops observing the cancellation token, because the work before closing is done even after a cancellation.
    func ignoreCancellation()

    /// Reattaches the kernel driver that held the interface, and closes the device. Further calls do nothing; sending
    /// and receiving afterwards is ``USBError/gone``.
    func close()
}

/// One libusb transfer, with the memory that it uses until it is over.
@safe final class USBTransfer {
    private let transfer: UnsafeMutablePointer<libusb_transfer>
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    /// The flag that libusb checks to see whether it can stop waiting.
    let completed: UnsafeMutablePointer<Int32>
    private var isAbandoned = false

    convenience init(sending bytes: [UInt8], over device: LibUSBDevice) throws(USBError) {
        guard device.endpoints.pipes == .bulk else {
            // The setup packet comes first: request type 40, all else 0, and the length.
            let length = UInt16(truncatingIfNeeded: bytes.count)
            let setup: [UInt8] = [
                0x40, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8),
            ]
            try self.init(capacity: setup.count + bytes.count, length: setup.count + bytes.count, 0, device)
            _ = unsafe buffer.initialize(from: setup + bytes)
            unsafe transfer.pointee.type = UInt8(LIBUSB_TRANSFER_TYPE_CONTROL.rawValue)
            return
        }
        try self.init(capacity: max(1, bytes.count), length: bytes.count, device.endpoints.output, device)
        _ = unsafe buffer.initialize(from: bytes)
        if bytes.count % device.endpoints.outputPacket == 0 {
            unsafe transfer.pointee.flags = UInt8(LIBUSB_TRANSFER_ADD_ZERO_PACKET.rawValue)
        }
    }

    convenience init(receiving count: Int, over device: LibUSBDevice) throws(USBError) {
        try self.init(capacity: count, length: count, device.endpoints.input, device)
        if device.endpoints.pipes == .controlAndInterrupt {
            unsafe transfer.pointee.type = UInt8(LIBUSB_TRANSFER_TYPE_INTERRUPT.rawValue)
        }
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
        // Zero would mean forever.
        unsafe transfer.pointee.timeout = UInt32(clamping: max(1, time.count(of: .milliseconds(1))))
        return unsafe USBError(libusb_submit_transfer(transfer))
    }

    /// Asks the kernel to end it; it is over only once ``isOver`` is true.
    func cancel() {
        unsafe libusb_cancel_transfer(transfer)
    }

    /// Leaves its memory to libusb forever.
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
    /// The kernel's own driver has the interface again, as after a suspend: the link is dead, the reader can be reopened.
    case taken
    /// Work was cancelled.
    case cancelled
    /// Another error, as numbered by libusb.
    case failed(code: Int32)

    /// The error for callers that read cards. The driver may first try to recover from those that are not ``isFinal``.
    package var transportError: TransportError {
        switch self {
        case .timedOut: .readerTimeout
        case .gone: .unplugged
        case .taken: .readerUnavailable(reason: .absent, detail: .init(.takenBackByKernel))
        case .cancelled: .cancelled
        case .stalled: .readerFailed(detail: .init(.transferRefused))
        case .overflow: .readerFailed(detail: .init(.transferTooLong))
        case .failed(let code): .readerFailed(detail: .init(.libusb, "\(code)"))
        }
    }

    /// Whether the link is dead for good.
    package var isFinal: Bool { self == .gone || self == .taken || self == .cancelled }
}

extension TransportError {
    /// The reader is gone.
    package static let unplugged = TransportError.readerUnavailable(reason: .absent, detail: .init(.unplugged))
}
