// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import ReaderCore
package import VirtualCards

/// A PN532 between a serial line and a field: one thread, one command at a time.
///
/// Behavior as libnfc 1.8.0 and nfcpy 1.0.4 require and accept it; NXP's manual UM0701-02 was not compared. A command
/// that waits (for a card, for time) is aborted when the host sends ACK or another command.
package final class PN532Chip {
    package let field: any RadioField
    let counters: ChipCounters
    let timing: TimeModel
    /// The chip's model in the family.
    package let family: PN53xModel
    var registers = RegisterFile()
    var radio = RadioSettings()
    var targets: [SelectedTarget] = []
    /// Whether cards of type A are brought into ISO-DEP when they are found (SetParameters, bit 5).
    var activatesISODEP = true
    /// The unfetched rest of a long answer, and the received parts of a long command.
    var unfetched: ArraySlice<UInt8> = []
    var collected: [UInt8] = []
    /// Whether the chip enciphers what it sends to a card of type A, after an authentication of MIFARE Classic.
    package var isCrypto1On = false
    var pins = GPIOPins()

    private let line: any HostLine
    private let faults: InjectedSerialFaults
    private let model: SerialLineModel
    let quirks: ReaderQuirks
    /// How many REQB this field has not heard.
    var coldRequestsB = 0
    /// Called before each step, for tests that interfere at every possible moment.
    let observer: @Sendable () -> Void
    private var parser = HostFrameParser()
    private var interruption: HostFrame?
    private var speed: SerialSpeed
    private var speedAfterAcknowledge: SerialSpeed?
    /// The speed of an ACK that is still to be parsed, although the chip has taken the host's next speed already.
    private var speedOfAcknowledge: SerialSpeed?
    private var lastAnswer: [UInt8] = []
    private var isDead = false
    /// How many rising edges of the line a sleeping chip still needs to wake up; the bytes before are lost.
    private var edgesUntilAwake = 0
    /// Whether the chip has just started, and accepts nothing but SAMConfiguration.
    private var awaitsMode = false
    private var received = 0
    private var receivedByCode: [UInt8: Int] = [:]
    /// The bytes from the host since the last frame, whose time is counted with the next one.
    private var uncounted = 0
    /// When all the bytes from the host have passed over the line.
    private var lineBusyUntil = Duration.zero
    /// When the last command was finished; the time that the host lets pass after it passes in the field, too.
    private var idleSince: Duration?
    /// The model's own clock: it excludes the time that the machine adds to every wait.
    private var modelTime = Duration.zero

    init(
        field: any RadioField, line: any HostLine, timing: TimeModel = .off, faults: InjectedSerialFaults = .none,
        model: SerialLineModel = .plain, initialSpeed: SerialSpeed = .initial, counters: ChipCounters = ChipCounters(),
        family: PN53xModel = .pn532,
        observer: @escaping @Sendable () -> Void = {}
    ) {
        self.observer = observer
        self.field = field
        self.line = line
        self.timing = timing
        quirks = field.readerQuirks
        var faults = faults
        if let number = quirks.brownout { faults.faults[.code(0x42, after: max(0, number - 1))] = .brownout }
        self.faults = faults
        var model = model
        model.strayBytes += quirks.strayBytes
        self.model = model
        self.counters = counters
        self.family = family
        speed = initialSpeed
        change(to: initialSpeed)
    }

    package convenience init(_ family: PN53xModel, field: any RadioField, line: any HostLine) {
        self.init(field: field, line: line, family: family)
    }

    /// The counts so far, and whether the field is on.
    package var statistics: ChipStatistics {
        var statistics = counters.statistics
        statistics.isFieldOn = registers.isFieldOn
        return statistics
    }

    /// Serves the host until the line is closed.
    package func run() {
        while let frame = nextFrame() {
            modelTime = max(line.now, timing.serialLine ? lineBusyUntil : .zero)
            if let idleSince { field.pass(line.now - idleSince) }
            defer { idleSince = line.now }
            switch frame {
            case .acknowledge:
                change(to: speedAfterAcknowledge ?? speed)
            case .notAcknowledge:
                transmit(lastAnswer)
            case .command(let bytes): serve(bytes)
            }
        }
    }

    private func serve(_ command: [UInt8]) {
        speedAfterAcknowledge = nil
        let code = command.first ?? 0
        let before = receivedByCode[code, default: 0]
        received &+= 1
        receivedByCode[code] = before &+ 1
        let fault = faults.fault(
            number: received, code: code, item: command.dropFirst().first, before: before)
        counters.count {
            $0.hostCommands &+= 1
            $0.commandsByCode[code, default: 0] &+= 1
        }
        observer()
        if fault == .dead { isDead = true }
        if fault == .brownout { return losePower() }
        if code == Self.samConfiguration { awaitsMode = false }
        guard !isDead, !awaitsMode, fault != .noAcknowledge, received > quirks.deafCommands else { return }
        guard fault != .notAcknowledge else { return transmit(PN532Frame.notAcknowledge) }
        if received == quirks.deafCommands + 1 { spend(quirks.firstAcknowledgeDelay) }
        transmit(PN532Frame.acknowledge)
        guard fault != .syntaxError else { return answer(PN532Frame.syntaxError) }
        guard !quirks.unansweredCommands.contains(code) else { return }
        observer()
        spend(timing.chipOverhead)
        let outcome = carryOut(code, Array(command.dropFirst()))
        counters.count { $0.isFieldOn = registers.isFieldOn }
        switch outcome {
        case .aborted: counters.count { $0.abortedCommands &+= 1 }
        case .syntaxError: answer(PN532Frame.syntaxError, with: fault)
        case .answer(let data):
            var data = data
            if case .statusBits(let bits) = fault, let status = data.first { data[0] = status | bits }
            if code == 0x40, let status = data.first { data[0] = status | quirks.statusBits }
            answer(PN532Frame.encode([0xD5, code &+ 1] + data), with: fault)
        }
        if code == 0x16, quirks.diesAsleep { isDead = true }
    }

    /// SAMConfiguration, which ends the mode in which a chip on a serial line starts.
    private static let samConfiguration: UInt8 = 0x14
    /// A chip that sleeps is woken by this rising edge of its serial line.
    private static let wakingEdge = 5

    private func losePower() {
        field.switchOff()
        (registers, radio, pins) = (RegisterFile(), RadioSettings(), GPIOPins())
        activatesISODEP = true
        forgetTargets()
        lastAnswer = []
        change(to: .initial)
        (edgesUntilAwake, awaitsMode) = (Self.wakingEdge, true)
        counters.count { $0.isFieldOn = false }
    }

    /// Returns the bytes that a chip hears that may be asleep.
    private func heard(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        while edgesUntilAwake > 0, let byte = rest.popFirst() {
            // The bits on the line: start bit, data from the least significant one on, stop bit.
            let bits = UInt16(byte) << 1 | 0x200
            edgesUntilAwake = max(0, edgesUntilAwake - (bits & ~(bits << 1)).nonzeroBitCount)
        }
        return Array(rest)
    }

    // MARK: Answers

    private func answer(_ frame: [UInt8], with fault: InjectedSerialFault? = nil) {
        observer()
        defer { observer() }
        lastAnswer = frame
        switch fault {
        case .acknowledgeOnly: return
        case .wrongDataChecksum: transmit(Self.changing(frame, at: frame.count - 2))
        case .wrongLengthChecksum:
            transmit(Self.changing(frame, at: frame.starts(with: [0, 0, 0xFF, 0xFF, 0xFF]) ? 7 : 4))
        case .truncated(let count): transmit(Array(frame.prefix(max(count, 0))))
        case .junkBefore(let junk): transmit(junk + frame)
        case .split(let count, let pause):
            transmit(Array(frame.prefix(max(count, 0))))
            spend(pause)
            transmit(Array(frame.dropFirst(max(count, 0))))
        case .late(let delay):
            guard self.pause(for: delay) else { return counters.count { $0.abortedCommands &+= 1 } }
            transmit(frame)
        case .twice: transmit(frame + frame)
        default: transmit(frame)
        }
    }

    private static func changing(_ frame: [UInt8], at index: Int) -> [UInt8] {
        var frame = frame
        if frame.indices.contains(index) { frame[index] &+= 1 }
        return frame
    }

    private func transmit(_ bytes: [UInt8]) {
        if timing.serialLine { spend(speed.byteTime * bytes.count) }
        count(bytes, \.bytesToHost)
        counters.count { $0.lineTime += speed.byteTime * bytes.count }
        line.write(model.atHost(bytes, host: line.hostSpeed, chip: speed))
    }

    private func count(_ bytes: [UInt8], _ direction: WritableKeyPath<ChipStatistics, Int>) {
        counters.count { $0[keyPath: direction] &+= bytes.count }
    }

    /// The new speed of the line, effective from the host's ACK.
    func changeSpeedAfterAcknowledge(_ speed: SerialSpeed) {
        speedAfterAcknowledge = speed
    }

    private func change(to speed: SerialSpeed) {
        speedAfterAcknowledge = nil
        self.speed = speed
        counters.count { $0.bitsPerSecond = Int(speed.bitsPerSecond) }
    }

    /// Makes up for an ACK that never came, or came too late, when the host is at the new speed already.
    ///
    /// nfcpy flushes its output as soon as it has written the ACK. A UART has sent those six bytes by then; a
    /// pseudo-terminal discards data that its other end has not read yet, and does not report at which speed it was
    /// sent.
    private func adoptSpeedOfHost(_ host: SerialSpeed?) {
        guard let speed = speedAfterAcknowledge, host == speed else { return }
        speedOfAcknowledge = self.speed
        change(to: speed)
    }

    // MARK: Waiting

    /// Lets time pass without interruption.
    private func spend(_ duration: Duration) {
        guard duration > .zero else { return }
        modelTime += duration
        line.sleep(until: modelTime)
    }

    /// Lets time pass, forever without a duration; `false` when the host interfered.
    func pause(for duration: Duration?) -> Bool {
        if duration == .zero { return true }
        if let duration { modelTime += duration }
        while true {
            if isInterrupted { return false }
            switch line.read(until: duration.map { _ in modelTime }) {
            case .bytes(let bytes): take(bytes)
            case .deadline: return true
            case .closed: return false
            }
        }
    }

    private var isInterrupted: Bool {
        while interruption == nil, let frame = nextParsed() {
            // There is no answer yet that could be sent again.
            if frame != .notAcknowledge { interruption = frame }
        }
        return interruption != nil
    }

    // MARK: Receiving

    private func nextFrame() -> HostFrame? {
        while true {
            if let frame = interruption ?? nextParsed() {
                interruption = nil
                return frame
            }
            switch line.read(until: parser.isMidFrame ? line.now + .milliseconds(100) : nil) {
            case .bytes(let bytes): take(bytes)
            case .deadline: parser.skipStartCode()
            case .closed: return nil
            }
        }
    }

    private func nextParsed() -> HostFrame? {
        let before = parser.parsed
        let frame = parser.next()
        let damaged = parser.damagedFrames
        counters.count { $0.damagedFrames = damaged }
        uncounted += parser.parsed - before
        guard let frame else { return nil }
        // By frames, not by what a read returns: an ACK that changes the speed may come in parts, or with the next command.
        let time = (frame == .acknowledge ? speedOfAcknowledge ?? speed : speed).byteTime * uncounted
        counters.count { $0.lineTime += time }
        uncounted = 0
        speedOfAcknowledge = nil
        return frame
    }

    private func take(_ bytes: [UInt8]) {
        let host = line.hostSpeed
        adoptSpeedOfHost(host)
        count(bytes, \.bytesFromHost)
        if quirks.echoes { line.write(bytes) }
        if timing.serialLine { lineBusyUntil = max(line.now, lineBusyUntil) + speed.byteTime * bytes.count }
        parser.feed(heard(model.atChip(bytes, host: host, chip: speed)))
    }
}

