// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import FeliCa
internal import NFCForumTags
public import ReaderCore

/// One card in the field of one reader.
///
/// Retries commands a bounded number of times, and distinguishes an unsupported command from a card that left.
package final class CardSession {
    package let reader: any Reader
    /// The card as it answered when it was found.
    package let target: FeliCaTarget
    /// The known limits of the card; updated while reading.
    let limits: CardLimits
    /// Whether an answer was damaged, or missing and the exchange repeated: then one unanswered Polling proves little.
    private(set) var isNoisy = false
    /// The number of commands sent, Pollings included.
    private(set) var exchanges = 0
    /// The bit rate of Pollings, and of the commands after them.
    private(set) var bitRate: FeliCaBitRate
    /// The systems that have answered a command, by the IDm that the answer carried.
    private var answering: Set<IDm> = []
    /// Whether the card has needed more time than its PMm says.
    private var isSlow = false
    /// Whether a higher bit rate has not failed yet.
    private var mayRaiseBitRate: Bool
    /// The system that is outside mode 0, in which it answers no Polling; `nil` if there is none.
    var authenticated: SystemHandle?
    private let cancellation: CancellationToken
    /// Measures the card's answers; `nil` if they are not measured.
    private let clock: SearchClock?
    /// What was measured.
    private(set) var pace = CardPace()
    /// How many answers arrived damaged.
    private(set) var losses = FrameLosses()

    /// How many times in all a damaged exchange is tried.
    private static let attempts = 4

    /// Makes a session with the card that `reader` has just activated.
    ///
    /// - Parameter clock: measures how long the card takes, by which questions are chosen; `nil` to expect what its PMm suggests,
    ///   as where answers take no time.
    package init(
        reader: any Reader, target: FeliCaTarget, cancellation: CancellationToken = CancellationToken(),
        clock: SearchClock? = nil
    ) {
        self.clock = clock
        self.reader = reader
        self.target = target
        self.cancellation = cancellation
        limits = CardLimits(pmm: target.pmm, reader: reader.information)
        bitRate = target.bitRate
        // A Polling too many could open a phone's wallet.
        mayRaiseBitRate =
            target.bitRate == .kbps212 && reader.information.feliCaBitRates.contains(.kbps424)
            && !PhoneModel.isPhone(target.pmm)
    }

    /// How many nodes one Request Service can name so that the answer (11 bytes and 2 per node) fits the reader.
    var nodesPerRequest: Int { RequestService.nodes(answeredIn: reader.information) }

    /// Sends a command to one system until the card answers it or cannot.
    ///
    /// A card that does not answer is asked once more with twice the time that its PMm says, and from then on always
    /// gets that time if it uses it: silence is the only sign of a card that is too slow.
    ///
    /// - Throws: ``ReadingError``; a refusal and persistent lack of an answer are values, not errors.
    func ask<Value>(
        _ system: SystemHandle, silences: Int = 2, _ command: (FeliCaSystem) throws(FeliCaError) -> Value
    ) throws(ReadingError) -> CardReply<Value> {
        var damaged = 0
        var silent = 0
        while true {
            if cancellation.isCancelled { throw .cancelled }
            exchanges += 1
            let isPatient = isSlow || silent > 0
            let channel = MeasuredChannel(session: self, pmm: system.pmm)
            let felica = FeliCaSystem(
                channel: isPatient ? PatientChannel(channel: channel) : channel, idm: system.idm, pmm: system.pmm)
            do {
                let value = try command(felica)
                didAnswer(system, patiently: isPatient)
                return .value(value)
            } catch {
                switch error {
                case .status(let flags):
                    didAnswer(system, patiently: isPatient)
                    return .refused(flags)
                case .transport(.noAnswer), .transport(.cardReleased):
                    silent += 1
                    isNoisy = true
                    _ = lowerBitRate()
                    guard try isPresent(system) else { throw .cardLost }
                    if silent >= silences { return .silent }
                case .transport(let failure):
                    // What a recording does not have was not sent.
                    if case .outOfScript = failure { exchanges -= 1 }
                    guard failure.isTransient else { throw CardSession.readingError(failure) }
                    isNoisy = true
                    damaged += 1
                    if damaged == CardSession.attempts { throw .radio(failure) }
                    if lowerBitRate() { _ = try poll(system.code) }
                default:
                    isNoisy = true
                    damaged += 1
                    if damaged == CardSession.attempts { throw .badAnswer(error) }
                    if lowerBitRate() { _ = try poll(system.code) }
                }
            }
        }
    }

    /// Sends a frame and measures its answer.
    fileprivate func measure(_ frame: [UInt8], timeout: Duration, pmm: PMm) throws(TransportError) -> [UInt8] {
        let start = clock?.now()
        do throws(TransportError) {
            let answer = try reader.transceive(frame, timeout: timeout)
            losses.add(frame.count + answer.count, isDamaged: false)
            if let start, let clock {
                pace.didAnswer(frame, answer.count, took: clock.now() - start, pmm: pmm, at: bitRate)
            }
            return answer
        } catch {
            if case .corrupted = error { losses.add(frame.count, isDamaged: true) }
            throw error
        }
    }

    /// How many blocks a read requests at best, of those that the card allows.
    func blocksPerRead(_ limit: Int, of system: SystemHandle) -> Int {
        losses.best(upTo: limit, ExchangeTime(system.pmm, at: bitRate, pace))
    }

    /// Searches, and measures the answer to a Polling.
    private func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        let start = clock?.now()
        let found = try reader.activate(request)
        if let start, let clock, case .felica(_, let requestCode, _, let bitRate) = request, found != nil {
            pace.didPoll(requestCode == 0 ? 18 : 20, took: clock.now() - start, at: bitRate)
        }
        return found
    }

    private func didAnswer(_ system: SystemHandle, patiently: Bool) {
        answering.insert(system.idm)
        if patiently { isSlow = true }
    }

    /// Whether this system has answered any command but Polling.
    func hasAnswered(_ system: SystemHandle) -> Bool { answering.contains(system.idm) }

    /// - Throws: ``ReadingError/cancelled`` if the work was cancelled.
    func checkCancellation() throws(ReadingError) {
        if cancellation.isCancelled { throw .cancelled }
    }

    /// Sends a frame once.
    func exchange(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        if cancellation.isCancelled { throw .cancelled }
        exchanges += 1
        return try reader.transceive(frame, timeout: timeout)
    }

    /// Polls for a system of this card once; damaged answers are tried again.
    ///
    /// - Parameter raising: whether to try 424 kbit/s first, if the card was found at 212: where this card answers it,
    ///   that is the bit rate from then on, until an answer is damaged or missing.
    /// - Returns: the system, or `nil` if no card, or another card, answered.
    package func poll(
        _ code: SystemCode, requestCode: UInt8 = 0, raising: Bool = false
    ) throws(ReadingError) -> FeliCaTarget? {
        if raising, mayRaiseBitRate, bitRate == .kbps212, let found = try pollFaster(code, requestCode) { return found }
        var damaged = 0
        while true {
            if cancellation.isCancelled { throw .cancelled }
            exchanges += 1
            do {
                let request = ActivationRequest.felica(code, requestCode: requestCode, bitRate: bitRate)
                guard case .felica(let found)? = try activate(request) else { return nil }
                return found
            } catch {
                guard error.isTransient else { throw CardSession.readingError(error) }
                isNoisy = true
                damaged += 1
                guard damaged == CardSession.attempts else { continue }
                // Other cards may answer at the same time: no answer of this one.
                if case .heard = error { return nil }
                throw .radio(error)
            }
        }
    }

    /// Polls for a system of this card at 424 kbit/s, if the card was found at 212 and that was not tried before, since the
    /// commands that follow take less time then.
    ///
    /// A card that does not answer is selected again at 212.
    func raiseBitRate(for system: SystemHandle) throws(ReadingError) {
        guard mayRaiseBitRate, bitRate == .kbps212 else { return }
        let before = exchanges
        guard try pollFaster(system.code, 0) == nil else { return }
        // In earlier recordings another system is the first at 424.
        guard exchanges > before else {
            mayRaiseBitRate = true
            return
        }
        guard try isPresent(system) else { throw .cardLost }
    }

    /// Polls for a system once at 424 kbit/s.
    private func pollFaster(_ code: SystemCode, _ requestCode: UInt8) throws(ReadingError) -> FeliCaTarget? {
        if cancellation.isCancelled { throw .cancelled }
        exchanges += 1
        mayRaiseBitRate = false
        do {
            let request = ActivationRequest.felica(code, requestCode: requestCode, bitRate: .kbps424)
            guard case .felica(let found)? = try activate(request), found.idm.isSameCard(as: target.idm) else {
                return nil
            }
            bitRate = .kbps424
            return found
        } catch {
            switch error {
            case .corrupted, .heard, .unsupported: return nil
            // A recording at 212 kbit/s only has other questions. What it does not have was not sent.
            case .outOfScript:
                exchanges -= 1
                return nil
            default: throw CardSession.readingError(error)
            }
        }
    }

    /// Goes back to the bit rate at which the card was found, for good.
    ///
    /// - Returns: whether it was another one, so that the card has to be polled for again.
    private func lowerBitRate() -> Bool {
        defer { bitRate = target.bitRate }
        return bitRate != target.bitRate
    }

    /// Returns whether the card still answers a Polling for this system with this IDm.
    ///
    /// A card that was moved, or put back, gets three tries.
    func isPresent(_ system: SystemHandle) throws(ReadingError) -> Bool {
        for _ in 0..<3 {
            let isAuthenticated = authenticated?.idm == system.idm
            if try isAuthenticated ? answersRequest(system) : poll(system.code)?.idm == system.idm { return true }
        }
        return false
    }

    /// Returns whether the card answers Request Response, which it does in every mode.
    private func answersRequest(_ system: SystemHandle) throws(ReadingError) -> Bool {
        if cancellation.isCancelled { throw .cancelled }
        exchanges += 1
        do throws(FeliCaError) {
            _ = try FeliCaSystem(channel: PatientChannel(channel: reader), idm: system.idm, pmm: system.pmm)
                .requestResponse()
            return true
        } catch {
            switch error {
            case .transport(let failure) where !failure.isTransient && !error.isSilence:
                throw CardSession.readingError(failure)
            default: return false
            }
        }
    }

    package static func readingError(_ error: TransportError) -> ReadingError {
        switch error {
        case .cancelled: .cancelled
        case .noAnswer, .cardReleased: .cardLost
        case .corrupted, .heard: .radio(error)
        default: .reader(error)
        }
    }
}

