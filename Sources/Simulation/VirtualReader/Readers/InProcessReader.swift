// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
public import ReaderCore
internal import VirtualCards
internal import VirtualChips

/// A reader on a virtual field, without a chip between them: for fast tests of card-reading code.
public final class InProcessReader: Reader {
    /// The longest frame that it sends: the same limit as libnfc.
    package static let longestFrame = 262

    /// The reader's properties.
    public let information: ReaderInformation
    /// The field of the reader.
    package let field: VirtualField
    /// The number of calls of ``activate(_:)``.
    package private(set) var activations = 0
    /// The number of calls of ``transceive(_:timeout:)``.
    package private(set) var transceives = 0
    private let cancellation: CancellationToken
    /// Whether frames are enciphered, after an authentication of MIFARE Classic.
    private var isCrypto1On = false
    private var selected: Selected?
    /// Whether a card of type A or B was selected since the field went on.
    private var holdsCard = false
    private var isClosed = false

    /// The most recently activated card.
    private enum Selected {
        case felica(FeliCaBitRate)
        case typeA
        case isoDEP(ISODEPSession)
        /// A card in an unknown protocol state.
        case lost

        var isFeliCa: Bool {
            if case .felica = self { true } else { false }
        }
    }

    /// Creates a reader on a field.
    public init(
        _ field: VirtualField,
        information: ReaderInformation = ReaderInformation(
            id: "in-process", name: "Virtual reader", technologies: Technology.allCases),
        cancellation: CancellationToken = CancellationToken()
    ) {
        self.field = field
        self.information = information
        self.cancellation = cancellation
    }

    package convenience init(_ cards: any VirtualCard...) {
        self.init(VirtualField(cards: cards))
    }

