// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ISODEP
internal import ReaderCore

/// The transport of a Port-400's commands.
typealias Port400Transport = PaSoRiTransport<Port400Framing>

/// The Port-400, the chip of the RC-S300 and RC-S660/U: carries frames of any technology, keeps the session, and sets
/// the protocol when it changes.
final class Port400Chipset: PaSoRiChipset {
    private static let fieldOffTime = Duration.milliseconds(30)
    private static let fieldOnTime = Duration.milliseconds(21)
    private static let switchTime = Duration.milliseconds(20)
    /// The time that the reader needs beside the card's.
    private static let margin = Duration.milliseconds(1)
    /// With less than 3 ms the reader finds no card (a program for the RC-S660/S). More costs time only without an
    /// answer.
    private static let shortestTime = Duration.milliseconds(10)

    private let transport: Port400Transport
    private let pause: Port400Framing.Pause
    private var hasSession = false
    private var currentProtocol: Port400Protocol?
    private var currentBits = 8
    private var speed = Port400Protocol.felica(.kbps212).speed
    /// Whether a card of type A or B may be selected, so that it would not answer a request.
    private var mayHoldCard = false
    private var seenResets = 0
    private var refusedSpeeds: Set<UInt8> = []
    /// The number of exchanges in a row that ended with 6300.
    private var radioErrors = 0

    /// The longest frame that the reader carries; felica-rs's figure.
    let longestRawFrame = 290

    init(_ transport: Port400Transport, pause: @escaping Port400Framing.Pause) {
        self.transport = transport
        self.pause = pause
    }

    // MARK: Session and field

    /// Begins a new session, after ending one that a killed program left.
    func beginSession() throws(TransportError) {
        hasSession = false
        currentProtocol = nil
        currentBits = 8
        speed = Port400Protocol.felica(.kbps212).speed
        seenResets = transport.resets
        do throws(TransportError) {
            _ = try send(Port400Command.manageSession(.end))
        } catch {
            // There was none; a session of another program that cannot be ended is detected by the next command.
            if transport.lost != nil || error == .cancelled || seenResets != transport.resets { throw error }
        }
        try execute(Port400Command.manageSession(.start))
        try powerCycle()
        hasSession = true
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

    func close() { transport.close() }

    func isCollision(_ status: UInt8) -> Bool { status & TransparentAnswer.collision != 0 }

    private func powerCycle() throws(TransportError) {
        try execute(Port400Command.manageSession(.fieldOff))
        pause(Self.fieldOffTime)
        try execute(Port400Command.manageSession(.fieldOn))
        pause(Self.fieldOnTime)
        mayHoldCard = false
    }

    /// Runs work that needs a session.
    ///
    /// - Throws: ``ReaderCore/TransportError/cardReleased`` when the reader has ended the session meanwhile, and with
    ///   it the field: how long it keeps an idle one, for example while a PIN is typed, is not documented. The next
    ///   call begins another session.
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

    /// Whether the answer to an exchange means that there is no session any more.
    ///
    /// 6300 is a transmission error, but also reported of a reader whose session ended, where others answer 6301 or
    /// 6985. It is taken for that where it is about an object before the frame, which was not sent then, and where it is
    /// the second in a row: a new session also helps against what disturbs the radio. Only an answer with another status
    /// allows for the next one, so a reader before which two cards collide is not kept busy with that.
    private func hasEndedSession(_ answer: TransparentAnswer, frameObject: Int) -> Bool {
        guard answer.meaning == .damaged else {
            radioErrors = 0
            return false
        }
        radioErrors += 1
        return radioErrors == 2 || (1..<frameObject).contains(answer.failedObject)
    }

    private func prepare() throws(TransportError) {
        if !hasSession || seenResets != transport.resets { try beginSession() }
    }

    // MARK: Frames

    /// Sends a FeliCa packet and returns the answer.
    func exchange(
        felica frame: [UInt8], at bitRate: FeliCaBitRate, within time: Duration
    ) throws(TransportError) -> [UInt8] {
        try exchange(frame, as: .felica(bitRate), flags: .felica, lastByteBits: 8, within: time).bytes
    }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        let isTypeA = frame.modulation == .typeA
        var flags: Port400Flags = isTypeA ? .typeA : .felica
        if !frame.addsCRC { flags.insert(.addsNoCRC) }
        if !frame.checksCRC { flags.insert(.keepsCRC) }
        let cardProtocol: Port400Protocol = isTypeA ? .typeA : .typeB
        let isSwitch = currentProtocol != cardProtocol
        do throws(TransportError) {
            return try exchange(
                frame.bytes, as: cardProtocol, flags: flags, lastByteBits: frame.lastByteBits, within: timeout)
        } catch {
            // Layer 3 of type B may end with ATTRIB: a card that the switch has selected does not answer a request.
            guard error == .noAnswer, isSwitch, currentProtocol == .typeB, mayHoldCard else { throw error }
            try resetField()
            return try exchange(
                frame.bytes, as: cardProtocol, flags: flags, lastByteBits: frame.lastByteBits, within: timeout)
        }
    }