extension CardSession {
    /// Returns the codes of the systems that the card lists, in its order.
    ///
    /// If it cannot list them, returns those that answer a Polling for the systems that such cards have.
    ///
    /// - Throws: ``ReadingError`` if the card left or the reader failed.
    package func systemCodes() throws(ReadingError) -> [SystemCode] {
        let first = target.requestData.map { SystemCode(rawValue: $0) }
        if target.pmm.mayAnswer(RequestSystemCode.code) {
            let handle = SystemHandle(code: first ?? .any, idm: target.idm, pmm: target.pmm)
            let reply = try ask(handle) { felica throws(FeliCaError) in try felica.requestSystemCode() }
            if case .value(let listed) = reply {
                let codes = listed.enumerated().filter { $1.isSystem && !listed.prefix($0).contains($1) }
                if !codes.isEmpty { return codes.map(\.element) }
            }
        }
        var codes = first.map { [$0] } ?? []
        for code in SystemTraversal.fallback + SystemTraversal.unlisted where !codes.contains(code) {
            if let found = try poll(code), found.idm.isSameCard(as: target.idm) { codes.append(code) }
        }
        return codes
    }
}

/// Measures how long the answers of a session's card take.
private struct MeasuredChannel: CardChannel {
    let session: CardSession
    let pmm: PMm

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try session.measure(frame, timeout: timeout, pmm: pmm)
    }
}

