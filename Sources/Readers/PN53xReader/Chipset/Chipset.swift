// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ReaderCore
internal import SystemDevices
internal import USBTransport

/// A PN53x behind a transport, and the state it was set to so far.
struct Chipset: ~Copyable {
    let transport: any PN53xTransport
    /// The line's speed when it is not raised.
    let speed: LineSpeed
    /// The speed that the line is raised to.
    let fastSpeed: LineSpeed
    var line: LinePolicy
    var timeouts: ChipTimeoutPolicy
    /// The chip's settings for cards of type A and B, and its selected card of these types.
    var iso14443: ISO14443State
    /// Whether the reader may still send something that belongs to an earlier command.
    var isInDoubt = false
    /// Whether the last command failed, so that the chip may not be able to release its card.
    private var hasFailed = false
    /// Whether the last search may have been refused.
    private var searchMayBeRefused = false
    /// Distinguishes the line tests of this link from those of an earlier one.
    private var proof = UInt32.random(in: 0 ... .max)
    /// Why the reader can no longer be used.
    private(set) var lost: TransportError?

    /// The extra time for host and chip beside the card's.
    static let allowance = Duration.milliseconds(400)
    /// How long a command that involves no card may take.
    static let commandTime = Duration.milliseconds(350)
    /// How long a Polling may take: 16 time slots, three tries, and the same again for the reader.
    private static let pollingTime = Duration.milliseconds(500)
    /// How long a FeliCa card may need after the field came on (FeliCa user's manual, 2.4.1); ISO 14443-3 says 5 ms.
    private static let cardStart = Duration.microseconds(20_400)
    /// How many times the chip is asked again before the reader counts as lost.
    private static let recoveryAttempts = 4
    private static let mute = TransportError.readerFailed(detail: .init(.invalidAnswers))

    init(
        _ transport: any PN53xTransport, speed: LineSpeed = .normal, fastSpeed: LineSpeed = .fast,
        line: LinePolicy = LinePolicy(mayRaise: false)
    ) {
        self.transport = transport
        self.speed = speed
        self.fastSpeed = fastSpeed
        self.line = line
        timeouts = ChipTimeoutPolicy(current: transport.initialState.timeout)
        iso14443 = ISO14443State(sendsRATS: transport.initialState.sendsRATS)
    }

    /// The limits of the path to the chip.
    var family: ReaderFamily { transport.family }

    /// Sets the parameters that hold for every exchange, once.
    mutating func prepare() throws(TransportError) {
        if let lost { throw lost }
        guard !isInDoubt else { throw .cancelled }
        try raiseLineWhenDue()
        if iso14443.repeats == nil { try setRepeats(0) }
        if timeouts.current == nil { try prepareTimeout(.zero) }
    }

    private mutating func setRepeats(_ count: UInt8) throws(TransportError) {
        guard iso14443.repeats != count else { return }
        try configure(ChipCommand.repeats(count), waiting: Self.pollingTime)
        iso14443.repeats = count
    }

    /// Runs a command that sets the chip up.
    ///
    /// - Throws: ``TransportError/readerFailed(detail:)`` if the chip gives no valid answer to it twice, although its line
    ///   was proved in between: it refuses the setting. A lost or damaged answer would be tried again as a search without
    ///   a card.
    private mutating func configure(_ command: [UInt8], waiting time: Duration) throws(TransportError) {
        for isLast in [false, true] {
            do throws(TransportError) {
                return try check(send(command, waiting: time))
            } catch {
                guard error.isTransient else { throw error }
                if isLast { throw .readerFailed(detail: .init(.settingRefused, Hex.encode(command.prefix(2)))) }
            }
        }
    }

    /// Looks for a card by an InListPassiveTarget and returns its answer.
    ///
    /// When the command switches the field on, a card may not be ready for it: the field is then left on for as long as
    /// a card may need, and the search is repeated once. (Whether a PN53x waits by itself is not known.)
    ///
    /// - Parameters:
    ///   - repeats: how many times the chip is to repeat the request.
    ///   - isFollowed: whether the caller repeats the search when the card has had that time.
    mutating func poll(
        _ command: [UInt8], repeats: UInt8 = 0, isFollowed: Bool = false
    ) throws(TransportError) -> [UInt8] {
        try setRepeats(repeats)
        let answer = try list(command)
        guard iso14443.fieldIsFresh else { return answer }
        iso14443.fieldIsFresh = false
        guard answer.first == 0 else { return answer }
        try check(send(ChipCommand.fieldOn, waiting: Self.commandTime))
        guard !isFollowed else { return answer }
        ThreadPause.sleep(Self.cardStart)
        // A reader that had to be brought back may have lost the setting.
        try setRepeats(repeats)
        return try list(command)
    }

    /// Whether the search that ended with this error may have been refused, and the chip works on.
    func mayHaveRefused(with error: TransportError) -> Bool {
        searchMayBeRefused && error == ChipResult.damagedOnTheWay && lost == nil && !isInDoubt
    }

