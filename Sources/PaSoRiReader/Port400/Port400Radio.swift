// SPDX-License-Identifier: Apache-2.0

internal import ISODEP
internal import NFCTransport

/// Frames to cards through a Port-400: keeps the session and tells the reader how to send when that changes.
final class Port400Radio: RawFrameChannel {
    /// The longest frame that the reader passes on; felica-rs's figure.
    static let longestFrame = 290

    private static let fieldOffTime = Duration.milliseconds(30)
    private static let fieldOnTime = Duration.milliseconds(21)
    private static let switchTime = Duration.milliseconds(20)
    /// What the reader needs beside the card.
    private static let margin = Duration.milliseconds(1)

    private let link: Port400Link
    private let pause: Port400Dialogue.Pause
    private var hasSession = false
    private var told: Port400Protocol?
    private var seenResets = 0
    private var refusedSpeeds: Set<UInt8> = []

    let longestRawFrame = Port400Radio.longestFrame

    init(_ link: Port400Link, pause: @escaping Port400Dialogue.Pause) {
        self.link = link
        self.pause = pause
    }

    /// Begins a session of our own: one that a killed program left is ended first.
    func beginSession() throws(TransportError) {
        hasSession = false
        told = nil
        seenResets = link.resets
        do throws(TransportError) {
            _ = try link.run(Port400Command.manageSession(.end))
        } catch {
            // There was none; whoever owns one that cannot be ended is told apart by the next command.
            if link.lost != nil || error == .cancelled || seenResets != link.resets { throw error }
        }
        try manage(.start)
        try powerCycle()
        hasSession = true
    }

    /// Sends a FeliCa packet and returns the answer.
    func exchange(
        felica frame: [UInt8], at bitRate: FeliCaBitRate, within time: Duration
    ) throws(TransportError) -> [UInt8] {
        try exchange(frame, as: .felica(bitRate), flags: .felica, lastByteBits: 8, within: time).bytes
    }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        var flags: Port400Flags = frame.modulation == .typeA ? .typeA : .felica
        if !frame.addsCRC { flags.insert(.addsNoCRC) }
        if !frame.checksCRC { flags.insert(.keepsCRC) }
        return try exchange(
            frame.bytes, as: frame.modulation == .typeA ? .typeA : .typeB, flags: flags,
            lastByteBits: frame.lastByteBits, within: timeout)
    }

    func resetField() throws(TransportError) {
        try prepare()
        do throws(TransportError) {
            try powerCycle()
        } catch {
            guard error == Port400Status.notAllowed else { throw error }
            // Beginning a session switches the field off and on as well.
            try beginSession()
        }
    }

    func wait(_ time: Duration) throws(TransportError) {
        pause(time)
    }

    private func exchange(
        _ frame: [UInt8], as air: Port400Protocol, flags: Port400Flags, lastByteBits: Int, within time: Duration
    ) throws(TransportError) -> RawAnswer {
        let time = max(time, .zero) + Self.margin
        let command = Port400Command.exchange(
            frame, microseconds: Self.microseconds(time), flags: flags, lastByteBits: lastByteBits)
        let objects = try inSession { () throws(TransportError) in
            try tell(air)
            guard let objects = Port400Objects(try link.run(command, within: time)) else {
                throw .corrupted(status: 0)
            }
            if let error = Port400Status.error(objects.status) { throw error }
            return objects
        }
        guard objects.damage == 0 else { throw .corrupted(status: objects.damage) }
        guard let data = objects.data, !data.isEmpty else { throw .noAnswer }
        return RawAnswer(data, lastByteBits: objects.lastByteBits)
    }

    /// Does what needs a session.
    ///
    /// - Throws: ``NFCTransport/TransportError/cardReleased`` when the reader has ended the session meanwhile, and with it
    ///   the field: nobody says how long it keeps one in which nothing happens, while somebody types a PIN, for one. The
    ///   next call begins another session.
    private func inSession<Result>(
        _ work: () throws(TransportError) -> Result
    ) throws(TransportError) -> Result {
        try prepare()
        do throws(TransportError) {
            return try work()
        } catch {
            guard error == Port400Status.notAllowed else { throw error }
            hasSession = false
            throw .cardReleased
        }
    }

    private func prepare() throws(TransportError) {
        if !hasSession || seenResets != link.resets { try beginSession() }
    }

    private func tell(_ air: Port400Protocol) throws(TransportError) {
        guard told != air else { return }
        let before = told
        told = nil
        if before?.selector != air.selector {
            let answer = try link.run(Port400Command.switchProtocol(air))
            guard let objects = Port400Objects(answer) else { throw .corrupted(status: 0) }
            // At layer 3 the reader looks for a card by itself, and may say that there is none.
            if let error = Port400Status.error(objects.status), error != .noAnswer { throw error }
            pause(Self.switchTime)
        }
        // After a switch the speed is FeliCa's first.
        if let speed = air.speed, air != .felica(.kbps212) || before?.selector == air.selector {
            try set(speed)
        }
        told = air
    }

    /// Sets the speed of FeliCa. The code for 424 kbit/s is derived: a reader that refuses it has no card at that speed, and
    /// is not asked again.
    private func set(_ speed: UInt8) throws(TransportError) {
        guard !refusedSpeeds.contains(speed) else { throw .noAnswer }
        do throws(TransportError) {
            try succeed(Port400Command.speed(speed))
        } catch {
            guard case .readerFailed = error, error != Port400Status.notAllowed, link.lost == nil else { throw error }
            refusedSpeeds.insert(speed)
            throw .noAnswer
        }
    }

    private func powerCycle() throws(TransportError) {
        try manage(.fieldOff)
        pause(Self.fieldOffTime)
        try manage(.fieldOn)
        pause(Self.fieldOnTime)
    }

    private func manage(_ action: Port400Command.Session) throws(TransportError) {
        try succeed(Port400Command.manageSession(action))
    }

    /// Runs a command whose answer holds nothing but how it went.
    private func succeed(_ command: [UInt8]) throws(TransportError) {
        let answer = try link.run(command)
        if let objects = Port400Objects(answer), let error = Port400Status.error(objects.status) { throw error }
    }

    /// At least one: zero would be for ever, or for the reader to choose.
    private static func microseconds(_ time: Duration) -> UInt32 {
        let (seconds, attoseconds) = time.components
        return UInt32(clamping: max(1, min(seconds, 4000) * 1_000_000 + attoseconds / 1_000_000_000_000))
    }
}
