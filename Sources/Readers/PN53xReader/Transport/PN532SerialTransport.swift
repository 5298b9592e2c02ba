// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import Glibc
internal import ReaderCore
internal import SystemDevices
internal import USBTransport

/// A PN532 on a serial port, without libnfc: framing, checksums, timeouts and cancellation are implemented here.
///
/// Every wait ends when its time is up, on ``abort``, or when the port's other end goes away; none sleeps.
final class PN532SerialTransport: PN53xTransport {
    let family = ReaderFamily.pn532
    var port: SerialPort? { serial }
    let patience: Int
    private let serial: SerialPort
    /// The port's previous settings.
    private let settings: termios
    private let stop: StopPipe
    private var parser = PN532FrameParser()
    /// Receives every frame.
    /// Whether the last command got the error frame after its ACK.
    private var wasRefused = false
    private let recorder: LinkRecorder?
    private var isOpen = true

    /// How long a chip may take to answer after wake-up. One on a Raspberry Pi's own port may take 1.5 s for its first
    /// answer (nfcpy, `pn532.py`), so the last try waits longer.
    private static let (firstAnswer, lastAnswer): (Duration, Duration) = (.milliseconds(350), .milliseconds(1500))
    /// The maximum total size of the parts of one answer: an extended response APDU and the status before it.
    private static let longestAnswer = 65_536 + 3

    /// Opens a port and wakes the chip there, which then runs at 115200 baud.
    ///
    /// A chip that a killed program left at another speed is brought back.
    ///
    /// - Throws: ``TransportError/readerUnavailable(reason:detail:)`` with the cause, or ``TransportError/cancelled``.
    init(
        path: String, patience: Int, recorder: LinkRecorder?, cancellation: CancellationToken
    ) throws(TransportError) {
        serial = try SerialPort(path: path)
        // Before the port is changed, which nobody would undo.
        guard let stop = StopPipe() else {
            throw .readerUnavailable(reason: .unsupported, detail: .init(.deviceNotOpened, path, "\(EMFILE)"))
        }
        guard let settings = serial.makeRaw(.normal) else {
            throw .readerUnavailable(reason: .absent, detail: .init(.silent, path))
        }
        (self.settings, self.stop) = (settings, stop)
        self.patience = patience
        self.recorder = recorder
        let handler = cancellation.onCancel(abort)
        defer { cancellation.remove(handler) }
        do throws(TransportError) {
            try wake(cancellation)
        } catch {
            close()
            throw error
        }
        serial.keepOthersOut()
    }

    deinit {
        close()
    }

    var name: String { "PN532" }

    var takesParameters: Bool { true }

    /// Another program may have left the chip in any state.
    var initialState: ChipState { ChipState() }

    /// Without its power no card stays selected.
    var closingCommands: [[UInt8]] { [ChipCommand.fieldOff] }

    var abort: @Sendable () -> Void { { [stop] in stop.give() } }

    func ignoreAbort() { stop.take() }

    func close() {
        guard isOpen else { return }
        isOpen = false
        serial.restore(settings)
    }

    // MARK: Opening

    private func wake(_ cancellation: CancellationToken) throws(TransportError) {
        // Twice: a program that was killed while sending leaves the chip in the middle of a frame, and the chip takes
        // the first command for the rest of it.
        for _ in 0..<2 where try wake(within: Self.firstAnswer, cancellation) { return }
        for speed in LineSpeed.all.reversed() where speed != .normal {
            try cancellation.check()
            if serial.lowerChip(from: speed, to: .normal, patience: patience) { break }
        }
        guard try wake(within: Self.lastAnswer, cancellation) else {
            throw .readerUnavailable(reason: .absent, detail: .init(.silent, serial.path))
        }
    }

    /// Ends any running command of the chip and sets its mode.
    ///
    /// - Returns: whether it answers.
    private func wake(within time: Duration, _ cancellation: CancellationToken) throws(TransportError) -> Bool {
        try cancellation.check()
        let answer = exchange(
            ChipCommand.normalMode, after: PN532Frame.wakeUp + PN532Frame.acknowledge, until: end(of: time))
        switch answer {
        case .success: return true
        case .failure(.cancelled): throw .cancelled
        case .failure(.unplugged): throw .unplugged
        case .failure: return false
        }
    }

    // MARK: Commands

    let longestExtension = ReaderInformation.longestCardExtension

    func transceive(_ command: [UInt8], within time: Duration) -> ChipAnswer {
        transceive(command, within: time, .zero)
    }

    func transceiveExtended(_ command: [UInt8], within time: Duration) -> ChipAnswer {
        transceive(command, within: time, longestExtension)
    }

