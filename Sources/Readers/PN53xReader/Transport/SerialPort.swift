// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import ReaderCore
internal import SystemDevices

/// A serial port, or another device file that leads to a reader, locked against other programs for its lifetime.
///
/// libnfc does not lock a serial port (glibc drops the mark that it sets in the terminal's flags), so two programs
/// could share one and take each other's answers. The lock is `flock`'s, which every Kazasu process takes; other
/// programs are kept out by the terminal's exclusive mode, which root bypasses.
final class SerialPort {
    let descriptor: Int32
    /// The path of the device file.
    let path: String
    private var isMarked = false

    /// libnfc waits with `select`, whose sets end at 1024: a higher descriptor would crash the process. It opens a few
    /// more after this one.
    static let highestForLibnfc: Int32 = 1000

    /// Longer than a USB adapter keeps received data (16 ms), and the maximum number of repeats.
    private static let (quietMilliseconds, longestNoise): (Int32, Int) = (20, 50)

    /// Opens and locks the port.
    ///
    /// - Parameter highest: the highest acceptable descriptor.
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` with the cause.
    init(path: String, highest: Int32 = .max) throws(TransportError) {
        self.path = path
        let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw DeviceNodeError(errorNumber: errno, path: path).error
        }
        guard descriptor < highest else {
            Glibc.close(descriptor)
            throw .readerUnavailable(
                reason: .unsupported, detail: .init(.tooManyOpenFiles, "\(descriptor)"))
        }
        guard Self.isCharacterDevice(descriptor) else {
            Glibc.close(descriptor)
            throw .readerUnavailable(reason: .unsupported, detail: .init(.notADevice, path))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Glibc.close(descriptor)
            throw DeviceNodeError(errorNumber: EBUSY, path: path, group: nil).error
        }
        self.descriptor = descriptor
    }

    deinit {
        if isMarked { Terminal.mark(descriptor, exclusive: false) }
        // Closing alone is not enough: a child that is being started holds the descriptor, and so the lock, until it
        // runs.
        flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
    }

    /// Keeps programs that do not use the lock from opening the port, once nobody else has to. Not on a
    /// pseudo-terminal: the other end keeps it alive, so the exclusive mode would outlive a killed process.
    func keepOthersOut() {
        guard !Terminal.isPseudoTerminal(descriptor) else { return }
        isMarked = Terminal.mark(descriptor, exclusive: true)
    }

    /// Whether the other end is gone: the device was unplugged.
    var isGone: Bool {
        var query = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&query, 1, 0) > 0 && query.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    }

    /// Aborts the running command of a PN532 at the other end by an ACK frame, and discards the data it has sent.
    func abortChip() {
        _ = unsafe Glibc.write(descriptor, PN532Frame.acknowledge, PN532Frame.acknowledge.count)
        discardInput()
    }

    /// Discards the input received so far.
    func discardInput() {
        tcflush(descriptor, TCIFLUSH)
    }

    /// Discards input until none has come for a while, for a second at most.
    ///
    /// - Returns: whether the port became quiet.
    func discardUntilQuiet() -> Bool {
        for _ in 0..<Self.longestNoise where !isGone {
            discardInput()
            var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&query, 1, Self.quietMilliseconds) > 0 else { return true }
        }
        return false
    }

    /// The result of a wait.
    enum Wait: Hashable, Sendable {
        case ready, timedOut, woken, gone
    }

    /// Waits until bytes have come, or can be sent.
    ///
    /// - Parameters:
    ///   - events: POLLIN or POLLOUT.
    ///   - end: when to give up.
    ///   - waker: a descriptor that ends the wait as soon as it is readable.
    func wait(for events: Int32, until end: ContinuousClock.Instant, waker: Int32) -> Wait {
        while true {
            let left = end - .now
            guard left > .zero else { return .timedOut }
            // Rounded up, so that the last millisecond is not a busy loop.
            let milliseconds = left.count(of: .milliseconds(1), roundedUp: true)
            var queries = [
                pollfd(fd: descriptor, events: Int16(events), revents: 0),
                pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&queries, 2, Int32(clamping: milliseconds))
            if count < 0, errno != EINTR { return .gone }
            guard count > 0 else { continue }
            if queries[1].revents != 0 { return .woken }
            if queries[0].revents & Int16(events) != 0 { return .ready }
            if queries[0].revents != 0 { return .gone }
        }
    }

    /// Returns the received bytes, as many as fit; `nil` when the other end is gone.
    func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0 { return errno == EAGAIN || errno == EINTR ? [] : nil }
        return count == 0 ? nil : Array(buffer.prefix(count))
    }

    /// Writes bytes to the port.
    ///
    /// - Returns: the number of bytes accepted; `nil` when the other end is gone.
    func write(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 { return errno == EAGAIN || errno == EINTR ? 0 : nil }
        return count
    }

    /// Whether raising the line has never failed on this port.
    var mayRaise: Bool { !LinePermission.isWithdrawn(descriptor) }

    /// Remembers that the line does not carry the high speed.
    func withdrawPermission() {
        LinePermission.withdraw(descriptor)
    }

    private static func isCharacterDevice(_ descriptor: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
    }
}

/// Terminal functions that Glibc's Swift overlay lacks.
enum Terminal {
    private static let setExclusive: UInt = 0x540C
    private static let clearExclusive: UInt = 0x540D
    private static let getExclusive: UInt = 0x8004_5440

    /// Sets or clears exclusive mode (TIOCEXCL), in which every further open fails with EBUSY, except root's.
    ///
    /// - Returns: whether it is a terminal.
    @discardableResult
    static func mark(_ descriptor: Int32, exclusive: Bool) -> Bool {
        ioctl(descriptor, exclusive ? setExclusive : clearExclusive) == 0
    }

    /// Whether exclusive mode is set.
    static func isMarked(_ descriptor: Int32) -> Bool {
        var value: Int32 = 0
        return unsafe ioctl(descriptor, getExclusive, &value) == 0 && value != 0
    }

    /// Whether the descriptor is one end of a pseudo-terminal (Linux's device numbers 136 to 143).
    static func isPseudoTerminal(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return (136...143).contains((status.st_rdev >> 8) & 0xFFF)
    }
}
