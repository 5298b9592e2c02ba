// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The host's end of a PN532's serial line. libnfc sets a port's speed when it opens it and never again, so a second
/// descriptor of the same port can change it (libnfc 1.8.0, `libnfc/drivers/pn532_uart.c`).
extension SerialPort {
    /// The answer to SetSerialBaudRate, from the start code to the checksum.
    private static let speedIsSet: [UInt8] = [0x00, 0xFF, 0x02, 0xFE, 0xD5, 0x11, 0x1A]

    /// The answer to SAMConfiguration, from the start code to the checksum.
    private static let modeIsSet: [UInt8] = [0x00, 0xFF, 0x02, 0xFE, 0xD5, 0x15, 0x16]

    /// How long a chip and a USB adapter may take for an answer.
    private static let answerTime = Duration.milliseconds(50)
    /// How many times a chip is told to return to the normal speed.
    private static let attempts = 3
    /// How long an ACK needs to leave an adapter's buffer (six bytes, 0.52 ms at 115200 baud), and a chip to change.
    private static let settlingMicroseconds: UInt32 = 1000

    /// Whether the port accepts a speed. The chip leaves the speed by command only, so this is tried first.
    func takes(_ speed: LineSpeed, from normal: LineSpeed) -> Bool {
        let isTaken = setSpeed(speed)
        return setSpeed(normal) && isTaken
    }

    /// Makes the port a raw line at this speed, without flow control, because an undriven line would block all output.
    ///
    /// - Returns: the previous settings; `nil` when it is not a terminal.
    func makeRaw(_ speed: LineSpeed) -> termios? {
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { return nil }
        let before = settings
        unsafe cfmakeraw(&settings)
        settings.c_cflag = tcflag_t(CS8 | CLOCAL | CREAD)
        settings.c_iflag = tcflag_t(IGNPAR)
        unsafe cfsetspeed(&settings, speed.terminalCode)
        guard unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0 else { return nil }
        return before
    }

    /// Restores the port's settings.
    func restore(_ settings: termios) {
        _ = unsafe withUnsafePointer(to: settings) { unsafe tcsetattr(descriptor, TCSANOW, $0) }
    }

    /// Sets the port's speed.
    ///
    /// - Returns: whether the port reports that speed; a driver may set another one than requested.
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
    /// - Returns: whether the port reports that speed.
    @discardableResult
    func confirm(_ speed: LineSpeed) -> Bool {
        send(PN532Frame.acknowledge)
        tcdrain(descriptor)
        usleep(Self.settlingMicroseconds)
        let isSet = setSpeed(speed)
        usleep(Self.settlingMicroseconds)
        discardInput()
        return isSet
    }

    /// Brings back a chip that is at another speed and perhaps in the middle of something. The bytes are sent by hand,
    /// since libnfc may not have the port open, or may not understand the input. The chip's answer is confirmed in any
    /// case, because the way to it may be better than the way back. To a chip at another speed all this is noise.
    ///
    /// - Parameter patience: the factor by which waits exceed those for a real chip.
    /// - Returns: whether the chip was heard. The port is at the normal speed in any case.
    @discardableResult
    func lowerChip(from fast: LineSpeed = .fast, to speed: LineSpeed, patience: Int) -> Bool {
        guard var before = makeRaw(fast) else { return false }
        var hasAnswered = false
        for _ in 0..<Self.attempts where !hasAnswered && !isGone {
            discardInput()
            send(PN532Frame.wakeUp + PN532Frame.acknowledge + PN532Frame.encode(ChipCommand.serialSpeed(speed)))
            hasAnswered = receives(Self.speedIsSet, within: Self.answerTime * patience)
            send(PN532Frame.acknowledge)
            tcdrain(descriptor)
            usleep(Self.settlingMicroseconds)
        }
        unsafe cfsetspeed(&before, speed.terminalCode)
        restore(before)
        usleep(Self.settlingMicroseconds)
        discardInput()
        return hasAnswered
    }

    /// Wakes a chip that has lost its power for a moment: it sleeps at the normal speed, and when it is awake accepts nothing
    /// but SAMConfiguration. The bytes are sent by hand, since libnfc still believes that the chip is ready.
    ///
    /// - Parameter patience: the factor by which waits exceed those for a real chip.
    /// - Returns: whether the chip was heard.
    func wakeChip(patience: Int) -> Bool {
        guard let before = makeRaw(.normal) else { return false }
        defer { restore(before) }
        for _ in 0..<Self.attempts where !isGone {
            discardInput()
            send(PN532Frame.wakeUp + PN532Frame.acknowledge + PN532Frame.encode(ChipCommand.normalMode))
            if receives(Self.modeIsSet, within: Self.answerTime * patience) { return true }
        }
        return false
    }

    private func send(_ bytes: [UInt8]) {
        _ = write(bytes[...])
    }

    /// Waits for these bytes.
    private func receives(_ wanted: [UInt8], within time: Duration) -> Bool {
        let clock = ContinuousClock()
        let end = clock.now + time
        var heard: [UInt8] = []
        while clock.now < end {
            var query = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&query, 1, 1) > 0 else { continue }
            guard let bytes = read() else { return false }
            // Keep as many earlier bytes as may be the beginning.
            heard = heard.suffix(wanted.count) + bytes
            let starts = heard.indices.filter { heard[$0...].starts(with: wanted) }
            if !starts.isEmpty { return true }
        }
        return false
    }
}