    /// Runs an InListPassiveTarget.
    private mutating func list(_ command: [UInt8]) throws(TransportError) -> [UInt8] {
        let answer = send(command, waiting: Self.pollingTime)
        searchMayBeRefused = answer.mayBeRefusal
        do throws(TransportError) {
            try check(answer)
        } catch {
            // The reader came back, so the apparent reader time-out was a search without a card: no target.
            guard error == .readerTimeout, lost == nil, family.timesOutWithoutCard else { throw error }
            return [0x00]
        }
        guard let targets = answer.bytes.first else { throw recover(from: ChipResult.damagedOnTheWay) }
        // A search without a card is not yet work.
        if targets > 0 { line.didExchange() }
        return answer.bytes
    }

    /// Sends a frame to the card and returns its answer.
    mutating func exchange(_ frame: [UInt8], within time: Duration) throws(TransportError) -> [UInt8] {
        try prepareTimeout(time)
        line.didExchange()
        let chipTime = timeouts.current ?? .longest
        let answer = send(ChipCommand.communicateThru(frame), waiting: chipTime.duration + Self.allowance)
        try check(answer, within: time)
        // The chip's status and at least one byte of the card's.
        guard answer.bytes.count > 1 else { throw recover(from: ChipResult.damagedOnTheWay) }
        return Array(answer.bytes.dropFirst())
    }

    /// Checks the answer to an exchange with a card that might have taken this long; learns from its silence.
    mutating func check(_ answer: ChipAnswer, within time: Duration) throws(TransportError) {
        do throws(TransportError) {
            try check(answer)
        } catch {
            if error == .noAnswer { timeouts.didMeetSilence(within: time) }
            throw error
        }
    }

    /// Sets the chip's time-out when it is too short for this exchange, or a silence would cost too much.
    mutating func prepareTimeout(_ time: Duration, asksForPresence: Bool = false) throws(TransportError) {
        guard let timeout = timeouts.change(for: time, asksForPresence: asksForPresence) else { return }
        try configure(ChipCommand.answerTimeout(timeout), waiting: Self.commandTime)
        timeouts.didSet(timeout)
    }

    /// Runs something on the reader that does not involve its chip, such as its lights.
    mutating func onReader(
        _ work: (any PN53xTransport) throws(TransportError) -> Bool
    ) throws(TransportError) -> Bool {
        if let lost { throw lost }
        guard !isInDoubt else { throw .cancelled }
        do throws(TransportError) {
            return try work(transport)
        } catch {
            if case .readerUnavailable = error { lost = error }
            throw error
        }
    }

    /// Releases the reader: lowers the line, releases the card, switches the field off, closes the device, then unlocks
    /// its port.
    ///
    /// libnfc leaves the field on when its first command (InRelease) meets a stale answer, a cancellation that a USB
    /// driver keeps, or a card that is gone; so a reader in doubt is brought back first, and after a failure all of
    /// this is done by hand.
    consuming func close() {
        transport.ignoreAbort()
        if isInDoubt, lost == nil { _ = recover(from: .cancelled) }
        if lost == nil {
            if hasFailed { releaseCard() }
            for command in transport.closingCommands { _ = send(command, waiting: Self.commandTime) }
        }
        lowerLine()
        transport.close()
    }

    /// Releases a card that may be gone and switches the field off, ignoring the chip's answers. With the time-out of
    /// the last exchange the chip might wait seconds for the card, and not respond to the host meanwhile.
    private func releaseCard() {
        var commands = [ChipCommand.release, ChipCommand.fieldOff]
        if timeouts.current != .initial { commands.insert(ChipCommand.answerTimeout(.initial), at: 0) }
        for command in commands { _ = send(command, waiting: Self.commandTime) }
    }

    func send(_ command: [UInt8], waiting time: Duration) -> ChipAnswer {
        transport.transceive(command, within: time)
    }

    /// Throws the error in an answer, after the reader was brought back when it is in doubt.
    mutating func check(_ answer: ChipAnswer) throws(TransportError) {
        hasFailed = answer.outcome != .success
        switch answer.outcome {
        case .success: return
        case .failed(let error):
            if case .readerUnavailable = error { lost = error }
            throw error
        case .readerInDoubt(.cancelled):
            // Recovery would take time that a cancelled caller does not want to spend; closing does it.
            isInDoubt = true
            throw .cancelled
        case .readerInDoubt(let error): throw recover(from: error)
        }
    }

