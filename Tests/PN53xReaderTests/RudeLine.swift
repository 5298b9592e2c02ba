// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import VirtualReader

/// A pseudo-terminal as a serial line that no chip is at. The caller reads and writes `master`; nobody has to look at
/// `slave`, which keeps the line alive while no driver has it open.
struct PseudoLine {
    struct Failed: Error {
        let call: String
    }

    /// Where a driver finds it.
    let path: String
    let master: Int32
    let slave: Int32

    /// - Parameter flags: for the master, O_NONBLOCK or none.
    init(_ flags: Int32 = 0) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | flags)
        var unlock: Int32 = 0
        var number: UInt32 = 0
        guard ioctl(master, 0x4004_5431, &unlock) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw Failed(call: "ptmx")
        }
        path = "/dev/pts/\(number)"
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Failed(call: "open") }
        Self.makeRaw(slave)
    }

    static func makeRaw(_ terminal: Int32) {
        var settings = termios()
        tcgetattr(terminal, &settings)
        cfmakeraw(&settings)
        tcsetattr(terminal, TCSANOW, &settings)
    }

    func end() {
        close(slave)
        close(master)
    }
}

/// A serial line between a driver and a simulated chip that keeps the chip's first answer to InCommunicateThru back and
/// delivers it after the ACK of the command that comes next, as if it were that command's.
final class RudeLine: Sendable {
    /// Where a driver finds the line.
    var path: String { line.path }

    private let line: PseudoLine
    private let chip: Int32
    private let ended = DispatchSemaphore(value: 0)

    init(to server: PN532Server) throws {
        line = try PseudoLine(O_NONBLOCK)
        chip = open(server.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard chip >= 0 else { throw PseudoLine.Failed(call: "open") }
        PseudoLine.makeRaw(chip)
        DispatchQueue(label: "rude line").async { [line, chip, ended] in
            Self.run(line.master, chip)
            ended.signal()
        }
    }

    /// Ends the line: the driver sees the plug pulled.
    func stop() {
        // The end of the chip's server ends the loop.
        ended.wait()
        line.end()
        close(chip)
    }

    private static func run(_ master: Int32, _ chip: Int32) {
        var pending: [UInt8] = []
        var held: [UInt8]?
        var hasHeld = false
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            var ends = [pollfd(fd: master, events: Int16(POLLIN), revents: 0)]
            ends.append(pollfd(fd: chip, events: Int16(POLLIN), revents: 0))
            poll(&ends, 2, -1)
            if ends[0].revents & Int16(POLLIN) != 0 {
                let count = read(master, &buffer, buffer.count)
                if count > 0 { _ = write(chip, buffer, count) }
            }
            guard ends[1].revents != 0 else { continue }
            let count = read(chip, &buffer, buffer.count)
            guard count > 0 else { return }
            pending += buffer[..<count]
            while let frame = nextFrame(&pending) {
                if frame.count > 6, frame[6] == 0x43, !hasHeld {
                    (held, hasHeld) = (frame, true)
                    continue
                }
                _ = write(master, frame, frame.count)
                if frame.count == 6, let late = held {
                    _ = write(master, late, late.count)
                    held = nil
                }
            }
        }
    }

    /// Takes an ACK or a normal frame from the front.
    private static func nextFrame(_ bytes: inout [UInt8]) -> [UInt8]? {
        guard bytes.count >= 6 else { return nil }
        let length = bytes[3] == 0x00 ? 6 : Int(bytes[3]) + 7
        guard bytes.count >= length else { return nil }
        defer { bytes.removeFirst(length) }
        return Array(bytes.prefix(length))
    }
}