    /// Looks once for a card: one Polling, one REQA or one REQB and the commands that select the card after it.
    ///
    /// A damaged answer or one of another kind counts as none, as on a PN53x. When a card of type A or B was selected
    /// before, the field goes off first, since a selected card does not answer a REQA.
    public func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        activations += 1
        isCrypto1On = false
        if let selected, !selected.isFeliCa { holdsCard = true }
        selected = nil
        try check()
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            return try poll(system, requestCode, timeSlots, bitRate).map { .felica($0) }
        case .typeA(let isoDEP):
            resetField()
            return try activateTypeA(isoDEP: isoDEP).map { .typeA($0) }
        case .typeB(let applicationFamily):
            resetField()
            return activateTypeB(applicationFamily).map { .typeB($0) }
        @unknown default: throw .unsupported(detail: .init(.text, "\(request)"))
        }
    }

    /// A card that was selected does not answer REQA or REQB, even after searches of other types: so the field goes off
    /// for a moment.
    private func resetField() {
        guard holdsCard else { return }
        field.switchOff()
        field.pass(.milliseconds(6))
        holdsCard = false
    }

    private func poll(
        _ system: SystemCode, _ requestCode: UInt8, _ timeSlots: UInt8, _ bitRate: FeliCaBitRate
    ) throws(TransportError) -> FeliCaTarget? {
        guard information.feliCaBitRates.contains(bitRate) else {
            throw .unsupported(detail: .init(.polling, "\(bitRate.rawValue)"))
        }
        var polling = ByteWriter([0x06, 0x00])
        polling.write(system.rawValue, .big)
        polling.write(requestCode)
        polling.write(timeSlots)
        switch field.exchange(polling.bytes, at: bitRate) {
        case .silence: return nil
        case .damaged: throw .heard(.damaged(.felica))
        case .answer(let answer):
            guard let target = InProcessReader.target(answer.frame, bitRate) else {
                // A whole packet with an even code, as cards of generation 0 send it.
                let isWhole = answer.frame.count > 1 && Int(answer.frame[0]) == answer.frame.count
                guard information.hearsFailures, isWhole, answer.frame[1].isMultiple(of: 2) else { return nil }
                throw .heard(.unstarted(.felica))
            }
            selected = .felica(bitRate)
            return target
        }
    }

    private func activateTypeA(isoDEP: Bool) throws(TransportError) -> TypeATarget? {
        let initiator = TypeAInitiator(send: sendFrame)
        guard case .found(let card) = initiator.activate() else { return nil }
        guard isoDEP, card.sak & TypeACommand.speaksISODEP != 0 else {
            selected = .typeA
            return TypeATarget(uid: card.uid, atqa: card.atqa, sak: card.sak, isISODEP: false)
        }
        guard let ats = initiator.requestAnswerToSelect(frameSizeIndex: InProcessReader.frameSizeIndex, cid: 0) else {
            holdsCard = true
            throw .heard(.unstarted(.typeA))
        }
        selected = .isoDEP(ISODEPSession(.typeA, ISODEPParameters(ats: ats), cid: nil))
        return TypeATarget(uid: card.uid, atqa: card.atqa, sak: card.sak, ats: ats, isISODEP: true)
    }

    private func activateTypeB(_ applicationFamily: UInt8) -> TypeBTarget? {
        let initiator = TypeBInitiator(send: sendFrame)
        guard case .found(let card) = initiator.request(applicationFamily: applicationFamily), let pupi = card.pupi
        else { return nil }
        guard card.speaksISODEP else {
            return TypeBTarget(pupi: pupi, applicationData: card.applicationData, protocolInfo: card.protocolInfo)
        }
        guard
            initiator.attribute(pupi: pupi, frameSizeIndex: InProcessReader.frameSizeIndex, cid: 0) != nil
        else { return nil }
        selected = .isoDEP(ISODEPSession(.typeB, ISODEPParameters(card), cid: nil))
        return TypeBTarget(pupi: pupi, applicationData: card.applicationData, protocolInfo: card.protocolInfo)
    }

    /// Frames of 256 bytes.
    private static let frameSizeIndex: UInt8 = 8

    /// Sends a frame without a time limit.
    private var sendFrame: FrameExchange {
        let field = field
        return { frame, _ in
            switch field.exchange(frame) {
            case .silence: .failed(status: ChipStatus.timeout)
            case .damaged(let status): .failed(status: status)
            case .answer(let answer): .answer(answer)
            }
        }
    }

    /// Sends one frame, or one command APDU, to the card that was activated last.
    ///
    /// An answer that takes the card longer than `timeout` is `TransportError.noAnswer`; there is no
    /// actual wait. After any failure of an ISO-DEP exchange `TransportError.cardReleased` until a card
    /// is activated again.
    public func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        transceives += 1
        try check()
        guard let selected else { throw .cardReleased }
        switch selected {
        case .felica(let bitRate):
            let answer = try send(RadioFrame(.felica(bitRate), frame), timeout)
            guard answer.count <= information.longestFeliCaAnswer else { throw .answerTooLong }
            return answer
        case .typeA:
            var radioFrame = RadioFrame(.typeA, frame)
            if ClassicFrame.isAuthentication(frame) { isCrypto1On = true }
            radioFrame.isEnciphered = isCrypto1On
            return try send(radioFrame, timeout)
        case .isoDEP(let session): return try exchange(frame, session, timeout)
        case .lost: throw .cardReleased
        }
    }

    /// Asks a card in ISO-DEP by R(NAK) whether it is still there; `nil` for other cards.
    public func isCardPresent() throws(TransportError) -> Bool? {
        try check()
        guard case .isoDEP(let session)? = selected else { return nil }
        return session.isPresent(sendFrame)
    }

    /// Switches the field off for 50 ms of its own clock.
    public func cyclePower() throws(TransportError) -> Bool {
        try check()
        selected = nil
        field.switchOff()
        field.pass(.milliseconds(50))
        holdsCard = false
        return true
    }

    private func send(_ frame: RadioFrame, _ timeout: Duration) throws(TransportError) -> [UInt8] {
        guard frame.bytes.count <= InProcessReader.longestFrame else {
            throw .frameTooLong(length: frame.bytes.count, limit: InProcessReader.longestFrame)
        }
        return try field.transceive(frame, timeout: timeout)
    }

    private func exchange(
        _ command: [UInt8], _ session: ISODEPSession, _ timeout: Duration
    ) throws(TransportError) -> [UInt8] {
        guard command.count <= information.longestCommandAPDU else {
            throw .frameTooLong(length: command.count, limit: information.longestCommandAPDU)
        }
        var session = session
        var left = timeout
        // What the card asks for is not the caller's time.
        var extensions = ReaderInformation.longestCardExtension
        let waitingTime = ISODEPSizes.waitingTime(session.parameters.waitingTimeIndex)
        let sendFrame = sendFrame
        let outcome = session.exchange(command) { frame, multiplier in
            // The card asked for this time; whether it also needs it is not known.
            if multiplier > 0 { extensions -= waitingTime * multiplier }
            guard extensions >= .zero else { return .aborted }
            let reply = sendFrame(frame, multiplier)
            if case .answer(let answer) = reply { left -= answer.thinkingTime }
            return left >= .zero ? reply : .aborted
        }
        // After a failure it is not known which block the card expects next, or whether it has executed the command.
        if case .answer = outcome { selected = .isoDEP(session) } else { selected = .lost }
        switch outcome {
        case .aborted where extensions < .zero: throw .cardTooSlow
        case .aborted, .failed(ChipStatus.timeout): throw .noAnswer
        case .failed(let status): throw .corrupted(status: status)
        case .answer(let answer):
            guard answer.count <= information.longestResponseAPDU else { throw .answerTooLong }
            return answer
        }
    }

    /// Switches the field off.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        selected = nil
        field.switchOff()
    }

    private func check() throws(TransportError) {
        try cancellation.check()
        if isClosed { throw .readerFailed(detail: .init(.closed)) }
    }

    private static func target(_ frame: [UInt8], _ bitRate: FeliCaBitRate) -> FeliCaTarget? {
        var answer = ByteReader(frame)
        guard let length = try? answer.readUInt8(), Int(length) == frame.count, (try? answer.readUInt8()) == 0x01,
            let idm = try? answer.readUInt64(.big), let pmm = try? answer.readUInt64(.big)
        else { return nil }
        return FeliCaTarget(
            idm: IDm(rawValue: idm), pmm: PMm(rawValue: pmm), requestData: try? answer.readUInt16(.big),
            bitRate: bitRate)
    }
}
