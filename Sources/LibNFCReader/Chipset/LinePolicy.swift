// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import SystemDevices

/// Decides when a serial line is worth its raising to 921600 baud, and when it is not to be trusted any more.
///
/// Raising and lowering cost about 6 ms (three host commands and the waits around them). An exchange carries 50 bytes or
/// more between chip and host, which take 4.4 ms at 115200 baud and 0.6 ms at 921600, so two more exchanges pay for it.
/// Jobs that ask a card for one number need two or three exchanges and stay as they are; who goes on after the fourth
/// reads dozens or hundreds.
struct LinePolicy: Hashable, Sendable {
    /// Where the line stands.
    enum State: Hashable, Sendable {
        /// At the normal speed, for good.
        case normal
        /// At the normal speed, after so many exchanges.
        case counting(Int)
        /// Nobody knows whether the chip has changed its speed.
        case unsure
        /// Raised, with so many faults since.
        case fast(faults: Int)
    }

    /// Where the line stands.
    private(set) var state: State

    /// The exchanges of a session that run at the normal speed.
    static let exchangesBefore = 4
    /// The faults that a fast line may have.
    static let faultsAllowed = 2

    /// Begins at the normal speed.
    ///
    /// - Parameter atOnce: whether it is due from the beginning, since somebody asked for another speed.
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

    /// A card was asked something, or found.
    mutating func didExchange() {
        guard case .counting(let exchanges) = state else { return }
        state = .counting(min(exchanges + 1, Self.exchangesBefore))
    }

    /// The chip is about to be told.
    mutating func begin() {
        state = .unsure
    }

    /// The chip has answered at the high speed.
    mutating func didRaise() {
        state = .fast(faults: 0)
    }

    /// The chip is at the normal speed and stays there.
    mutating func settle() {
        state = .normal
    }

    /// Something was garbled or lost between chip and host.
    ///
    /// - Returns: whether the fast line has had more faults than it may.
    mutating func didMeetFault() -> Bool {
        guard case .fast(let faults) = state else { return false }
        state = .fast(faults: min(faults + 1, Self.faultsAllowed + 1))
        return faults >= Self.faultsAllowed
    }
}

/// A speed that a PN532's serial line and the host's port both know.
///
/// The chip's codes are those of SetSerialBaudRate, as in nfcpy's `pn532.py`.
struct LineSpeed: Hashable, Sendable {
    /// Bits a second.
    let bitsPerSecond: Int
    /// What the chip calls it.
    let code: UInt8
    /// What the terminal calls it.
    let terminalCode: speed_t

    /// What a PN532 starts with, and libnfc when nobody asks for another.
    static let normal = LineSpeed(bitsPerSecond: 115_200, code: 4, terminalCode: speed_t(B115200))
    /// What a long job is worth: a byte takes 11 µs instead of 87.
    static let fast = LineSpeed(bitsPerSecond: 921_600, code: 7, terminalCode: speed_t(B921600))

    /// Every speed that both ends know, in bits a second rising.
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

    /// The speed of so many bits a second, `nil` when one of the two ends does not know it.
    init?(bitsPerSecond: Int) {
        guard let speed = Self.all.first(where: { $0.bitsPerSecond == bitsPerSecond }) else { return nil }
        self = speed
    }
}

/// Whether a port's line may be raised at all.
enum LinePermission {
    /// What makes a port the same as before: a plug that is pulled and put back makes a new one.
    private struct Port: Hashable, Sendable {
        let device: UInt
        let inode: UInt
        let seconds: Int
        let nanoseconds: Int
    }

    /// The ports of this process on which it failed.
    private static let failed = Mutex<Set<Port>>([])

    /// The variable of the environment that keeps lines at 115200 baud when it says that (or any number but 921600).
    static let variable = "KAZASU_SERIAL_SPEED"

    /// Looks at what the user said and at what the port is.
    static func isGiven(for connectionString: ConnectionString, setting: String?) -> Bool {
        guard connectionString.family.reachesChip, connectionString.speed == nil, let path = connectionString.path
        else { return false }
        return isGiven(forPort: path, setting: setting)
    }

    /// Looks at what the user said and at what the port of a PN532 is.
    static func isGiven(forPort path: String, setting: String?) -> Bool {
        guard setting == nil || setting == "" || setting == String(LineSpeed.fast.bitsPerSecond) else { return false }
        return !isBuiltIn(path) && !isBuiltIn(target(of: path) ?? path)
    }

    /// A UART of the board itself, as on a Raspberry Pi. nfcpy leaves the first of them at 115200 baud; the others
    /// are treated alike.
    static func isBuiltIn(_ path: String) -> Bool {
        let names = ["/dev/ttyS", "/dev/ttyAMA", "/dev/serial"]
        return names.contains { name in
            guard path.hasPrefix(name), let next = path.dropFirst(name.count).utf8.first else { return false }
            return (0x30...0x39).contains(next)
        }
    }

    /// Where a link leads in the end.
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

    /// Whether it was tried before, in vain.
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
