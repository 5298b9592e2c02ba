// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
public import ReaderCore

/// Sends commands to one ISO 7816-4 card and carries out the terminal's duties.
///
/// Answers are fetched in parts, lengths are corrected once, and long data is sent in a chain.
///
/// A card may take seconds to answer, so every exchange is allowed seconds. After a failed exchange, it is unknown how
/// much of the command the card has carried out, and whether a late answer is still to come: the card is selected again
/// before anything else is sent, and commands that depend on the previously current file are not sent
/// (``ISO7816Error/selectionLost``).
///
/// PIN commands are not sent by ``transmit(_:)``: only ``verify(_:with:)`` sends a PIN, at most once.
public final class ISO7816Session {
    /// The time allowed for an answer: a license may take more than the 2.5 s that it declares.
    public static let usualTimeout: Duration = .seconds(5)

    /// The maximum lengths of commands and answers.
    public var limits: APDULimits
    /// The maximum time for one answer.
    public var timeout: Duration
    /// Sends PIN commands, and keeps track of what was sent.
    package let pinGuard: PINGuard

    /// The SELECT commands that led to the current file, starting with the last that did not depend on an earlier one.
    private(set) var trail: [CommandAPDU] = []
    private let channel: any CardChannel
    private let selectAnew: () throws(TransportError) -> Bool
    private var selection = Selection.current

    private enum Selection {
        /// The card is in the state that the last answer left it in.
        case current
        /// An exchange failed: the card must be selected again before anything is sent.
        case unknown
        /// The card was selected again, and the caller has not been notified yet.
        case renewed
    }

    /// Makes a session over a channel whose card is selected.
    ///
    /// - Parameters:
    ///   - channel: carries APDUs.
    ///   - limits: the maximum lengths of commands and answers.
    ///   - timeout: the maximum time for one answer.
    ///   - pinGuard: that of an earlier session with the same card.
    ///   - reselect: selects the card again and returns whether it is the same; throws if there is none.
    package init(
        channel: any CardChannel, limits: APDULimits = APDULimits(), timeout: Duration = usualTimeout,
        pinGuard: PINGuard = PINGuard(), reselect: @escaping () throws(TransportError) -> Bool
    ) {
        self.channel = channel
        self.limits = limits
        self.timeout = timeout
        self.pinGuard = pinGuard
        selectAnew = reselect
    }

    /// Makes a session with the card that a reader has just activated.
    ///
    /// - Parameters:
    ///   - reader: the reader, which outlives the session.
    ///   - picc: the card as it was activated.
    ///   - request: the request that activated it.
    ///   - owner: what closes the reader when it is deallocated; the session keeps it.
    ///   - timeout: the maximum time for one answer.
    ///   - pinGuard: that of an earlier session with the same card.
    package convenience init(
        reader: any Reader, picc: PICC, request: ActivationRequest, owner: AnyObject? = nil,
        timeout: Duration = usualTimeout, pinGuard: PINGuard
    ) {
        self.init(
            channel: reader, limits: APDULimits(reader.information), timeout: timeout, pinGuard: pinGuard
        ) {
            [owner] () throws(TransportError) in
            _ = owner
            guard let found = try reader.activate(request) else { throw .cardReleased }
            return found.mayBeSameCard(as: picc)
        }
    }

    /// Makes a session with the card that a reader has just activated.
    ///
    /// ```swift
    /// if let card = try reader.activate(.typeB()), card.isISODEP {
    ///     let session = ISO7816Session(reader: reader, picc: card, request: .typeB())
    /// }
    /// ```
    ///
    /// Make one for a card and keep it: what is known of PINs that were sent is known to this session alone.
    ///
    /// - Parameters:
    ///   - reader: the reader, which outlives the session.
    ///   - picc: the card as it was activated.
    ///   - request: the request that activated it; it is sent again after a failed exchange.
    ///   - owner: what closes the reader when it is deallocated; kept as long as the session.
    public convenience init(reader: any Reader, picc: PICC, request: ActivationRequest, owner: AnyObject? = nil) {
        self.init(reader: reader, picc: picc, request: request, owner: owner, pinGuard: PINGuard())
    }

