// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import ReaderCore

/// The service, one of its readers, and its card.
struct PCSCLink: ~Copyable {
    private let context: PCSCContext
    private let reader: String
    private var presence = CardPresence.unknown
    /// Whether the last wait ended without a card. One that comes between two requests of a search is then left to the next wait,
    /// so that the search asks it from its beginning: a Polling for any system that comes first opens a phone's wallet.
    private var awaitsCard = false
    private var connection: CardConnection?
    /// The service's count of events when the card was activated.
    private var activeEvents: UInt = 0
    /// Whether the card has been sent something since it was connected to or reset.
    private var isUsed = false
    private var selection = Selection.none
    /// How the reader accepts FeliCa packets, once that is known.
    private var wrapping: FrameWrapping?
    /// How the reader may accept commands of Type 2 Tags, without those that it refused.
    private var tagWrappings: [FrameWrapping]
    /// The protocol of the open transparent session, in which the reader supports no other way.
    private var session: TransparentSession.CardProtocol?
    /// Whether everything goes to the tag directly, without the reader's own commands for tags.
    private var isPassing = false
    private var classic: ClassicCommands
    private var services = ServiceCommands()
    /// Whether the reader has refused a session.
    private var hasNoSessions = false
    private let lights: LightCommands?

    /// The kind of frames that the selected card accepts.
    private enum Selection {
        case none
        case apdus
        case storage
        case packets
    }

    init(_ context: consuming PCSCContext, reader: String) {
        self.context = context
        self.reader = reader
        tagWrappings = FrameWrapping.ways(for: reader, .type2)
        classic = ClassicCommands(reader: reader)
        lights = LightCommands(reader: reader)
    }

    /// Releases the card.
    mutating func release() {
        endSession()
        _ = connection.take()
    }

    // MARK: Looking for a card

