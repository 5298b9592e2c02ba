// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The chip's end of a pseudo-terminal.
final class PseudoterminalLine: HostLine {
    private let terminal: Pseudoterminal
    private let stop: StopSignal

    init(_ terminal: consuming Pseudoterminal, stop: StopSignal) {
        self.terminal = terminal
        self.stop = stop
    }

    var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The terminal's settings are those of its slave, whoever asks.
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

    /// What `poll` can wait for without being late; the rest is slept precisely.
    private static func wholeMilliseconds(_ duration: Duration?) -> Int32 {
        guard let duration else { return -1 }
        let (seconds, attoseconds) = duration.components
        guard seconds < 1000 else { return 1_000_000 }
        return Int32(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    /// One `poll`; `nil` when nothing came in that time.
    private func wait(milliseconds: Int32) -> LineEvent? {
        var descriptors = [
            pollfd(fd: terminal.master, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal.watch, events: Int16(POLLIN), revents: 0),
        ]
        let count = unsafe poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        guard count > 0 else { return nil }
        let broken = Int16(POLLERR) | Int16(POLLNVAL)
        if descriptors[1].revents != 0 || descriptors[0].revents & broken != 0 { return .closed }
        if descriptors[2].revents != 0 { clientLeft() }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let received = unsafe Glibc.read(terminal.master, &buffer, buffer.count)
        return received > 0 ? .bytes(Array(buffer.prefix(received))) : nil
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
            // A host that does not read loses what its buffer cannot hold, as on a serial line without flow control.
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
