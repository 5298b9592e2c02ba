// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
package import NFCTransport

/// Commands to one card that speaks ISO 7816-4, with what the standard asks of the terminal: answers fetched in parts,
/// lengths corrected once, long data sent in a chain.
///
/// A card may take seconds for an answer, so every exchange has seconds. When one fails, nobody knows what of it
/// the card has done, nor whether a late answer is still to come: the card is selected anew before anything else is
/// sent, and commands that count on the file that was current before are not sent (``ISO7816Error/selectionLost``).
///
/// PIN commands are not sent by ``transmit(_:)``; see ``PINGuard``.
package final class ISO7816Session {
    /// The time that a card gets for an answer: a licence may take more than the 2.5 s that it names.
    package static let usualTimeout: Duration = .seconds(5)

    /// How long commands and answers may be.
    package var limits: APDULimits
    /// How long the card may take for one answer.
    package var timeout: Duration
    /// Sends what carries a PIN; there is one for each session, and it keeps book of what was sent.
    package let pinGuard = PINGuard()

    /// The SELECT commands that led to the current file, from the last that did not depend on one before.
    private(set) var trail: [CommandAPDU] = []
    private let channel: any CardChannel
    private let selectAnew: () throws(TransportError) -> Bool
    private var selection = Selection.current

    private enum Selection {
        /// The card is as the last answer left it.
        case current
        /// An exchange failed: the card has to be selected anew before anything is sent.
        case unknown
        /// The card was selected anew, and the caller does not know yet.
        case renewed
    }

    /// A session over a channel whose card is selected.
    ///
    /// - Parameters:
    ///   - channel: carries APDUs.
    ///   - limits: how long commands and answers may be.
    ///   - timeout: how long the card may take for one answer.
    ///   - reselect: selects the same card anew and says whether it is the same; throws when there is none.
    package init(
        channel: any CardChannel, limits: APDULimits = APDULimits(), timeout: Duration = usualTimeout,
        reselect: @escaping () throws(TransportError) -> Bool
    ) {
        self.channel = channel
        self.limits = limits
        self.timeout = timeout
        selectAnew = reselect
    }

    /// A session with the card that a reader has just activated.
    ///
    /// - Parameters:
    ///   - reader: the reader, which outlives the session.
    ///   - picc: the card as it was activated.
    ///   - request: what activated it.
    ///   - timeout: how long the card may take for one answer.
    package convenience init(
        reader: any Reader, picc: PICC, request: ActivationRequest, timeout: Duration = usualTimeout
    ) {
        self.init(channel: reader, limits: APDULimits(reader.information), timeout: timeout) {
            () throws(TransportError) in
            guard let found = try reader.activate(request) else { throw .cardReleased }
            return found.mayBeSameCard(as: picc)
        }
    }

    /// Selects the card anew when an exchange has failed before, and takes note that its current file is the MF.
    ///
    /// - Throws: ``ISO7816Error/transport(_:)`` when there is no card, ``ISO7816Error/otherCard``.
    package func reselect() throws(ISO7816Error) {
        try renew()
        selection = .current
    }

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

    /// Whether an exchange has failed and ``reselect()`` was not called since.
    package var isSelectionLost: Bool { selection != .current }

    /// Sends a command and gives the whole answer, whatever its status word says.
    ///
    /// Long data goes in a chain when the command cannot be extended. `6Cxx` is answered by the same command once
    /// more with that length, `61xx` by GET RESPONSE until all is there.
    ///
    /// - Throws: ``ISO7816Error``, but never ``ISO7816Error/status(_:_:)``.
    package func transmit(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        guard !command.ins.needsGuard else { throw .guarded(command.ins) }
        var command = command
        if command.lengthForm != .extended, !limits.allowsExtended { command.ne = min(command.ne, 0x100) }
        var parts = try chained(command)
        let last = parts.removeLast()
        for part in parts {
            let answer = try exchange(part)
            // A chain is broken off where the card says anything but "go on".
            guard answer.status == .success else { return answer }
        }
        let response = try fetched(try corrected(last), last)
        note(command, response.status)
        return response
    }

    /// Sends a command as it is and gives the one answer to it: nothing is chained, corrected or fetched.
    ///
    /// - Throws: ``ISO7816Error``, but never ``ISO7816Error/status(_:_:)``.
    package func transmitOnce(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        let response = try exchange(command)
        note(command, response.status)
        return response
    }

    /// Sends a command and gives the data of its answer.
    ///
    /// - Throws: ``ISO7816Error``; any status word but 9000 is ``ISO7816Error/status(_:_:)``.
    @discardableResult
    package func data(_ command: CommandAPDU) throws(ISO7816Error) -> [UInt8] {
        let response = try transmit(command)
        guard response.status == .success else { throw .status(command.ins, response.status) }
        return response.data
    }

    /// One command to the card and its answer, no more.
    func exchange(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        let frame: [UInt8]
        do throws(APDUError) {
            frame = try command.encoded()
        } catch {
            throw .invalidCommand(error)
        }
        return try exchange(frame, isAbsolute: command.selectsFromTheRoot)
    }

    /// One frame to the card and its answer, no more; all that is sent goes this way.
    ///
    /// - Parameters:
    ///   - frame: the bytes of a command APDU.
    ///   - isAbsolute: whether the command does not depend on the current file.
    ///   - permit: what a PIN command needs.
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
            // What is no answer at all may be half of one.
            selection = .unknown
            throw .malformed(instruction, .tooShort(length: answer.count))
        }
        return response
    }

    /// Keeps the way to the current file.
    private func note(_ command: CommandAPDU, _ status: StatusWord) {
        guard command.ins == .select, status.isSuccess || status.isWarning else { return }
        if command.selectsFromTheRoot { trail = [] }
        trail.append(command)
    }

    /// After a failed exchange: selects the card anew and takes the same way to the file that was current.
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
    /// Whether nobody knows what the card has got and done.
    fileprivate var leavesCardUnknown: Bool {
        switch self {
        case .frameTooLong, .answerTooLong, .unsupported: false
        default: true
        }
    }
}