    /// Brings the reader to a state in which its next answer belongs to its next command.
    ///
    /// - Returns: the error to throw: `error`, or why the reader is lost.
    mutating func recover(from error: TransportError) -> TransportError {
        // The chip may have been reset.
        timeouts.forget()
        iso14443.forget()
        isInDoubt = false
        if transport.isGone {
            lost = .unplugged
            return .unplugged
        }
        if family.reachesChip { transport.port?.abortChip() }
        let isUnproven = line.state == .unsure
        let isTooMuch = error != .cancelled && line.didMeetFault()
        if line.state == .unsure { abandonFastLine(forGood: error != .cancelled) }
        var outcome = synchronize()
        if outcome != .success, line.mayBeFast {
            abandonFastLine(forGood: true)
            outcome = synchronize()
        } else if isTooMuch {
            lowerLine(forGood: true)
        }
        if case .readerInDoubt = outcome, family.reachesChip,
            transport.port?.wakeChip(patience: transport.patience) == true
        {
            outcome = synchronize()
            // It has started again, without its card: the same is worth another try.
            if outcome == .success, error != .cancelled { return ChipResult.damagedOnTheWay }
        }
        switch outcome {
        case .success: return error
        // The system may notice later than the first transfer that failed.
        case _ where transport.isGone: lost = .unplugged
        case .failed(let fault): lost = fault
        case .readerInDoubt: lost = isUnproven ? Self.stuck(at: fastSpeed) : error.isReaderError ? error : Self.mute
        }
        return lost ?? error
    }

    /// Brings the chip's answers back into step with the commands.
    private mutating func synchronize() -> ChipResult {
        guard family.reachesChip else { return askForVersion() }
        var outcome = ChipResult.success
        for attempt in 0..<Self.recoveryAttempts {
            // A late answer would be read as the answer to the next command.
            if attempt > 0 { _ = transport.port?.discardUntilQuiet() }
            proof &+= 1
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: proof >> ($0 * 8)) }
            let answer = send(ChipCommand.lineTest(bytes), waiting: Self.commandTime)
            outcome = answer.outcome
            if outcome == .success, answer.bytes != [0x00] + bytes {
                outcome = .readerInDoubt(ChipResult.damagedOnTheWay)
            }
            guard case .readerInDoubt = outcome else { return outcome }
        }
        return outcome
    }

    /// Asks for the firmware version until it comes: for links whose pending input cannot be discarded, or chips that
    /// may not know Diagnose.
    private func askForVersion() -> ChipResult {
        var outcome = ChipResult.success
        for _ in 0..<Self.recoveryAttempts {
            outcome = send(ChipCommand.firmwareVersion, waiting: Self.commandTime).outcome
            guard case .readerInDoubt = outcome else { return outcome }
        }
        return outcome
    }
}

/// Raising the serial line for a long job, and lowering it again.
extension Chipset {
    /// The error for a reader that does not answer since its line was raised: the chip changes its speed by command
    /// only, and receives none.
    static func stuck(at speed: LineSpeed = .fast) -> TransportError {
        .readerFailed(detail: .init(.lineTooFast, LinePermission.variable, "\(speed.bitsPerSecond)"))
    }

    /// Raises the line when the session has become a long one.
    ///
    /// - Throws: ``TransportError`` when the reader is lost or work was cancelled. A line that cannot be raised is not
    ///   an error: it keeps its speed.
    mutating func raiseLineWhenDue() throws(TransportError) {
        guard line.isDue else { return }
        guard let port = transport.port, port.mayRaise, port.takes(fastSpeed, from: speed) else {
            line.settle()
            return
        }
        // From here on the chip may change its speed: an ACK confirms it, and cancelling sends one.
        line.begin()
        switch outcome(of: ChipCommand.serialSpeed(fastSpeed)) {
        case .success: break
        case .failed(let error), .readerInDoubt(let error): return try stayNormal(after: error)
        }
        guard port.confirm(fastSpeed) else { return try stayNormal(after: ChipResult.damagedOnTheWay) }
        switch outcome(of: ChipCommand.firmwareVersion) {
        case .success: line.didRaise()
        case .failed(let error), .readerInDoubt(let error): return try stayNormal(after: error)
        }
    }

    /// Lowers the line, as the next program expects. Does nothing at the normal speed.
    ///
    /// - Parameter forGood: whether the port must not be raised again in this process.
    mutating func lowerLine(forGood: Bool = false) {
        guard line.mayBeFast else { return }
        guard line.state != .unsure, outcome(of: ChipCommand.serialSpeed(speed)) == .success else {
            return abandonFastLine(forGood: forGood)
        }
        line.settle()
        if forGood { transport.port?.withdrawPermission() }
        transport.port?.confirm(speed)
    }

    /// Lowers a line on which host and chip may not understand each other.
    mutating func abandonFastLine(forGood: Bool) {
        line.settle()
        if forGood { transport.port?.withdrawPermission() }
        transport.port?.lowerChip(from: fastSpeed, to: speed, patience: transport.patience)
    }

    private mutating func stayNormal(after error: TransportError) throws(TransportError) {
        guard error != .cancelled else {
            isInDoubt = true
            throw .cancelled
        }
        // Only the line failed, so the chip still has its card; if it was reset, it reports that.
        let selection = iso14443.selection
        _ = recover(from: error)
        if let lost { throw lost }
        iso14443.selection = selection
    }

    private func outcome(of command: [UInt8]) -> ChipResult {
        send(command, waiting: Self.commandTime).outcome
    }
}