    mutating func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        (selection, isPassing) = (.none, false)
        classic.close()
        if case .felica = request, session == .felica {
            // The reader itself does not look for cards now, even if the service reports otherwise.
            return try pollInSession(request)
        }
        guard !awaitsCard else { return nil }
        try leaveSession()
        guard try refresh() else { return nil }
        let card: Card
        do throws(PCSCError) {
            card = try reconnect()
        } catch {
            release()
            if error.code.meansNoCard || error.code == .resetCard { return nil }
            throw error.code.error
        }
        switch (card, request) {
        case (.typeA(let target), .typeA):
            selection = target.isISODEP ? .apdus : .storage
            return .typeA(target)
        case (.typeB(let target), .typeB(let family)):
            // The reader has looked for any family; the card's own is in its application data, if it reports it.
            guard family == 0 || target.applicationData?.first == family else { return nil }
            selection = .apdus
            return .typeB(target)
        case (.felica, .felica):
            if wrapping == .session { return try pollInSession(request) }
            return try poll(request, FrameWrapping.ways(for: reader, .felica))
        // A phone shows its type A side to a reader that looks by itself, and its FeliCa side to a Polling only.
        case (.typeA, .felica):
            guard FrameWrapping.ways(for: reader, .felica).contains(.session), !hasNoSessions else { return nil }
            return try pollInSession(request)
        case (.other, _): throw Self.withContacts
        default: return nil
        }
    }

    private static let withContacts = TransportError.unsupported(detail: .init(.contactCard))

    /// The kind of card, from its ATR and the reader's data.
    private enum Card {
        case typeA(TypeATarget)
        case typeB(TypeBTarget)
        case felica
        case other
    }

    /// Updates whether there is a card.
    private mutating func refresh() throws(TransportError) -> Bool {
        guard var now = try context.change(of: reader, from: .unknown, within: .zero) else { return false }
        if now.isMute, connection == nil {
            // pcscd gives a card its power once, which fails now and then (LudovicRousseau/PCSC#102); a connection does again.
            connection = try? CardConnection(reader, in: context)
            if connection != nil { now = try context.change(of: reader, from: .unknown, within: .zero) ?? now }
        }
        presence = now
        guard !now.readerIsGone else { throw PCSCCode.readerUnavailable.error }
        if !now.hasCard { release() }
        return now.hasCard
    }

    /// Connects to the card, or resets one that was sent something.
    private mutating func reconnect() throws(PCSCError) -> Card {
        let kind = ContactlessATR(presence.atr)
        if connection == nil {
            connection = try CardConnection(reader, in: context)
        } else if isUsed, kind != .felica {
            endSession()
            do throws(PCSCError) {
                try connection?.reset()
            } catch {
                // Another card, or the same one that was removed meanwhile.
                release()
                connection = try CardConnection(reader, in: context)
            }
        }
        isUsed = false
        activeEvents = presence.events
        switch kind {
        case .felica: return .felica
        case .memoryA:
            return .typeA(TypeATarget(uid: try answer([0xFF, 0xCA, 0x00, 0x00, 0x00]) ?? [], isISODEP: false))
        case .isoDEP(let content): return try isoDEPCard(content)
        case .other: return .other
        }
    }

    /// Distinguishes type A from type B: only cards of type A have an ATS, and UIDs of 7 or 10 bytes.
    private mutating func isoDEPCard(_ content: [UInt8]) throws(PCSCError) -> Card {
        let uid = try answer([0xFF, 0xCA, 0x00, 0x00, 0x00])
        let ats = try answer([0xFF, 0xCA, 0x01, 0x00, 0x00]).flatMap { $0.first.map(Int.init) == $0.count ? $0 : nil }
        // In an ATQB the protocol info says that the card supports ISO 14443-4, and its bit 4 is 0.
        let mayBeB = content.count == 8 && content[5] & 0x09 == 0x01
        if mayBeB, ats == nil, [nil, 4].contains(uid?.count) {
            return .typeB(
                TypeBTarget(pupi: uid, applicationData: Array(content[0..<4]), protocolInfo: Array(content[4..<7])))
        }
        return .typeA(TypeATarget(uid: uid ?? [], ats: ats, isISODEP: true))
    }

    /// Returns the reader's own answer to a pseudo-APDU, `nil` when it refuses.
    private mutating func answer(_ command: [UInt8]) throws(PCSCError) -> [UInt8]? {
        let answer = try transmit(command)
        guard answer.count > 2, answer.suffix(2) == [0x90, 0x00] else { return nil }
        return Array(answer.dropLast(2))
    }

    mutating func isCardPresent() throws(TransportError) -> Bool? {
        guard selection == .apdus || selection == .storage, session == nil else { return nil }
        // A card that left and came back, or another one, has lost what was selected.
        return try refresh() && presence.events == activeEvents
    }

    // MARK: Exchanging

    mutating func transceive(_ frame: [UInt8], within time: Duration) throws(TransportError) -> [UInt8] {
        switch selection {
        case .none: throw .cardReleased
        case .apdus:
            let answer = try send(frame)
            guard answer.count >= 2 else { throw lost(.corrupted(status: 0)) }
            return answer
        case .storage:
            if session == nil, classic.isOpen || ClassicFrame.isAuthentication(frame) {
                isUsed = true
                var commands = classic
                defer { classic = commands }
                do throws(TransportError) {
                    return try commands.transceive(frame) { command throws(TransportError) in
                        do throws(PCSCError) {
                            return try transmitOnce(command)
                        } catch {
                            throw error.code.error
                        }
                    }
                } catch {
                    if case .corrupted = error { throw error }
                    if case .unsupported = error { throw error }
                    throw lost(error)
                }
            }
            if frame.first == Self.passwordAuthentication { isPassing = true }
            guard session == nil, !isPassing, let command = StorageCommand(frame) else {
                return try pass(frame, within: time)
            }
            return try command.answer(in: send(command.apdu))
        case .packets where wrapping == .services: return try sendAsService(frame)
        case .packets:
            guard let wrapping, let command = wrapping.command(for: frame, .felica, within: time) else {
                throw .frameTooLong(length: frame.count, limit: 252)
            }
            if wrapping == .session { try beginSession(.felica) }
            do throws(TransportError) {
                return try wrapping.frame(in: send(command), .felica)
            } catch {
                // The reader has ended the session: the next search begins it again.
                if error == .cardReleased { (session, selection) = (nil, .none) }
                throw error
            }
        }
    }

    /// PWD_AUTH of a tag. What it opens is closed again when the reader selects the tag by itself, as some do for a READ
    /// of their own, so that everything after it goes to the tag directly.
    private static let passwordAuthentication: UInt8 = 0x1B

    /// Sends a Polling in the way that the reader accepts packets: the known one, else the first of these.
    private mutating func poll(_ request: ActivationRequest, _ ways: [FrameWrapping]) throws(TransportError) -> PICC? {
        guard case .felica(let system, let requestCode, let timeSlots, let bitRate) = request else { return nil }
        let polling = FeliCaPolling(system, requestCode: requestCode, timeSlots: timeSlots)
        let ways = wrapping.map { [$0] } ?? ways
        for way in ways {
            let command = way.command(for: polling.frame, .felica)
            guard command != nil || way == .services else { continue }
            do throws(TransportError) {
                if way == .session { try beginSession(.felica) }
                let answer =
                    if let command { try way.frame(in: send(command), .felica) } else {
                        try sendAsService(polling.frame)
                    }
                let target = try polling.target(from: answer, bitRate: bitRate)
                wrapping = way
                selection = .packets
                return .felica(target)
            } catch {
                switch error {
                // The session stays open for the next Polling.
                case .noAnswer where way == .session: return nil
                case .cardReleased where way == .session: throw error
                case .noAnswer, .cardReleased:
                    guard wrapping != nil || way == ways.last else { continue }
                    return nil
                // The reader does pass packets: the card's answer was damaged.
                case .corrupted(let status) where status != 0: throw error
                case .unsupported, .corrupted:
                    endSession()
                    if wrapping != nil { throw error }
                default: throw error
                }
            }
        }
        throw FrameWrapping.Content.felica.notPassed
    }

    /// Sends a packet as the command that the reader has for it.
    private mutating func sendAsService(_ packet: [UInt8]) throws(TransportError) -> [UInt8] {
        var commands = services
        defer { services = commands }
        return try commands.transceive(packet) { command throws(TransportError) in try send(command) }
    }

    /// Sends a Polling in a session, which is restarted once when the reader has ended it.
    private mutating func pollInSession(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        for _ in 0..<2 {
            do throws(TransportError) {
                return try poll(request, [.session])
            } catch {
                switch error {
                case .cardReleased:
                    // Without a connection there is no reader to talk to; the next search makes another one.
                    if connection == nil { return nil }
                    session = nil
                case .unsupported where wrapping == nil:
                    hasNoSessions = true
                    try leaveSession()
                    return nil
                default: throw error
                }
            }
        }
        throw FrameWrapping.Content.felica.notPassed
    }

    /// Sends a frame to a Type 2 Tag in the first way that the reader does not refuse.
    private mutating func pass(_ frame: [UInt8], within time: Duration) throws(TransportError) -> [UInt8] {
        while let way = tagWrappings.first {
            guard let command = way.command(for: frame, .type2, within: time) else {
                throw .frameTooLong(length: frame.count, limit: 252)
            }
            do throws(TransportError) {
                if way == .session { try beginSession(.typeA) }
                return try way.frame(in: send(command), .type2)
            } catch .unsupported {
                // Nothing reached the tag.
                endSession()
                tagWrappings.removeFirst()
            } catch {
                throw error
            }
        }
        throw FrameWrapping.Content.type2.notPassed
    }

    private mutating func beginSession(_ air: TransparentSession.CardProtocol) throws(TransportError) {
        guard session != air else { return }
        let notPassed = (air == .felica ? FrameWrapping.Content.felica : .type2).notPassed
        if session == nil, try !manage(TransparentSession.start) {
            // Another program may have left one behind.
            guard try manage(TransparentSession.end), try manage(TransparentSession.start) else { throw notPassed }
        }
        session = air
        if air == .felica {
            // A reader that does not support these may work without them.
            _ = try manage(TransparentSession.fieldOff)
            ThreadPause.sleep(TransparentSession.fieldOffTime)
            _ = try manage(TransparentSession.fieldOn)
            ThreadPause.sleep(TransparentSession.fieldOnTime)
        }
        var isSilent = false
        for form in TransparentSession.forms(of: air.command) {
            switch TransparentAnswer(try send(form))?.meaning {
            case .done: return
            case .silent, .refused(status: Self.noSuchCard): isSilent = true
            default: break
            }
        }
        guard air == .typeA, isSilent else { throw notPassed }
        // The reader looks for a card of type A by itself. Another session is begun once there is one.
        endSession()
        throw .noAnswer
    }

    /// How an RC-S300 also reports that it found no card of the type that it was switched to.
    private static let noSuchCard: UInt16 = 0x6A81

    /// How long the reader and the service may take to find a card after a session.
    private static let searchTime = Duration.milliseconds(500)

    /// Ends a session and gives reader and service the time to find the card by themselves.
    private mutating func leaveSession() throws(TransportError) {
        guard session == .felica else { return }
        endSession()
        isUsed = true
        let deadline = ContinuousClock.now + Self.searchTime
        var known = CardPresence.unknown
        while ContinuousClock.now < deadline {
            guard let now = try context.change(of: reader, from: known, within: deadline - .now) else { return }
            if now.hasCard || now.readerIsGone { return }
            known = now
        }
    }

    /// Sends a session command to the reader in both forms that programs use, and returns whether it was done.
    private mutating func manage(_ command: [UInt8]) throws(TransportError) -> Bool {
        for form in TransparentSession.forms(of: command) {
            if TransparentSession.isDone(try send(form)) { return true }
        }
        return false
    }

    /// Returns the reader to its normal operation.
    private mutating func endSession() {
        guard session != nil else { return }
        defer { session = nil }
        for form in TransparentSession.forms(of: TransparentSession.end) {
            guard let answer = try? transmit(form), !TransparentSession.isDone(answer) else { return }
        }
    }

    private mutating func send(_ command: [UInt8]) throws(TransportError) -> [UInt8] {
        isUsed = true
        do throws(PCSCError) {
            return try transmit(command)
        } catch {
            throw lost(error.code.error)
        }
    }

    /// Gives up a card in an unknown state: it is reset.
    private mutating func lost(_ error: TransportError) -> TransportError {
        selection = .none
        release()
        return error
    }

    private mutating func transmit(_ command: [UInt8]) throws(PCSCError) -> [UInt8] {
        do throws(PCSCError) {
            return try transmitOnce(command)
        } catch {
            guard session != nil, [.removedCard, .resetCard].contains(error.code) else { throw error }
            try connection?.keepReader()
            return try transmitOnce(command)
        }
    }

    private func transmitOnce(_ command: [UInt8]) throws(PCSCError) -> [UInt8] {
        switch connection {
        case .some(let connection): try connection.transmit(command)
        case .none: throw PCSCError(code: .removedCard)
        }
    }

    /// The longest wait without a check for cancellation: SCardCancel has no effect on a wait that is about to begin.
    private static let slice = Duration.seconds(1)

    mutating func waitForEvent(within time: Duration) throws(TransportError) {
        // Within a session the reader does not look for cards.
        endSession()
        if let now = try context.change(of: reader, from: presence, within: min(time, Self.slice)) { presence = now }
        awaitsCard = !presence.hasCard && !presence.isMute && !presence.readerIsGone
        if awaitsCard { release() }
    }

    // MARK: Lights and buzzer

    mutating func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
        guard let lights else { return false }
        for (index, command) in lights.commands(for: signal).enumerated() {
            // A buzzer that refuses leaves the lights.
            guard try order(command, lights) || index > 0 else { return false }
        }
        return true
    }

    mutating func silence() throws(TransportError) -> Bool {
        guard let lights, let command = lights.noBeep else { return false }
        return try order(command, lights)
    }

    /// Has the reader itself do something: as an APDU where the reader takes it as one and a card is there, for which pcscd needs
    /// no setting, else by the driver.
    ///
    /// - Returns: whether it did.
    private mutating func order(_ command: [UInt8], _ lights: LightCommands) throws(TransportError) -> Bool {
        do throws(PCSCError) {
            if lights == .pseudoAPDU, session == nil, connection != nil {
                do throws(PCSCError) {
                    return lights.isDone(try transmitOnce(command))
                } catch {
                    // The card left meanwhile; its next search notices.
                    guard error.code.meansNoCard || error.code == .resetCard else { throw error }
                }
            }
            switch connection {
            case .some(let connection): return try Self.control(connection, command, lights)
            case .none: return try Self.control(try CardConnection(toReader: reader, in: context), command, lights)
            }
        } catch {
            throw error.code.error
        }
    }

    private static func control(
        _ connection: borrowing CardConnection, _ command: [UInt8], _ lights: LightCommands
    ) throws(PCSCError) -> Bool {
        do throws(PCSCError) {
            guard let code = DriverFeatures.escapeCode(in: try connection.control(DriverFeatures.request, [])) else {
                return false
            }
            return lights.isDone(try connection.control(code, command))
        } catch {
            // A driver that does not let it pass says one of these, although it listed it, or knows no list.
            guard [.notTransacted, .unsupportedFeature].contains(error.code) else { throw error }
            return false
        }
    }
}
