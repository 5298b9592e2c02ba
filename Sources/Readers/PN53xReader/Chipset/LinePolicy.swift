// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import SystemDevices

/// Decides when raising a serial line to 921600 baud pays off, and when the line can no longer be trusted.
///
/// Raising and lowering cost about 6 ms (three host commands and the waits around them). An exchange carries 50 bytes
/// or more between chip and host, which take 4.4 ms at 115200 baud and 0.6 ms at 921600, so two more exchanges pay for
/// it. Jobs that ask a card for one number need two or three exchanges and stay at the normal speed; a job that
/// continues after the third reads dozens or hundreds. A job that is known to be long begins at the high speed.
struct LinePolicy: Hashable, Sendable {
    /// The state of the line.
    enum State: Hashable, Sendable {
        /// At the normal speed, for good.
        case normal
        /// At the normal speed, after this many exchanges.
        case counting(Int)
        /// It is not known whether the chip has changed its speed.
        case unsure
        /// Raised, with this many faults since.
        case fast(faults: Int)
    }

    /// The state of the line.
    private(set) var state: State

    /// The number of exchanges of a session that run at the normal speed.
    static let exchangesBefore = 3
    /// The number of faults allowed on a fast line.
    static let faultsAllowed = 2

    /// Begins at the normal speed.
    ///
    /// - Parameter atOnce: whether raising is due from the beginning, because another speed was requested.
    init(mayRaise: Bool, atOnce: Bool = false) {
        state = mayRaise ? .counting(atOnce ? Self.exchangesBefore : 0) : .normal
    }

    /// Whether the line is to be raised now.
    var isDue: Bool {
        guard case .counting(let exchanges) = state else { return false }
        return exchanges >= Self.exchangesBefore
    }

    /// Whether the chip is, or may be, at the high speed.
    var mayBeFast: Bool {
        switch state {
        case .normal, .counting: false
        case .unsure, .fast: true
        }
    }

    /// Makes raising due, since many exchanges follow.
    mutating func expectLongJob() {
        guard case .counting = state else { return }
        state = .counting(Self.exchangesBefore)
    }

    /// Counts an exchange with a card, or a card found.
    mutating func didExchange() {
        guard case .counting(let exchanges) = state else { return }
        state = .counting(min(exchanges + 1, Self.exchangesBefore))
    }

    /// Marks the line as unsure, before the chip is told to change its speed.
    mutating func begin() {
        state = .unsure
    }

    /// Marks the line as fast, once the chip has answered at the high speed.
    mutating func didRaise() {
        state = .fast(faults: 0)
    }

    /// Marks the line as normal for good.
    mutating func settle() {
        state = .normal
    }

    /// Counts a garbled or lost transfer between chip and host.
    ///
    /// - Returns: whether the fast line has exceeded its allowed faults.
    mutating func didMeetFault() -> Bool {
        guard case .fast(let faults) = state else { return false }
        state = .fast(faults: min(faults + 1, Self.faultsAllowed + 1))
        return faults >= Self.faultsAllowed
    }
}

/// A speed that both a PN532's serial line and the host's port support.
///
/// The chip's codes are those of SetSerialBaudRate, as in nfcpy's `pn532.py`.
struct LineSpeed: Hashable, Sendable {
    /// The speed in bits per second.
    let bitsPerSecond: Int
    /// The chip's code.
    let code: UInt8
    let terminalCode: speed_t

    /// The start value of a PN532, and libnfc's default.
    static let normal = LineSpeed(bitsPerSecond: 115_200, code: 4, terminalCode: speed_t(B115200))
    /// The speed for long jobs: a byte takes 11 µs instead of 87.
    static let fast = LineSpeed(bitsPerSecond: 921_600, code: 7, terminalCode: speed_t(B921600))

    /// Every speed that both ends support, in ascending order of bits per second.
    static let all = [
        LineSpeed(bitsPerSecond: 9600, code: 0, terminalCode: speed_t(B9600)),
        LineSpeed(bitsPerSecond: 19_200, code: 1, terminalCode: speed_t(B19200)),
        LineSpeed(bitsPerSecond: 38_400, code: 2, terminalCode: speed_t(B38400)),
        LineSpeed(bitsPerSecond: 57_600, code: 3, terminalCode: speed_t(B57600)),
        normal,
        LineSpeed(bitsPerSecond: 230_400, code: 5, terminalCode: speed_t(B230400)),
        LineSpeed(bitsPerSecond: 460_800, code: 6, terminalCode: speed_t(B460800)),
        fast,
    ]

    private init(bitsPerSecond: Int, code: UInt8, terminalCode: speed_t) {
        self.bitsPerSecond = bitsPerSecond
        self.code = code
        self.terminalCode = terminalCode
    }

    /// Returns the speed of this many bits per second, `nil` when one of the two ends does not support it.
    init?(bitsPerSecond: Int) {
        guard let speed = Self.all.first(where: { $0.bitsPerSecond == bitsPerSecond }) else { return nil }
        self = speed
    }
}

/// Whether a port's line can be raised at all.
enum LinePermission {
    /// The identity of a port: a device that is unplugged and plugged in again makes a new one.
    private struct Port: Hashable, Sendable {
        let device: UInt
        let inode: UInt
        let seconds: Int
        let nanoseconds: Int
    }

    /// The ports of this process on which raising failed.
    private static let failed = Mutex<Set<Port>>([])

    /// The environment variable that keeps lines at 115200 baud when set to that (or any number but 921600).
    static let variable = "KAZASU_SERIAL_SPEED"

    /// Checks the user's setting and the port.
    static func isGiven(for connectionString: ConnectionString, setting: String?) -> Bool {
        guard connectionString.family.reachesChip, connectionString.speed == nil, let path = connectionString.path
        else { return false }
        return isGiven(forPort: path, setting: setting)
    }

    /// Checks the user's setting and the port of a PN532.
    static func isGiven(forPort path: String, setting: String?) -> Bool {
        guard setting == nil || setting == "" || setting == String(LineSpeed.fast.bitsPerSecond) else { return false }
        return !isBuiltIn(path) && !isBuiltIn(target(of: path) ?? path)
    }

    /// Whether the port is an on-board UART, as on a Raspberry Pi. nfcpy leaves the first of them at 115200 baud; the
    /// others are treated alike.
    static func isBuiltIn(_ path: String) -> Bool {
        let names = ["/dev/ttyS", "/dev/ttyAMA", "/dev/serial"]
        return names.contains { name in
            guard path.hasPrefix(name), let next = path.dropFirst(name.count).utf8.first else { return false }
            return (0x30...0x39).contains(next)
        }
    }

    /// The final target of a link.
    private static func target(of path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Remembers that a port's line does not carry the high speed.
    static func withdraw(_ descriptor: Int32) {
        guard let port = port(descriptor) else { return }
        failed.withLock { _ = $0.insert(port) }
    }

    /// Whether raising was tried before and failed.
    static func isWithdrawn(_ descriptor: Int32) -> Bool {
        guard let port = port(descriptor) else { return false }
        return failed.withLock { $0.contains(port) }
    }

    private static func port(_ descriptor: Int32) -> Port? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        return Port(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), seconds: status.st_ctim.tv_sec,
            nanoseconds: status.st_ctim.tv_nsec)
    }
}
