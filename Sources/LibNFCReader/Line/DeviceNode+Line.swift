// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The host's end of a PN532's serial line. libnfc sets a port's speed when it opens it and never again, so a second
/// descriptor of the same port may change it (libnfc 1.8.0, `libnfc/drivers/pn532_uart.c`).
extension DeviceNode {
    private static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// What a sleeping chip wakes up by.
    private static let wakeUp: [UInt8] = [0x55, 0x55, 0x00, 0x00, 0x00]
    /// The answer to SetSerialBaudRate, from the start code to the checksum.
    private static let speedIsSet: [UInt8] = [0x00, 0xFF, 0x02, 0xFE, 0xD5, 0x11, 0x1A]

    /// How long a chip and a USB adapter may take for an answer.
    private static let answerTime = Duration.milliseconds(50)
    /// How often a chip is told to be slow again.
    private static let attempts = 3
    /// What an ACK needs to leave an adapter's own buffer (six bytes, 0.52 ms at 115200 baud), and a chip to change.
    private static let settlingMicroseconds: UInt32 = 1000

    /// Whether the port takes the high speed. The chip leaves that speed by command only, so this is tried before.
    func canBeFast(from normal: LineSpeed) -> Bool {
        let isTaken = setSpeed(.fast)
        return setSpeed(normal) && isTaken
    }

    /// Sets the port's speed.
    ///
    /// - Returns: whether the port says that it has it; a driver may take another one than it is asked for.
    @discardableResult
    func setSpeed(_ speed: LineSpeed) -> Bool {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return false }
        unsafe cfsetspeed(&settings, speed.terminalCode)
        guard unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0 else { return false }
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return false }
        return unsafe cfgetospeed(&settings) == speed.terminalCode
    }

    /// Confirms the answer to SetSerialBaudRate, from which moment on the chip is at its new speed, and follows it.
    ///
    /// - Returns: whether the port says that it has the speed.
    @discardableResult
    func confirm(_ speed: LineSpeed) -> Bool {
        send(Self.acknowledge)
        tcdrain(descriptor)
        usleep(Self.settlingMicroseconds)
        let isSet = setSpeed(speed)
        usleep(Self.settlingMicroseconds)
        tcflush(descriptor, TCIFLUSH)
        return isSet
    }

    /// Brings a chip back that is at the high speed and perhaps in the middle of something: sent by hand, since libnfc
    /// may not have the port open, or may not understand what comes. Whatever is heard, the chip's answer is confirmed,
    /// for the way to it may be better than the way back. To a chip at another speed all this is noise.
    ///
    /// - Returns: whether the chip was heard. The port is at the normal speed in any case.
    @discardableResult
    func lowerChip(to speed: LineSpeed) -> Bool {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return false }
        var before = settings
        unsafe cfmakeraw(&settings)
        // Without flow control: a line that nobody drives would hold everything back.
        settings.c_cflag = tcflag_t(CS8 | CLOCAL | CREAD)
        settings.c_iflag = tcflag_t(IGNPAR)
        unsafe cfsetspeed(&settings, LineSpeed.fast.terminalCode)
        guard unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0 else { return false }
        var isHeard = false
        for _ in 0..<Self.attempts where !isHeard && !isGone {
            tcflush(descriptor, TCIFLUSH)
            send(Self.wakeUp + Self.acknowledge + Self.frame(ChipCommand.serialSpeed(speed)))
            isHeard = hears(Self.speedIsSet)
            send(Self.acknowledge)
            tcdrain(descriptor)
            usleep(Self.settlingMicroseconds)
        }
        unsafe cfsetspeed(&before, speed.terminalCode)
        _ = unsafe tcsetattr(descriptor, TCSANOW, &before)
        usleep(Self.settlingMicroseconds)
        tcflush(descriptor, TCIFLUSH)
        return isHeard
    }

    private func send(_ bytes: [UInt8]) {
        _ = unsafe write(descriptor, bytes, bytes.count)
    }

    /// Waits for these bytes.
    private func hears(_ wanted: [UInt8]) -> Bool {
        let clock = ContinuousClock()
        let end = clock.now + Self.answerTime
        var heard: [UInt8] = []
        while clock.now < end {
            var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&query, 1, 1) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return false }
            // As much of the past as may be the beginning.
            heard = heard.suffix(wanted.count) + buffer.prefix(count)
            let starts = heard.indices.filter { heard[$0...].starts(with: wanted) }
            if !starts.isEmpty { return true }
        }
        return false
    }

    /// A normal frame around a command of at most a few bytes.
    private static func frame(_ command: [UInt8]) -> [UInt8] {
        let data = [0xD4] + command
        let length = UInt8(truncatingIfNeeded: data.count)
        return [0x00, 0x00, 0xFF, length, 0 &- length] + data + [0 &- data.reduce(0, &+), 0x00]
    }
}