/// How long commands and answers may be on the way to a card.
package struct APDULimits: Hashable, Sendable {
    /// The longest command APDU in bytes; at least 261 carries every short one.
    package var longestCommand: Int
    /// The longest response APDU in bytes, status word included; at least 258 carries every short one.
    package var longestResponse: Int
    /// Whether Lc and Le may be extended: the card must know it, and reader and driver must let it through.
    package var allowsExtended: Bool

    /// Limits; by default those of short APDUs, which every reader but the ACR122U can pass on.
    package init(longestCommand: Int = 261, longestResponse: Int = 258, allowsExtended: Bool = false) {
        self.longestCommand = longestCommand
        self.longestResponse = longestResponse
        self.allowsExtended = allowsExtended
    }

    /// What a reader can pass on. Extended lengths stay off until ``allowsExtended`` is set: only the card tells
    /// whether it knows them.
    package init(_ information: ReaderInformation) {
        self.init(
            longestCommand: information.longestCommandAPDU, longestResponse: information.longestResponseAPDU)
    }

    /// The most data of one command: what goes beyond is sent in a chain.
    var longestData: Int {
        let room = longestCommand - (allowsExtended ? 9 : 6)
        return max(1, min(room, allowsExtended ? 0xFFFF : 0xFF))
    }

    /// The most bytes that one READ BINARY asks for: a multiple of 16 when it is not all that Le can say.
    package var bytesPerRead: Int {
        let room = max(1, min(longestResponse - 2, allowsExtended ? 0xFFFF : 0x100))
        return room >= 0x100 || room < 16 ? room : room & ~0x0F
    }

    /// The longest Ne whose answer the reader can pass on.
    var longestExpected: Int { max(1, min(longestResponse - 2, allowsExtended ? 0x10000 : 0x100)) }
}

extension PICC {
    /// Whether a card that was activated now may be the one that was activated before. UIDs that begin with 08 and the
    /// PUPI of most cards are random at each activation, so they tell nothing.
    func mayBeSameCard(as other: PICC) -> Bool {
        switch (self, other) {
        case (.typeA(let now), .typeA(let before)):
            let isRandom = [now.uid, before.uid].allSatisfy { $0.count == 4 && $0.first == 0x08 }
            return (isRandom || now.uid == before.uid) && now.ats == before.ats && now.sak == before.sak
        case (.typeB(let now), .typeB(let before)):
            return now.applicationData == before.applicationData && now.protocolInfo == before.protocolInfo
        default: return self == other
        }
    }
}