    /// Selects the card again if an exchange has failed, and notes that its current file is the MF.
    ///
    /// - Throws: ``ISO7816Error/transport(_:)`` if there is no card, ``ISO7816Error/otherCard``.
    package func reselect() throws(ISO7816Error) {
        try renew()
        selection = .current
    }

    /// Has ``reselect()`` select the card again although no exchange failed, as after it was without power.
    package func forgetSelection() { selection = .unknown }

    private func renew() throws(ISO7816Error) {
        guard selection == .unknown else { return }
        let isSame: Bool
        do throws(TransportError) {
            isSame = try selectAnew()
        } catch {
            throw .transport(error)
        }
        guard isSame else { throw .otherCard }
        trail = []
        selection = .renewed
    }

    /// Sends a command and returns the complete answer, whatever its status word.
    ///
    /// Long data is sent in a chain if the command cannot be extended. After `6Cxx`, the same command is sent once more
    /// with that length; after `61xx`, GET RESPONSE is sent until everything is there.
    ///
    /// - Throws: ``ISO7816Error``, but never ``ISO7816Error/status(_:_:)``.
    public func transmit(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        guard !command.ins.needsGuard || isResidenceNumber(command) else { throw .guarded(command.ins) }
        var command = command
        if command.lengthForm != .extended, !limits.allowsExtended { command.ne = min(command.ne, 0x100) }
        var parts = try chained(command)
        let last = parts.removeLast()
        for part in parts {
            let answer = try exchange(part)
            // The chain is broken off if the card answers anything but "go on".
            guard answer.status == .success else { return answer }
        }
        let response = try fetched(try corrected(last), last)
        note(command, response.status)
        return response
    }

    /// Sends a command unchanged and returns its single answer: nothing is chained, corrected or fetched.
    ///
    /// - Throws: ``ISO7816Error``, but never ``ISO7816Error/status(_:_:)``.
    public func transmitOnce(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        let response = try exchange(command)
        note(command, response.status)
        return response
    }

    /// Sends a protected command once; the rest of a long answer is fetched in the clear, and no length is corrected.
    func transmitProtected(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        guard !command.ins.needsGuard else { throw .guarded(command.ins) }
        var plain = command
        plain.cla = .interindustry
        let response = try fetched(try exchange(command), plain)
        note(command, response.status)
        return response
    }

    /// Asks the card for the remaining tries of a PIN, which uses none of them.
    ///
    /// - Throws: ``ISO7816Error``, but never ``ISO7816Error/status(_:_:)`` for the query itself.
    public func triesLeft(of reference: PINReference) throws(ISO7816Error) -> TriesLeft {
        try pinGuard.triesLeft(of: reference, in: self)
    }

    /// Verifies a PIN, once the card has reported the tries left.
    ///
    /// The tries are read immediately before the PIN is sent; it is sent once, and never again in this session.
    ///
    /// - Parameters:
    ///   - reference: the PIN of the card.
    ///   - source: gives the PIN.
    /// - Returns: ``PINResult/skipped`` if the source has none.
    /// - Throws: ``PINGuardError`` if the card did not accept it, or it was not sent.
    public func verify(
        _ reference: PINReference, with source: PINSource
    ) throws(PINGuardError) -> PINResult {
        // The guard itself asks for the tries; before a PIN is typed, they are asked for as well.
        guard source.given.isEmpty else {
            let requests = source.given.prefix(1).map { PINRequest(reference, $0) }
            return try pinGuard.verify(requests, in: self, consent: source.consent).first ?? .skipped
        }
        let tries: TriesLeft
        do throws(ISO7816Error) {
            tries = try triesLeft(of: reference)
        } catch {
            throw .triesUnreadable(reference, error)
        }
        guard let choice = source.choose([PINPrompt(reference, tries)]) else { return .skipped }
        if let refusal = choice.refusal { throw refusal }
        var result = PINResult.skipped
        try choice.pass { _, pins throws(PINGuardError) in
            let requests = pins.map { PINRequest(reference, $0) }
            result = try pinGuard.verify(requests, in: self, consent: choice.consent).first ?? .skipped
            return true
        }
        return result
    }