    private func transceive(_ command: [UInt8], within time: Duration, _ more: Duration) -> ChipAnswer {
        guard isOpen, !command.isEmpty, command.count <= family.longestCommand else {
            return ChipAnswer(
                outcome: .failed(.frameTooLong(length: command.count, limit: family.longestCommand)), bytes: [])
        }
        switch wholeAnswer(to: command, within: time, more) {
        case .failure(let error):
            return ChipAnswer(
                outcome: error == .unplugged ? .failed(error) : .readerInDoubt(error), bytes: [],
                mayBeRefusal: wasRefused)
        case .success(let bytes): return ChipAnswer(to: command, bytes)
        }
    }

    /// Runs a command. In InDataExchange, a card's answer that is longer than a frame is fetched in parts.
    private func wholeAnswer(
        to command: [UInt8], within time: Duration, _ more: Duration
    ) -> Result<[UInt8], TransportError> {
        Result { () throws(TransportError) in
            var whole = try exchange(command, until: end(of: time), more).get()
            guard command.first == ChipCommand.exchangeDataCode else { return whole }
            let end = end(of: time)
            while let status = whole.first, status & ChipCommand.moreInformation != 0 {
                guard whole.count <= Self.longestAnswer else { throw .answerTooLong }
                let part = try exchange(Array(command.prefix(2)), until: end).get()
                // Empty parts with more to follow could continue forever.
                guard let next = part.first, part.count > 1 || next & ChipCommand.moreInformation == 0 else {
                    throw ChipResult.damagedOnTheWay
                }
                whole = [next] + whole.dropFirst() + part.dropFirst()
            }
            return whole
        }
    }

    // MARK: Frames

    /// Sends a command and waits for the chip's ACK, then for its answer.
    ///
    /// Anything before the ACK is left over from earlier commands, because the chip sends in the order in which it was
    /// asked. The ACK may be left over as well; then another command's answer follows, and is skipped.
    ///
    /// - Parameter more: the time after `end` that a chip gets that has acknowledged the command: a silent chip is noticed as
    ///   early as ever.
    private func exchange(
        _ command: [UInt8], after preamble: [UInt8] = [], until end: ContinuousClock.Instant, _ more: Duration = .zero
    ) -> Result<[UInt8], TransportError> {
        parser.reset()
        serial.discardInput()
        wasRefused = false
        var frame = PN532Frame.encode(command, after: preamble)
        defer { frame.wipe() }
        if let error = send(frame, until: end) { return .failure(error) }
        var isAcknowledged = false
        while true {
            switch receive(until: isAcknowledged ? end + more : end) {
            case .failure(let error): return .failure(error)
            case .success(.acknowledged): isAcknowledged = true
            case .success(.answer(let code, let bytes)) where isAcknowledged && code == command.first.map { $0 &+ 1 }:
                return .success(bytes)
            case .success(.refused):
                wasRefused = isAcknowledged
                return .failure(ChipResult.damagedOnTheWay)
            case .success(.damaged) where isAcknowledged: return .failure(ChipResult.damagedOnTheWay)
            case .success(.answer), .success(.damaged): break
            }
        }
    }

    private func send(_ frame: [UInt8], until end: ContinuousClock.Instant) -> TransportError? {
        recorder?.record(.sent(frame))
        var rest = frame[...]
        while !rest.isEmpty {
            if let error = wait(for: Int32(POLLOUT), until: end) { return error }
            guard let count = serial.write(rest) else { return .unplugged }
            rest = rest.dropFirst(count)
        }
        return nil
    }

    private func receive(until end: ContinuousClock.Instant) -> Result<PN532Frame, TransportError> {
        while true {
            if let frame = parser.next() { return .success(frame) }
            if let error = wait(for: Int32(POLLIN), until: end) { return .failure(error) }
            guard let bytes = serial.read() else { return .failure(.unplugged) }
            if !bytes.isEmpty { recorder?.record(.received(bytes)) }
            parser.feed(bytes)
        }
    }

    private func wait(for events: Int32, until end: ContinuousClock.Instant) -> TransportError? {
        switch serial.wait(for: events, until: end, waker: stop.descriptor) {
        case .ready: return nil
        case .timedOut:
            recorder?.record(.failed("timedOut"))
            return .readerTimeout
        case .gone:
            recorder?.record(.failed("gone"))
            return .unplugged
        case .woken:
            stop.take()
            recorder?.record(.failed("cancelled"))
            return .cancelled
        }
    }

    private func end(of time: Duration) -> ContinuousClock.Instant {
        .now + .milliseconds(HostTimeout(waiting: time, overUSB: false, patience: patience).milliseconds)
    }
}

/// Wakes a thread that waits for a descriptor; a signal stays until it is consumed.
private final class StopPipe: Sendable {
    /// Readable once signalled.
    let descriptor: Int32
    private let writer: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        (descriptor, writer) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        Glibc.close(writer)
        Glibc.close(descriptor)
    }

    func give() {
        var byte: UInt8 = 0
        _ = unsafe write(writer, &byte, 1)
    }

    func take() {
        var bytes = [UInt8](repeating: 0, count: 16)
        while unsafe read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
