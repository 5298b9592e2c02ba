// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import SystemDevices

/// The way to the chip: the device, the lock on its port, and what the chip was told so far.
struct ChipLink: ~Copyable {
    private let device: LibNFCDevice
    let node: DeviceNode?
    /// What was taken from kernel drivers; they get it back when the device was closed.
    private let lease: KernelDriverLease?
    /// What the chip needs when libnfc has closed it, where it needs that.
    private let chipReset: RCS956Reset?
    let family: LibNFCFamily
    /// What the line runs at when it is not raised.
    let speed: LineSpeed
    var line: LinePolicy
    var timeouts = ChipTimeoutPolicy()
    private var triesOnce = false
    /// What the chip was told of cards of type A and B, and what it has of them.
    var iso14443 = ISO14443State()
    /// Whether the reader may still say something that belongs to a command of the past.
    var isInDoubt = false
    /// Why the reader can no longer be used.
    private(set) var lost: TransportError?

    /// How long a command that involves no card may take.
    static let commandTime = Duration.milliseconds(350)
    /// How long a Polling may take: 16 time slots, three tries, and as much again for the reader.
    private static let pollingTime = Duration.milliseconds(500)
    /// How often the firmware version is asked for until the reader counts as lost. Each stale answer takes one.
    private static let recoveryAttempts = 4
    private static let mute = TransportError.readerFailed(detail: "the reader gives no valid answer any more")

    init(
        device: consuming LibNFCDevice, node: consuming DeviceNode?, family: LibNFCFamily, speed: LineSpeed = .normal,
        mayRaiseLine: Bool = false, lease: consuming KernelDriverLease? = nil,
        chipReset: RCS956Reset? = nil
    ) {
        self.device = device
        self.node = node
        self.lease = lease
        self.chipReset = chipReset
        self.family = family
        self.speed = speed
        line = LinePolicy(mayRaise: mayRaiseLine)
    }

    /// What libnfc calls the reader.
    var name: String { device.name }

    /// What ends a blocked call.
    var handle: DeviceHandle { device.handle }

    /// Sets what holds for every exchange, once.
    mutating func prepare() throws(TransportError) {
        if let lost { throw lost }
        guard !isInDoubt else { throw .cancelled }
        try raiseLineWhenDue()
        guard !triesOnce else { return }
        try check(send(ChipCommand.oneTry, waiting: Self.pollingTime), statusIsFirst: false)
        triesOnce = true
    }

    /// Runs an InListPassiveTarget and returns its answer.
    mutating func poll(_ command: [UInt8]) throws(TransportError) -> [UInt8] {
        let answer = send(command, waiting: Self.pollingTime)
        do throws(TransportError) {
            try check(answer, statusIsFirst: false)
        } catch {
            // Brought back, so what looked like a dead reader was one without a card: no target.
            guard error == .readerTimeout, lost == nil, family.timesOutWithoutCard else { throw error }
            return [0x00]
        }
        guard let targets = answer.bytes.first else { throw recover(from: ChipOutcome.damagedOnTheWay) }
        // Who waits for a card is not yet at work.
        if targets > 0 { line.didExchange() }
        return answer.bytes
    }

    /// Sends a frame to the card and returns its answer.
    mutating func exchange(_ frame: [UInt8], within time: Duration) throws(TransportError) -> [UInt8] {
        try prepareTimeout(time)
        line.didExchange()
        let chipTime = timeouts.current ?? .longest
        let answer = device.transceive(
            ChipCommand.communicateThru(frame), timeout: HostTimeout(for: chipTime, overUSB: family.isUSB))
        do throws(TransportError) {
            try check(answer)
        } catch {
            if error == .noAnswer { timeouts.didMeetSilence(within: time) }
            throw error
        }
        // The chip's status and at least a byte of the card's.
        guard answer.bytes.count > 1 else { throw recover(from: ChipOutcome.damagedOnTheWay) }
        return Array(answer.bytes.dropFirst())
    }

    /// Sets the chip's time-out when it is too short for this.
    mutating func prepareTimeout(_ time: Duration) throws(TransportError) {
        guard let timeout = timeouts.change(for: time) else { return }
        try check(send(ChipCommand.answerTimeout(timeout), waiting: Self.commandTime), statusIsFirst: false)
        timeouts.didSet(timeout)
    }

    /// Gives the reader back: lowers the line, releases the card, switches the field off, closes the device, then
    /// unlocks its port.
    ///
    /// libnfc leaves the field on when its first command meets a stale answer, or a cancellation that a USB driver
    /// keeps; so a reader in doubt is brought back before.
    consuming func close() {
        if isInDoubt, lost == nil { _ = recover(from: .cancelled) }
        lowerLine()
        let chipReset = chipReset
        device.close()
        chipReset?.run()
    }

    /// Whether SetParameters may be sent: an RC-S956 takes it only while it is opened.
    var takesParameters: Bool { chipReset == nil }

    func send(_ command: [UInt8], waiting time: Duration) -> ChipAnswer {
        device.transceive(command, timeout: HostTimeout(waiting: time, overUSB: family.isUSB))
    }

    /// Throws what an answer says, after the reader was brought back when it is in doubt.
    mutating func check(_ answer: ChipAnswer, statusIsFirst: Bool = true) throws(TransportError) {
        let status = statusIsFirst ? answer.status : 0
        switch ChipOutcome(result: answer.result, status: status, overUSB: family.isUSB) {
        case .success: return
        case .failed(let error):
            if case .readerUnavailable = error { lost = error }
            throw error
        case .readerInDoubt(.cancelled):
            // Bringing the reader back would take time that nobody wants to spend; closing does it.
            isInDoubt = true
            throw .cancelled
        case .readerInDoubt(let error): throw recover(from: error)
        }
    }

    /// Brings the reader to a state in which its next answer is its next command's.
    ///
    /// - Returns: what to throw: `error`, or why the reader is lost.
    mutating func recover(from error: TransportError) -> TransportError {
        // The chip may have been reset.
        timeouts.forget()
        triesOnce = false
        iso14443.forget()
        isInDoubt = false
        switch node {
        case .some(let node):
            if node.isGone {
                lost = ChipOutcome.unplugged
                return ChipOutcome.unplugged
            }
            if family.reachesChip { node.abortChip() }
        case .none: break
        }
        let isUnproven = line.state == .unsure
        let isTooMuch = error != .cancelled && line.didMeetFault()
        if line.state == .unsure { abandonFastLine(forGood: error != .cancelled) }
        var outcome = synchronise()
        if outcome != .success, line.mayBeFast {
            abandonFastLine(forGood: true)
            outcome = synchronise()
        } else if isTooMuch {
            lowerLine(forGood: true)
        }
        switch outcome {
        case .success: return error
        case .failed(let fault): lost = fault
        case .readerInDoubt: lost = isUnproven ? Self.stuck : error.isReaderFault ? error : Self.mute
        }
        return lost ?? error
    }

    /// Asks for the firmware version until that comes and nothing else.
    private func synchronise() -> ChipOutcome {
        var outcome = ChipOutcome.success
        for _ in 0..<Self.recoveryAttempts {
            let answer = send(ChipCommand.firmwareVersion, waiting: Self.commandTime)
            outcome = ChipOutcome(result: answer.result, status: 0, overUSB: family.isUSB)
            guard case .readerInDoubt = outcome else { return outcome }
        }
        return outcome
    }
}
