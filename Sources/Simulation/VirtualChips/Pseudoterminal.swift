// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import VirtualCards

/// A master and a slave terminal in raw mode; programs open the slave by its path like a serial port.
///
/// The slave is kept open here too, so clients can connect and disconnect: the master never sees the end of the file.
struct Pseudoterminal: ~Copyable {
    /// The master, which is non-blocking.
    let master: Int32
    /// The slave, such as `/dev/pts/3`.
    let path: String
    /// The symbolic link to the slave, when one was requested.
    let link: String?
    private let slave: Int32
    /// Signals when a client closes the slave; -1 when the system has no watch left.
    let watch: Int32

    // posix_openpt and the macros of these two requests are not imported into Swift.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    init(link: String?) throws(PseudoterminalError) {
        let master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard master >= 0 else { throw .failed(call: "open /dev/ptmx", errno: errno) }
        let pair: (slave: Int32, path: String)
        do {
            pair = try Self.openSlave(of: master)
        } catch {
            close(master)
            throw error
        }
        do {
            if let link { try Self.makeLink(link, to: pair.path) }
        } catch {
            close(pair.slave)
            close(master)
            throw error
        }
        self.master = master
        (slave, path) = pair
        self.link = link
        watch = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        if watch >= 0 { _ = unsafe inotify_add_watch(watch, pair.path, UInt32(IN_CLOSE)) }
    }

    private static func openSlave(of master: Int32) throws(PseudoterminalError) -> (slave: Int32, path: String) {
        var locked: Int32 = 0
        guard unsafe ioctl(master, setLock, &locked) == 0 else { throw .failed(call: "unlock", errno: errno) }
        var number: Int32 = 0
        guard unsafe ioctl(master, getNumber, &number) == 0 else { throw .failed(call: "number", errno: errno) }
        let path = "/dev/pts/\(number)"
        let slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw .failed(call: "open \(path)", errno: errno) }
        var settings = termios()
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CREAD | CLOCAL)
        unsafe cfsetspeed(&settings, speed_t(B115200))
        guard unsafe tcsetattr(slave, TCSANOW, &settings) == 0 else {
            let reason = errno
            close(slave)
            throw .failed(call: "tcsetattr", errno: reason)
        }
        return (slave, path)
    }

    /// Creates the link; a dangling one that a killed run left behind is replaced.
    private static func makeLink(_ link: String, to path: String) throws(PseudoterminalError) {
        if unsafe symlink(path, link) == 0 { return }
        guard errno == EEXIST else { throw .cannotLink(path: link, errno: errno) }
        let isLink = target(of: link) != nil
        guard isLink, unsafe access(link, F_OK) != 0 else { throw .linkExists(path: link) }
        guard unsafe unlink(link) == 0, unsafe symlink(path, link) == 0 else {
            throw .cannotLink(path: link, errno: errno)
        }
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink(link, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes the slave available to others again: a client's exclusive mode outlives its descriptor on a
    /// pseudo-terminal.
    borrowing func endExclusiveUse() {
        _ = ioctl(slave, UInt(TIOCNXCL))
    }

    deinit {
        // A link that now leads elsewhere belongs to somebody else.
        if let link, Self.target(of: link) == path { unsafe unlink(link) }
        if watch >= 0 { close(watch) }
        close(slave)
        close(master)
    }
}

/// The chip's end of a pseudo-terminal.
final class PseudoterminalLine: HostLine {
    private let terminal: Pseudoterminal
    private let stop: StopSignal
    /// Whether the signal was seen, and what had come by then was read.
    private var isStopped = false

    init(_ terminal: consuming Pseudoterminal, stop: StopSignal) {
        self.terminal = terminal
        self.stop = stop
    }

    var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The terminal's settings are those of its slave, on either descriptor.
    var hostSpeed: SerialSpeed? {
        var settings = termios()
        guard unsafe tcgetattr(terminal.master, &settings) == 0 else { return nil }
        return switch unsafe cfgetospeed(&settings) {
        case speed_t(B9600): .baud9600
        case speed_t(B19200): .baud19200
        case speed_t(B38400): .baud38400
        case speed_t(B57600): .baud57600
        case speed_t(B115200): .baud115200
        case speed_t(B230400): .baud230400
        case speed_t(B460800): .baud460800
        case speed_t(B921600): .baud921600
        default: nil
        }
    }

    func read(until deadline: Duration?) -> LineEvent {
        while true {
            switch wait(milliseconds: Self.wholeMilliseconds(deadline.map { $0 - now })) {
            case .some(let event): return event
            case .none:
                guard let deadline, deadline - now < .milliseconds(1) else { continue }
                sleep(until: deadline)
                return wait(milliseconds: 0) ?? .deadline
            }
        }
    }

    /// The wait that `poll` can do without being late; the rest is slept precisely.
    private static func wholeMilliseconds(_ duration: Duration?) -> Int32 {
        guard let duration else { return -1 }
        let (seconds, attoseconds) = duration.components
        guard seconds < 1000 else { return 1_000_000 }
        return Int32(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    /// Calls `poll` once; `nil` when nothing came in that time.
    ///
    /// What the host sent before the signal to stop is still read, so that a host's last ACK counts whichever thread is
    /// quicker.
    private func wait(milliseconds: Int32) -> LineEvent? {
        if isStopped { return .closed }
        var descriptors = [
            pollfd(fd: terminal.master, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal.watch, events: Int16(POLLIN), revents: 0),
        ]
        let count = unsafe poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        guard count > 0 else { return nil }
        let broken = Int16(POLLERR) | Int16(POLLNVAL)
        if descriptors[0].revents & broken != 0 { return .closed }
        isStopped = descriptors[1].revents != 0
        if descriptors[2].revents != 0 { clientLeft() }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let received = unsafe Glibc.read(terminal.master, &buffer, buffer.count)
        if received > 0 { return .bytes(Array(buffer.prefix(received))) }
        return isStopped ? .closed : nil
    }

    private func clientLeft() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while unsafe Glibc.read(terminal.watch, &buffer, buffer.count) > 0 {}
        terminal.endExclusiveUse()
    }

    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { unsafe Glibc.write(terminal.master, $0.baseAddress, $0.count) }
            if sent < 0, errno == EINTR { continue }
            // A host that does not read loses data that its buffer cannot hold, as on a serial line without flow
            // control.
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    func sleep(until deadline: Duration) {
        let (seconds, attoseconds) = deadline.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        while unsafe clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
    }
}

/// Why there is no pseudo-terminal, or no link to it.
package enum PseudoterminalError: Error, Hashable, Sendable {
    /// A system call failed; its name and `errno`.
    case failed(call: String, errno: Int32)
    /// Something already exists at the link's path.
    case linkExists(path: String)
    /// The link could not be created.
    case cannotLink(path: String, errno: Int32)

    /// The `errno`.
    package var number: Int32 {
        switch self {
        case .failed(_, let number), .cannotLink(_, let number): number
        case .linkExists: EEXIST
        }
    }
}