/// Gives a card twice the time of its PMm, and at least 10 ms more.
private struct PatientChannel: CardChannel {
    let channel: any CardChannel

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try channel.transceive(frame, timeout: timeout + max(timeout, .milliseconds(10)))
    }
}

/// The reply of a card that is present to a command.
enum CardReply<Value> {
    /// The answer.
    case value(Value)
    /// It refused with these status flags.
    case refused(StatusFlags)
    /// It did not answer twice although it answers a Polling: it does not support the command, or not in this form.
    case silent
}

/// One system of the card in the field, from its answer to its Polling.
public struct SystemHandle: Hashable, Sendable {
    /// Its code.
    public var code: SystemCode
    /// Its IDm.
    public var idm: IDm
    /// The PMm in its answer.
    public var pmm: PMm

    package init(code: SystemCode, idm: IDm, pmm: PMm) {
        self.code = code
        self.idm = idm
        self.pmm = pmm
    }
}

/// Why reading a card ended early.
@nonexhaustive
public enum ReadingError: Error, Hashable, Sendable {
    /// The card left the field, or another one is there now.
    case cardLost
    /// The answer to the same exchange was damaged on every try.
    case radio(TransportError)
    /// The card gave an answer that is never valid, on every try.
    case badAnswer(FeliCaError)
    /// The card is there, but gave no answer that shows what it contains, even with twice the time.
    case cardSilent
    /// The reader failed.
    case reader(TransportError)
    /// Work was cancelled.
    case cancelled

    /// The identifier in the `missing` list of a dump.
    package var word: MissingPart.Reason {
        switch self {
        case .cardLost: .cardLost
        case .radio: .radioError
        case .badAnswer: .badAnswer
        case .cardSilent: .cardSilent
        case .reader: .readerFailed
        case .cancelled: .cancelled
        }
    }
}

extension ReadingError {
    /// Why reading a tag ended early; `nil` if the error is the tag's own answer.
    init?(_ error: TagError) {
        switch error {
        case .tagLost: self = .cardLost
        case .cancelled: self = .cancelled
        case .transport(let error): self = CardSession.readingError(error)
        case .badAnswer: self = .radio(.corrupted(status: 0))
        default: return nil
        }
    }
}

extension ReadingError: SelfDescribing {
    /// What ended the reading.
    public var message: LocalizedText {
        switch self {
        case .cardLost: LocalizedText("the card left the reader", "カードがリーダーから離れました")
        case .radio: LocalizedText("the card's answers were corrupted repeatedly", "カードの応答が何度も壊れて届きました")
        case .badAnswer(.malformed(let command, let fault)): FeliCaError.malformed(command, fault).message
        case .badAnswer: LocalizedText("the card's answer violates the protocol", "カードの応答が規格に合いません")
        case .cardSilent:
            LocalizedText(
                "the card answers too little to show what it contains", "カードの応答が足りず、内容を確認できません")
        case .reader(let error): error.message
        case .cancelled: TransportError.cancelled.message
        }
    }
}
