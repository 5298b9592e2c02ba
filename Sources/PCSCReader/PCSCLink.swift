// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import NFCTransport

/// The service, one of its readers, and the card there.
struct PCSCLink: ~Copyable {
    private let context: PCSCContext
    private let reader: String
    private var presence = CardPresence.unknown
    private var connection: CardConnection?
    /// Whether the card has been sent something since it was connected to or reset.
    private var isUsed = false
    private var selection = Selection.none
    /// How the reader takes FeliCa packets, once that is known.
    private var passage: FeliCaPassage?
    /// How the reader may take commands of Type 2 Tags, those that it refused left out.
    private var tagPassages: [Type2Passage]
    /// What the transparent session is for that is open, in which the reader knows no other way.
    private var session: TransparentSession.AirProtocol?

    /// What frames the selected card takes.
    private enum Selection {
        case none
        case apdus
        case storage
        case packets
    }

    init(_ context: consuming PCSCContext, reader: String) {
        self.context = context
        self.reader = reader
        tagPassages = Type2Passage.ways(for: reader)
    }

    /// Gives the card back.
    mutating func release() {
        endSession()
        _ = connection.take()
    }

    // MARK: Looking for a card

    mutating func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        selection = .none
        guard try refresh() else { return nil }
        let card: Card
        do throws(PCSCFault) {
            card = try connectAnew()
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
            // The reader has looked for any family; the card's own is in its application data, if it says so.
            guard family == 0 || target.applicationData?.first == family else { return nil }
            selection = .apdus
            return .typeB(target)
        case (.felica, .felica(let system, let requestCode, let timeSlots, let bitRate)):
            return try poll(system, requestCode: requestCode, timeSlots: timeSlots, bitRate: bitRate)
        case (.other, _): throw Self.withContacts
        default: return nil
        }
    }

    /// A card that is no contactless one.
    private static let withContacts = TransportError.unsupported(detail: "a card with contacts is in the reader")

    /// What a card is by its ATR and what the reader tells.
    private enum Card {
        case typeA(TypeATarget)
        case typeB(TypeBTarget)
        case felica
        case other
    }

    /// Learns whether a card is there.
    private mutating func refresh() throws(TransportError) -> Bool {
        guard let now = try context.change(of: reader, from: .unknown, within: .zero) else { return false }
        presence = now
        guard !now.readerIsGone else { throw PCSCCode.readerUnavailable.error }
        if !now.hasCard { release() }
        return now.hasCard
    }

    /// Connects to the card, or resets one that was sent something.
    private mutating func connectAnew() throws(PCSCFault) -> Card {
        let kind = ContactlessATR(presence.atr)
        if connection == nil {
            connection = try CardConnection(reader, in: context)
        } else if isUsed, kind != .felica {
            endSession()
            do throws(PCSCFault) {
                try reset()
            } catch {
                // Another card, or the same one that was taken away meanwhile.
                release()
                connection = try CardConnection(reader, in: context)
            }
        }
        isUsed = false
        switch kind {
        case .felica: return .felica
        case .memoryA:
            return .typeA(TypeATarget(uid: try answer([0xFF, 0xCA, 0x00, 0x00, 0x00]) ?? [], isISODEP: false))
        case .isoDEP(let content): return try isoDEPCard(content)
        case .other: return .other
        }
    }

    /// Tells type A from type B: only cards of type A have an ATS, and UIDs of 7 or 10 bytes.
    private func isoDEPCard(_ content: [UInt8]) throws(PCSCFault) -> Card {
        let uid = try answer([0xFF, 0xCA, 0x00, 0x00, 0x00])
        let ats = try answer([0xFF, 0xCA, 0x01, 0x00, 0x00]).flatMap { $0.first.map(Int.init) == $0.count ? $0 : nil }
        // As an ATQB its protocol info says that the card speaks ISO 14443-4, and its bit 4 is 0.
        let mayBeB = content.count == 8 && content[5] & 0x09 == 0x01
        if mayBeB, ats == nil, [nil, 4].contains(uid?.count) {
            return .typeB(
                TypeBTarget(pupi: uid, applicationData: Array(content[0..<4]), protocolInfo: Array(content[4..<7])))
        }
        return .typeA(TypeATarget(uid: uid ?? [], ats: ats, isISODEP: true))
    }

    /// What the reader itself answers to a pseudo-APDU, `nil` when it refuses.
    private func answer(_ command: [UInt8]) throws(PCSCFault) -> [UInt8]? {
        let answer = try transmit(command)
        guard answer.count > 2, answer.suffix(2) == [0x90, 0x00] else { return nil }
        return Array(answer.dropLast(2))
    }

    // MARK: Exchanging

    mutating func transceive(_ frame: [UInt8]) throws(TransportError) -> [UInt8] {
        switch selection {
        case .none: throw .cardReleased
        case .apdus:
            let answer = try send(frame)
            guard answer.count >= 2 else { throw lost(.corrupted(status: 0)) }
            return answer
        case .storage:
            guard session == nil, let command = StorageCommand(frame) else { return try pass(frame) }
            return try command.answer(in: send(command.apdu))
        case .packets:
            guard let passage, let command = passage.command(for: frame) else {
                throw .frameTooLong(length: frame.count, limit: 252)
            }
            if passage == .session { try beginSession(.felica) }
            return try passage.packet(in: send(command))
        }
    }

    /// Sends a Polling in the way that the reader takes packets in.
    private mutating func poll(
        _ system: SystemCode, requestCode: UInt8, timeSlots: UInt8, bitRate: FeliCaBitRate
    ) throws(TransportError) -> PICC? {
        let code = system.rawValue
        let packet: [UInt8] = [
            0x06, 0x00, UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code), requestCode, timeSlots,
        ]
        let ways = passage.map { [$0] } ?? FeliCaPassage.ways(for: reader)
        for way in ways {
            guard let command = way.command(for: packet) else { continue }
            do throws(TransportError) {
                if way == .session { try beginSession(.felica) }
                let target = try PollingAnswer.parse(way.packet(in: send(command)), bitRate: bitRate)
                passage = way
                selection = .packets
                return .felica(target)
            } catch {
                switch error {
                case .noAnswer, .cardReleased:
                    guard passage != nil || way == ways.last else { continue }
                    // Whether the reader passes packets on is not known: it goes back to its own ways.
                    if passage == nil { endSession() }
                    return nil
                case .unsupported, .corrupted:
                    endSession()
                    if passage != nil { throw error }
                default: throw error
                }
            }
        }
        throw FeliCaPassage.notPassed
    }

    /// Sends a frame to a Type 2 Tag in the first way that the reader does not refuse.
    private mutating func pass(_ frame: [UInt8]) throws(TransportError) -> [UInt8] {
        while let way = tagPassages.first {
            guard let command = way.command(for: frame) else {
                throw .frameTooLong(length: frame.count, limit: 252)
            }
            do throws(TransportError) {
                if way == .session { try beginSession(.typeA) }
                return try way.frame(in: send(command))
            } catch .unsupported {
                // Nothing reached the tag.
                endSession()
                tagPassages.removeFirst()
            } catch {
                throw error
            }
        }
        throw Type2Passage.notPassed
    }

    private mutating func beginSession(_ air: TransparentSession.AirProtocol) throws(TransportError) {
        guard session != air else { return }
        let notPassed = air == .felica ? FeliCaPassage.notPassed : Type2Passage.notPassed
        if session == nil {
            guard try manage(TransparentSession.start) else { throw notPassed }
        }
        session = air
        guard try manage(air.command) else { throw notPassed }
    }

    /// Sends a command of the session to the reader in both forms that programs use, and says whether it was done.
    private mutating func manage(_ command: [UInt8]) throws(TransportError) -> Bool {
        for form in TransparentSession.forms(of: command) {
            if TransparentSession.isDone(try send(form)) { return true }
        }
        return false
    }

    /// Gives the reader its own ways back.
    private mutating func endSession() {
        guard session != nil else { return }
        session = nil
        for form in TransparentSession.forms(of: TransparentSession.end) {
            guard let answer = try? transmit(form), !TransparentSession.isDone(answer) else { return }
        }
    }

    private mutating func send(_ command: [UInt8]) throws(TransportError) -> [UInt8] {
        isUsed = true
        do throws(PCSCFault) {
            return try transmit(command)
        } catch {
            throw lost(error.code.error)
        }
    }

    /// Gives up a card whose state nobody knows: it is reset.
    private mutating func lost(_ error: TransportError) -> TransportError {
        selection = .none
        release()
        return error
    }

    private func transmit(_ command: [UInt8]) throws(PCSCFault) -> [UInt8] {
        switch connection {
        case .some(let connection): try connection.transmit(command)
        case .none: throw PCSCFault(code: .removedCard)
        }
    }

    private func reset() throws(PCSCFault) {
        switch connection {
        case .some(let connection): try connection.reset()
        case .none: break
        }
    }

    // MARK: Waiting

    /// The longest wait without a look at what cancels: SCardCancel has no effect on a wait that is about to begin.
    private static let slice = Duration.seconds(1)

    mutating func waitForEvent(within time: Duration) throws(TransportError) {
        if let now = try context.change(of: reader, from: presence, within: min(time, Self.slice)) { presence = now }
    }
}