    /// Sends a command and returns the data of its answer.
    ///
    /// - Throws: ``ISO7816Error``; any status word but 9000 is ``ISO7816Error/status(_:_:)``.
    @discardableResult
    public func data(_ command: CommandAPDU) throws(ISO7816Error) -> [UInt8] {
        let response = try transmit(command)
        guard response.status == .success else { throw .status(command.ins, response.status) }
        return response.data
    }

    /// Sends exactly one command to the card and returns its answer.
    func exchange(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        let frame: [UInt8]
        do throws(APDUError) {
            frame = try command.encoded()
        } catch {
            throw .invalidCommand(error)
        }
        return try exchange(
            frame, isAbsolute: command.selectsFromTheRoot, permit: isResidenceNumber(command) ? .residenceNumber : nil)
    }

    /// Whether a command is VERIFY of the number that is printed on a residence card, encrypted, and the application of such a
    /// card is selected: that number is not a PIN, and wrong ones are not counted. Anywhere else, the same bytes could be a PIN.
    private func isResidenceNumber(_ command: CommandAPDU) -> Bool {
        guard command.hasFormOfResidenceNumber, trail.count == 1, let selection = trail.first else { return false }
        return selection.ins == .select && selection.cla == .interindustry && selection.p1 == 0x04
            && selection.data == ResidenceFile.numberApplication.bytes
    }

    /// Sends exactly one frame to the card and returns its answer; everything that is sent passes through here.
    ///
    /// - Parameters:
    ///   - frame: the bytes of a command APDU.
    ///   - isAbsolute: whether the command does not depend on the current file.
    ///   - permit: required for a PIN command.
    func exchange(
        _ frame: [UInt8], isAbsolute: Bool = false, permit: PINPermit? = nil
    ) throws(ISO7816Error) -> ResponseAPDU {
        guard let cla = frame.first, let code = frame.element(at: 1) else {
            throw .invalidCommand(.tooShort(length: frame.count))
        }
        let instruction = Instruction(rawValue: code)
        guard permit != nil || !instruction.needsGuard, !ClassByte(rawValue: cla).maySmuggle(instruction) else {
            throw .guarded(instruction)
        }
        try renew()
        if selection == .renewed {
            guard isAbsolute else { throw .selectionLost }
            selection = .current
        }
        guard frame.count <= limits.longestCommand else {
            throw .transport(.frameTooLong(length: frame.count, limit: limits.longestCommand))
        }
        let answer: [UInt8]
        do throws(TransportError) {
            answer = try channel.transceive(frame, timeout: timeout)
        } catch {
            if error.leavesCardUnknown { selection = .unknown }
            throw .transport(error)
        }
        guard let response = ResponseAPDU(decoding: answer) else {
            // An invalid answer may be half of a valid one.
            selection = .unknown
            throw .malformed(instruction, .tooShort(length: answer.count))
        }
        return response
    }

    /// Records the path to the current file.
    private func note(_ command: CommandAPDU, _ status: StatusWord) {
        guard command.ins == .select, status.isSuccess || status.isWarning else { return }
        if command.selectsFromTheRoot { trail = [] }
        trail.append(command)
    }

    /// After a failed exchange, selects the card again and follows the same path to the file that was current.
    func retraceSteps() throws(ISO7816Error) {
        let steps = trail
        try reselect()
        for step in steps {
            let answer = try transmit(step)
            guard answer.status.isSuccess || answer.status.isWarning else { throw .status(.select, answer.status) }
        }
    }
}

extension TransportError {
    /// Whether it is unknown what the card has received and done.
    fileprivate var leavesCardUnknown: Bool {
        switch self {
        case .frameTooLong, .answerTooLong, .unsupported: false
        default: true
        }
    }
}

/// The maximum lengths of commands and answers on the way to a card.
public struct APDULimits: Hashable, Sendable {
    /// The longest command APDU in bytes; at least 261 allows every short one.
    public var longestCommand: Int
    /// The longest response APDU in bytes, including the status word; at least 258 allows every short one.
    public var longestResponse: Int
    /// Whether Lc and Le may be extended: the card must support it, and reader and driver must pass it on.
    public var allowsExtended: Bool