    private func exchange(
        _ frame: [UInt8], as cardProtocol: Port400Protocol, flags: Port400Flags, lastByteBits: Int,
        within time: Duration
    ) throws(TransportError) -> RawAnswer {
        let time = max(time + Self.margin, Self.shortestTime)
        let answer = try inSession { () throws(TransportError) in
            try select(cardProtocol)
            // FeliCa needs no bit framing, and none is sent while the reader has the default one.
            let needsBits = lastByteBits != 8 || currentBits != 8 || cardProtocol.speed == nil
            let (command, frameObject) = Port400Command.exchange(
                frame, microseconds: Self.microseconds(time), flags: flags, lastByteBits: needsBits ? lastByteBits : nil
            )
            currentBits = lastByteBits
            let answer = try send(command, within: time)
            if hasEndedSession(answer, frameObject: frameObject) { throw Port400Status.notAllowed }
            if let error = Port400Status.error(answer.meaning(ofExchangeWithFrameAt: frameObject)) { throw error }
            return answer
        }
        // After any answer, the card may be selected or halted.
        if cardProtocol.speed == nil { mayHoldCard = true }
        guard answer.damage == 0 else { throw .corrupted(status: answer.damage) }
        guard let data = answer.frame, !data.isEmpty else { throw .noAnswer }
        return RawAnswer(data, lastByteBits: answer.lastByteBits)
    }

    /// The reader selects a card of type A when it is switched to layer 3: on real readers UID, READ and RATS follow
    /// immediately, while a WUPA would only deselect the card.
    func selectTypeA() throws(TransportError) -> ChipSelection {
        try inSession { () throws(TransportError) in
            guard let answer = try switchProtocol(to: .typeA) else { return .nothing }
            currentProtocol = .typeA
            let uid = try uniqueID()
            guard let uid else { return .unknown }
            return .card(uid: uid, sak: answer.cardInformation?.first)
        }
    }

    private func uniqueID() throws(TransportError) -> [UInt8]? {
        let answer = try transport.run(Port400Command.uniqueID)
        guard answer.suffix(2) == [0x90, 0x00], [4, 7, 10].contains(answer.count - 2) else { return nil }
        return Array(answer.dropLast(2))
    }

    // MARK: Settings

    private func select(_ cardProtocol: Port400Protocol) throws(TransportError) {
        guard currentProtocol != cardProtocol else { return }
        if currentProtocol?.selector != cardProtocol.selector {
            guard try switchProtocol(to: cardProtocol) != nil else { throw .noAnswer }
        }
        currentProtocol = nil
        try set(cardProtocol.speed)
        currentProtocol = cardProtocol
    }

    /// - Returns: `nil` when the reader reports that there is no card, which it looks for itself with types A and B.
    private func switchProtocol(to cardProtocol: Port400Protocol) throws(TransportError) -> TransparentAnswer? {
        currentProtocol = nil
        // A card that was selected or halted does not answer the reader's request.
        if cardProtocol.speed == nil, mayHoldCard { try powerCycle() }
        let answer = try send(Port400Command.switchProtocol(cardProtocol))
        pause(Self.switchTime)
        if cardProtocol.speed != nil {
            if let error = Self.error(withoutCard: answer.meaning), error != .noAnswer { throw error }
            return answer
        }
        switch answer.meaning {
        case .silent, .refused(status: 0x6A81): return nil
        case .damaged:
            // A card whose answer was lost, or no session: only without one, the field cannot be switched on.
            try execute(Port400Command.manageSession(.fieldOn))
            pause(Self.fieldOnTime)
            return nil
        default: mayHoldCard = true
        }
        if let error = Port400Status.error(answer.meaning) { throw error }
        return answer
    }

    /// Sets the speed of FeliCa where it differs from a session's initial one, 212 kbit/s. A reader that refuses
    /// another speed with any error has no card at that speed, and is not asked again.
    private func set(_ wanted: UInt8?) throws(TransportError) {
        guard let wanted, wanted != speed else { return }
        guard !refusedSpeeds.contains(wanted) else { throw .noAnswer }
        let isDone = try send(Port400Command.speed(wanted)).meaning == .done
        if isDone || wanted == Port400Protocol.felica(.kbps212).speed {
            speed = wanted
        } else {
            refusedSpeeds.insert(wanted)
            throw .noAnswer
        }
    }

    /// Runs a command about session or field.
    private func execute(_ command: [UInt8]) throws(TransportError) {
        if let error = Self.error(withoutCard: try send(command).meaning) { throw error }
    }

    /// The error of a command in which no card has a part: a transmission error can only be the lack of a session.
    private static func error(withoutCard meaning: TransparentAnswer.Meaning) -> TransportError? {
        Port400Status.error(meaning == .damaged ? .wrongState : meaning)
    }

    private func send(_ command: [UInt8], within time: Duration = .zero) throws(TransportError) -> TransparentAnswer {
        guard let answer = TransparentAnswer(try transport.run(command, within: time)) else {
            throw .corrupted(status: 0)
        }
        return answer
    }

    /// At least one: zero would mean forever, or the reader's choice.
    private static func microseconds(_ time: Duration) -> UInt32 {
        UInt32(clamping: max(1, time.count(of: .microseconds(1))))
    }
}

/// Maps the answers of a Port-400 to errors.
enum Port400Status {
    /// The chip status for a transmission error that the reader does not describe further (6300). Object 96 has four
    /// bits below it.
    static let transmissionError: UInt8 = 0x10

    /// The error of a status; `nil` for success.
    static func error(_ meaning: TransparentAnswer.Meaning) -> TransportError? {
        switch meaning {
        case .done: nil
        case .silent: .noAnswer
        case .damaged: .corrupted(status: transmissionError)
        case .wrongState: notAllowed
        case .sessionIsOpen: ownedByOther
        case .refused(let status):
            .readerFailed(detail: .init(.status, Hex.encode(status, digits: 4)))
        }
    }

    /// The reader's error when there is no session, or the order of commands is wrong.
    static let notAllowed = TransportError.readerFailed(
        detail: .init(.notInThisSession))

    /// Another program has a session with the reader.
    static let ownedByOther = TransportError.readerUnavailable(
        reason: .busy, detail: .init(.sessionTaken))
}
