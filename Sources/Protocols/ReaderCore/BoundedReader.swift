// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A reader whose calls all return, whatever its driver does: each runs on the reader's own thread and has a limit.
///
/// Every program opens its readers so, commands and services alike. A call that takes longer, or that goes on although the
/// work was cancelled, is abandoned: its thread ends when the driver returns, which is also when the device is released.
///
/// | A call that hangs | The caller gets | The reader |
/// | --- | --- | --- |
/// | opening | ``TransportError/hanging`` | is closed as soon as it is open |
/// | any other | ``TransportError/readerTimeout`` | refuses further calls; opening it again makes another thread |
/// | closing | nothing | counts as closed |
/// | any, after a cancellation | ``TransportError/cancelled`` | as above |
package final class BoundedReader: PacedReader, FollowedSearch, LongJobReader {
    /// How long calls may take.
    package struct Limits: Sendable {
        /// Opening: libnfc and a PaSoRi that must be reset need up to a few seconds.
        package var opening: Duration
        /// Every other call, in addition to the time that it is told: a machine may be slow.
        package var exchange = Duration.seconds(10)
        /// Closing.
        package var closing = Duration.seconds(5)
        /// A call that was cancelled.
        package var grace = BoundedReader.grace

        package init(opening: Duration = .seconds(15)) { self.opening = opening }
    }

    /// How long a driver that was told to stop may take before its thread is abandoned.
    package static let grace = Duration.seconds(3)
    /// So many threads of one reader may hang in its driver; then it is not opened again until one of them returns.
    private static let mostHanging = 2
    /// The threads that were abandoned and hang, by reader.
    private static let hanging = Mutex<[String: Int]>([:])

    /// A reader of a driver, which its own thread alone uses.
    private final class Device: @unchecked Sendable {
        let reader: any Reader
        init(_ reader: any Reader) { self.reader = reader }
    }

    package let information: ReaderInformation
    package let pace: Int
    /// The name by which threads that hang are counted.
    private let id: String
    private let device: Device
    private let thread: DedicatedThread
    private let limits: Limits
    /// Cancelled by the caller.
    private let cancellation: CancellationToken
    /// Cancels the driver, on a thread of its own: that may hang, too.
    private let driver: CancellationToken
    private let handler: Int
    private var isHanging = false
    private var isClosed = false

    /// Opens a reader.
    ///
    /// - Parameters:
    ///   - id: the reader, to count the threads that hang.
    ///   - cancellation: ends the work with the reader.
    ///   - failure: the caller's error for ``TransportError/hanging``, ``TransportError/cancelled``, or a system without threads.
    ///   - body: opens it, on the reader's thread; gets the token that ends its work.
    /// - Throws: what `body` throws, or what `failure` returns.
    package static func open<Failure: Error>(
        _ id: String, _ limits: Limits, _ cancellation: CancellationToken,
        _ failure: (TransportError) -> Failure,
        _ body: @escaping @Sendable (CancellationToken) throws(Failure) -> (any Reader)?
    ) throws(Failure) -> BoundedReader? {
        let thread: DedicatedThread
        do throws(TransportError) {
            guard hanging.withLock({ $0[id, default: 0] < mostHanging }) else { throw .hanging }
            try cancellation.check()
            thread = try DedicatedThread()
        } catch {
            throw failure(error)
        }
        let driver = CancellationToken()
        let handler = cancellation.onCancel { BlockingWork.start { driver.cancel() } }
        let opening = BoundedCalls.run(
            within: limits.opening, endedBy: cancellation, grace: limits.grace, on: thread.run,
            late: { (result: Result<Device?, Failure>) in
                if case .success(let device?) = result { device.reader.close() }
                count(-1, hanging: id)
            },
            { Result { () throws(Failure) in try body(driver).map(Device.init) } })
        guard case .returned(.success(let device?)) = opening else {
            cancellation.remove(handler)
            if case .returned(let result) = opening {
                _ = try result.get()
                return nil
            }
            count(1, hanging: id)
            BlockingWork.start { driver.cancel() }
            if case .cancelled = opening { throw failure(.cancelled) }
            throw failure(.hanging)
        }
        if let reader = device.reader as? BoundedReader { return reader }
        return BoundedReader(device, thread, id: id, limits, cancellation, driver, handler)
    }

    private init(
        _ device: Device, _ thread: DedicatedThread, id: String, _ limits: Limits, _ cancellation: CancellationToken,
        _ driver: CancellationToken, _ handler: Int
    ) {
        (self.device, self.thread, self.id, self.limits) = (device, thread, id, limits)
        (self.cancellation, self.driver, self.handler) = (cancellation, driver, handler)
        information = device.reader.information
        pace = (device.reader as? any PacedReader)?.pace ?? 1
    }

    package func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try activate(request, isFollowed: false)
    }

    package func activate(_ request: ActivationRequest, isFollowed: Bool) throws(TransportError) -> PICC? {
        try perform { reader throws(TransportError) in try reader.look(for: request, isFollowed: isFollowed) }
    }

    package func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try perform(min(timeout, .seconds(1 << 32)) + information.longestExtension) { reader throws(TransportError) in
            try reader.transceive(frame, timeout: timeout)
        }
    }

    package func isCardPresent() throws(TransportError) -> Bool? {
        try perform { reader throws(TransportError) in try reader.isCardPresent() }
    }

    package func waitForEvent(within time: Duration) throws(TransportError) -> Bool {
        try perform(time) { reader throws(TransportError) in try reader.waitForEvent(within: time) }
    }

    package func cyclePower() throws(TransportError) -> Bool {
        try perform { reader throws(TransportError) in try reader.cyclePower() }
    }

    package func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
        try perform { reader throws(TransportError) in try reader.show(signal) }
    }

    package func silence() throws(TransportError) -> Bool {
        try perform { reader throws(TransportError) in try reader.silence() }
    }

    /// A reader that fails here fails at the next search, which reports it.
    package func beginLongJob() {
        _ = try? perform { reader throws(TransportError) in reader.expectLongJob() }
    }

    /// Releases the device, as soon as a call that hangs returns.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        let device = device
        if isHanging {
            thread.run { device.reader.close() }
        } else {
            let id = id
            let end = BoundedCalls.run(
                within: limits.closing, on: thread.run, late: { Self.count(-1, hanging: id) },
                { device.reader.close() })
            if case .hanging = end { Self.count(1, hanging: id) }
        }
        cancellation.remove(handler)
    }

    /// - Parameter time: the limit that the call receives.
    private func perform<Value: Sendable>(
        _ time: Duration = .zero, _ body: @escaping @Sendable (any Reader) throws(TransportError) -> Value
    ) throws(TransportError) -> Value {
        guard !isClosed else { throw .closed }
        try cancellation.check()
        guard !isHanging else { throw .readerTimeout }
        let (device, id) = (device, id)
        let end = BoundedCalls.run(
            within: min(time, .seconds(1 << 32)) + limits.exchange, endedBy: cancellation, grace: limits.grace,
            on: thread.run,
            late: { (_: Result<Value, TransportError>) in Self.count(-1, hanging: id) },
            { Result { () throws(TransportError) in try body(device.reader) } })
        switch end {
        case .returned(let result): return try result.get()
        case .hanging, .cancelled:
            isHanging = true
            Self.count(1, hanging: id)
            let driver = driver
            BlockingWork.start { driver.cancel() }
            if case .cancelled = end { throw .cancelled }
            throw .readerTimeout
        }
    }

    /// Counts a thread that was abandoned, or that has returned since, in either order.
    private static func count(_ change: Int, hanging id: String) {
        hanging.withLock { hanging in
            let count = hanging[id, default: 0] + change
            hanging[id] = count == 0 ? nil : count
        }
    }
}

/// A simulated reader before which the pauses of a host are to be shorter.
package protocol PacedReader: Reader {
    /// How many times.
    var pace: Int { get }
}