/// The outcome of a host command in the chip.
package enum CommandResult: Hashable, Sendable {
    /// The bytes after the answer's command code.
    case answer([UInt8])
    /// The chip does not support the command or its parameters.
    case syntaxError
    /// The host aborted the command: no answer.
    case aborted
}

/// The result of one search for cards.
struct TargetSearchResult {
    /// The cards, each with its InListPassiveTarget data after its number.
    var targets: [SelectedTarget] = []
    var data: [[UInt8]] = []
    /// Whether the host aborted the search.
    var isAborted = false
}

/// The settings of RFConfiguration, with a PN532's start values.
struct RadioSettings: Sendable {
    /// How long an answer to ATR_REQ may take, as an index.
    var atrTimeout: UInt8 = 0x0B
    /// How long an answer in InDataExchange and InCommunicateThru may take, as an index.
    var exchangeTimeout: UInt8 = 0x0A
    /// How many times InDataExchange sends an unanswered frame again.
    var exchangeRetries: UInt8 = 0x00
    /// How many times ATR_REQ is sent again.
    var atrRetries: UInt8 = 0xFF
    /// How many times InListPassiveTarget polls again.
    var activationRetries: UInt8 = 0xFF

    /// The time of an index, 100 µs doubled `index` - 1 times; `nil` for 0, which waits forever.
    ///
    /// Indexes end at 16 (3.28 s); higher ones are treated as 16.
    static func timeout(_ index: UInt8) -> Duration? {
        index == 0 ? nil : .microseconds(100 << Int64(min(index, 16) - 1))
    }
}

/// How the search for one card ended.
enum Search<Found> {
    case found(Found)
    case nothing
    case aborted
}

/// A card that InListPassiveTarget or InAutoPoll found.
struct SelectedTarget: Sendable {
    enum Kind: Sendable {
        case felica(FeliCaBitRate)
        /// A card of type A without ISO-DEP, or one that was not brought into it.
        case typeA(TypeAIdentity)
        /// A card in ISO-DEP, with the data needed to bring it there again.
        case isoDEP(ISODEPSession, TypeAIdentity?)
    }

    var kind: Kind
    /// Whether InDeselect or InRelease released it.
    var isReleased = false
    /// Whether it was halted in favor of another target.
    var isAsleep = false
}