    /// Makes limits; by default those of short APDUs, which every reader but the ACR122U can pass on.
    public init(longestCommand: Int = 261, longestResponse: Int = 258, allowsExtended: Bool = false) {
        self.longestCommand = longestCommand
        self.longestResponse = longestResponse
        self.allowsExtended = allowsExtended
    }

    /// Makes the limits of a reader.
    ///
    /// Extended lengths stay off until ``allowsExtended`` is set: only the card reports whether it supports them.
    public init(_ information: ReaderInformation) {
        self.init(
            longestCommand: information.longestCommandAPDU, longestResponse: information.longestResponseAPDU)
    }

    /// The maximum data length of one command; longer data is sent in a chain.
    var longestData: Int {
        let room = longestCommand - (allowsExtended ? 9 : 6)
        return max(1, min(room, allowsExtended ? 0xFFFF : 0xFF))
    }

    /// The maximum number of bytes in one READ BINARY: a multiple of 16, unless it is the maximum of Le.
    package var bytesPerRead: Int {
        let room = max(1, min(longestResponse - 2, allowsExtended ? 0xFFFF : 0x100))
        return room >= 0x100 || room < 16 ? room : room & ~0x0F
    }

    /// The longest Ne whose answer the reader can pass on.
    var longestExpected: Int { max(1, min(longestResponse - 2, allowsExtended ? 0x10000 : 0x100)) }
}

// MARK: Chaining, Le correction, GET RESPONSE

extension ISO7816Session {
    /// The maximum number of bytes fetched for one answer: no command requests more.
    static let longestFetchedAnswer = 0x10000
    /// The maximum number of GET RESPONSE commands for one answer: enough for the longest in parts of 256 bytes.
    static let mostFetches = 300

    /// Splits a command whose data is too long for one APDU: command chaining (ISO/IEC 7816-4 §5.3.3).
    ///
    /// All but the last command have the chaining bit and request nothing.
    func chained(_ command: CommandAPDU) throws(ISO7816Error) -> [CommandAPDU] {
        let most = limits.longestData
        guard command.data.count > most, command.lengthForm != .extended else { return [command] }
        guard command.data.count <= 0xFFFF else { throw .invalidCommand(.dataTooLong(command.data.count)) }
        guard command.cla.isInterindustry, !command.cla.isChaining else {
            throw .invalidCommand(.noChaining(command.cla))
        }
        var parts: [CommandAPDU] = []
        var rest = command.data[...]
        while !rest.isEmpty {
            var part = command
            part.data = Array(rest.prefix(most))
            rest = rest.dropFirst(most)
            if !rest.isEmpty {
                part.cla = command.cla.chaining(true)
                part.ne = 0
            }
            parts.append(part)
        }
        return parts
    }

    /// Sends the same command once more with the length that the card returned: Le correction (§5.6, 6Cxx).
    ///
    /// A command with a code over a counter is never sent again: the same counter must not protect two commands.
    func corrected(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        let response = try exchange(command)
        guard let length = response.status.correctLength, !command.cla.isAuthenticated else { return response }
        var again = command
        again.ne = min(length, limits.longestExpected)
        return try exchange(again)
    }

    /// Fetches the rest with GET RESPONSE (§5.6, 61xx) until the card no longer reports that there is more.
    func fetched(_ first: ResponseAPDU, _ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        var whole = first
        var fetches = 0
        while let available = whole.status.bytesAvailable {
            fetches += 1
            guard fetches <= ISO7816Session.mostFetches else { throw .malformed(command.ins, .endlessResponse) }
            let get = CommandAPDU(
                .getResponse, cla: command.cla.chaining(false), ne: min(available, limits.longestExpected),
                lengthForm: .short)
            let part = try corrected(get)
            whole.data += part.data
            whole.status = part.status
            guard whole.data.count <= ISO7816Session.longestFetchedAnswer,
                !part.data.isEmpty || part.status.bytesAvailable == nil
            else { throw .malformed(command.ins, .endlessResponse) }
        }
        return whole
    }
}
