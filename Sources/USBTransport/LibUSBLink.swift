// SPDX-License-Identifier: Apache-2.0

internal import CLibUSB
package import NFCTransport
package import SystemDevices

/// A link through libusb-1.0. A waiting transfer is ended by the cancellation token immediately, without polling.
package final class LibUSBLink: USBLink {
    private var device: LibUSBDevice?
    private let cancellation: CancellationToken
    private var handler: Int?
    private var isListening = true

    /// More than the longest answer of any PaSoRi, and a whole number of packets of any size.
    static let longestTransfer = 4096
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
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)``.
    package init(_ device: USBDevice, classCode: UInt8, cancellation: CancellationToken) throws(TransportError) {
        let opened = try LibUSBDevice(device, classCode: classCode)
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
        if let outcome { throw mended(outcome, device.endpoints.output) }
    }

    package func receive(within time: Duration) throws(USBError) -> [UInt8] {
        guard let device else { throw .gone }
        let deadline = ContinuousClock.now + time
        while true {
            let left = deadline - .now
            let transfer = try USBTransfer(receiving: Self.longestTransfer, over: device)
            let outcome = wait(for: transfer, over: device, within: max(.zero, min(left, Self.longestWait)))
            guard let outcome else { return transfer.bytes }
            guard outcome == .timedOut else { throw mended(outcome, device.endpoints.input) }
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

    private func mended(_ error: USBError, _ endpoint: UInt8) -> USBError {
        if error == .stalled, let device { unsafe libusb_clear_halt(device.handle, endpoint) }
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
        var limit = timeval(tv_sec: Int(clamping: time.components.seconds), tv_usec: 0)
        limit.tv_usec = Int(time.components.attoseconds / 1_000_000_000_000)
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

/// The two bulk endpoints of an opened reader: a chip driver's whole view of the USB.
///
/// A link belongs to one thread at a time and observes the cancellation token that it was opened with.
package protocol USBLink: AnyObject {
    /// Sends one bulk transfer. One that ends with a full packet is followed by an empty packet, so that the reader
    /// sees its end.
    func send(_ bytes: [UInt8], within time: Duration) throws(USBError)

    /// Receives one bulk transfer: the reader's data up to a packet that is not full. It may be empty.
    func receive(within time: Duration) throws(USBError) -> [UInt8]

    /// Stops observing the cancellation token, because the work before closing is done even after a cancellation.
    func ignoreCancellation()

    /// Reattaches the kernel driver that held the interface, and closes the device. Further calls do nothing; sending
    /// and receiving afterwards is ``USBError/gone``.
    func close()
}
