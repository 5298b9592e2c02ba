// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import CardReading
internal import FeliCa
package import ReaderCore

/// One fixed, harmless course on a reader and the card on it, the same for everybody, so that recordings compare.
///
/// Nothing of a card's contents is asked for, nothing is written and no key is used: see ``CardFrameKind/isHarmless``.
package final class ReaderCourse {
    /// The parts of the course, in order.
    package enum Part: String, CaseIterable, Sendable {
        /// Looks in three orders, with and without a gap in the field.
        case looks
        /// The list of a FeliCa card's nodes, predicted and proved.
        case scan
        /// The same, asked for one by one.
        case walk
        /// Commands that every chip has or has not.
        case commands
        /// How much one read may ask for, with a service that no card has.
        case limits
        /// A name that no application has.
        case select
        /// The product of a Type 2 Tag.
        case tag
        /// Looks while the card is away and back.
        case away
    }

    /// What the person at the reader is asked to do.
    package enum Request: Sendable {
        case takeCardAway, putCardBack
    }

    /// How the course ended.
    package enum Ending: Hashable, Sendable {
        case complete
        /// No card was there in time.
        case noCard
        /// Card or reader failed.
        case failed(ReadingError)
        /// It took longer than ``longest``, or the recording became too long.
        case timeOver
    }

    /// The longest time of the course without the wait for a card and for a person.
    package static let longest = Duration.seconds(90)

    private let recorder: CourseRecorder
    private let cancellation: CancellationToken
    private let ask: ((Request) -> Bool)?
    private var clock = SearchClock.system

    /// - Parameters:
    ///   - recorder: the open reader.
    ///   - cancellation: ends the course early.
    ///   - ask: asks the person at the reader; returns `false` if there is no answer. `nil` leaves that part out.
    package init(
        _ recorder: CourseRecorder, cancellation: CancellationToken = CancellationToken(),
        ask: ((Request) -> Bool)? = nil
    ) {
        (self.recorder, self.cancellation, self.ask) = (recorder, cancellation, ask)
    }

    /// Runs the course.
    ///
    /// - Parameters:
    ///   - hasCard: whether a card is part of it; without one, only the empty field is looked at.
    ///   - wait: how long to wait for the card.
    package func run(hasCard: Bool = true, wait: CardWait) -> Ending {
        recorder.limit(nil)
        clock = wait.clock
        if hasCard {
            do throws(ReadingError) {
                let finder = CardFinder(reader: recorder, cancellation: cancellation)
                let found = try recorder.withoutRecording { () throws(ReadingError) in
                    try !finder.findAll(for: wait).isEmpty
                }
                if !found {
                    _ = part(.looks) { outcome throws(ReadingError) in _ = try looks(&outcome) }
                    return .noCard
                }
            } catch {
                return ending(error)
            }
        }
        recorder.limit(Self.longest)
        var cards: [PICC] = []
        var failure = part(.looks) { outcome throws(ReadingError) in cards = try looks(&outcome) }
        guard failure == nil, hasCard else { return failure ?? .complete }
        for card in cards {
            failure = course(of: card)
            if let failure { return failure }
        }
        guard let ask else { return .complete }
        recorder.limit(nil)
        return part(.away) { outcome throws(ReadingError) in
            for request in [Request.takeCardAway, .putCardBack] {
                guard ask(request) else { throw .cancelled }
                for _ in 0..<3 { for look in Self.orders[0] { _ = try self.look(look) } }
            }
        } ?? .complete
    }

    private func course(of card: PICC) -> Ending? {
        switch card {
        case .felica(let target):
            return part(.scan) { outcome throws(ReadingError) in try scan(.shipped) }
                ?? part(.walk) { outcome throws(ReadingError) in try scan(.none) }
                ?? part(.commands) { outcome throws(ReadingError) in try commands(target) }
                ?? part(.limits) { outcome throws(ReadingError) in try limits(target) }
        case .typeA(let target) where !target.isISODEP:
            // MIFARE Classic wants a key for everything.
            guard target.sak.map({ $0 & 0x18 == 0 }) ?? true else { return nil }
            return part(.tag) { outcome throws(ReadingError) in
                try tag()
                outcome.left = ["signature"]
            }
        case .typeA: return part(.select) { outcome throws(ReadingError) in try select(.typeA()) }
        case .typeB(let target):
            guard target.isISODEP else { return nil }
            return part(.select) { outcome throws(ReadingError) in try select(.typeB()) }
        }
    }

    /// One part and its outcome.
    ///
    /// - Returns: `nil` if the course goes on.
    private func part(
        _ part: Part, _ body: (inout Recording.Outcome) throws(ReadingError) -> Void
    ) -> Ending? {
        recorder.begin(part.rawValue)
        var outcome = Recording.Outcome(status: 0)
        var result: Ending?
        do throws(ReadingError) {
            try body(&outcome)
        } catch {
            let ending = ending(error)
            result = ending
            switch ending {
            case .timeOver: (outcome.status, outcome.reason) = (74, "timeOver")
            case .failed(.cancelled): (outcome.status, outcome.reason) = (130, "cancelled")
            default: (outcome.status, outcome.reason) = (74, error.word.rawValue)
            }
        }
        recorder.end(outcome)
        return result
    }

    private func ending(_ error: ReadingError) -> Ending {
        error == .cancelled && !cancellation.isCancelled && recorder.isOver ? .timeOver : .failed(error)
    }

    private func check() throws(ReadingError) {
        if cancellation.isCancelled || recorder.isOver { throw .cancelled }
    }

    // MARK: Looks

    /// FeliCa before types A and B and behind them; any system last, which opens the wallet of a phone.
    private static let orders: [[ActivationRequest]] = [
        [.felica(.transit, requestCode: 1), .typeA(), .typeB(), .felica(.any, requestCode: 1)],
        [.typeA(), .typeB(), .felica(.transit, requestCode: 1), .felica(.any, requestCode: 1)],
        [.typeB(), .typeA(), .felica(.any, requestCode: 1), .felica(.transit, requestCode: 1)],
    ]
    /// After each order, where the reader has the bit rate: every search of a command is then in the recording.
    private static let faster: [ActivationRequest] = [
        .felica(.transit, requestCode: 1, bitRate: .kbps424), .felica(.any, requestCode: 1, bitRate: .kbps424),
    ]

    /// - Returns: one card of each kind.
    private func looks(_ outcome: inout Recording.Outcome) throws(ReadingError) -> [PICC] {
        var found: [Technology: PICC] = [:]
        for hasGap in [false, true] {
            for order in Self.orders {
                for request in order + Self.faster {
                    if hasGap, try !switchFieldOff() {
                        outcome.left = ["fieldGap"]
                        return Technology.allCases.compactMap { found[$0] }
                    }
                    if let picc = try look(request), found[picc.technology] == nil { found[picc.technology] = picc }
                }
            }
        }
        return Technology.allCases.compactMap { found[$0] }
    }

    private func switchFieldOff() throws(ReadingError) -> Bool {
        do throws(TransportError) {
            return try recorder.cyclePower()
        } catch {
            throw CardSession.readingError(error)
        }
    }

    /// Looks once. A kind that the reader cannot look for, and what cannot be selected, counts as no card.
    private func look(_ request: ActivationRequest) throws(ReadingError) -> PICC? {
        try check()
        guard recorder.information.technologies.contains(request.technology) else { return nil }
        if case .felica(_, _, _, let rate) = request, !recorder.information.feliCaBitRates.contains(rate) { return nil }
        do throws(TransportError) {
            return try recorder.activate(request)
        } catch {
            switch error {
            case .heard, .unsupported, .noAnswer, .cardReleased, .corrupted: return nil
            default: throw CardSession.readingError(error)
            }
        }
    }

    // MARK: FeliCa

    private func scan(_ layouts: CardLayouts) throws(ReadingError) {
        let finder = CardFinder(reader: recorder, cancellation: cancellation)
        guard
            case .found(let card) = try finder.find(
                CardFinder.anySystem, requestCode: 1, for: CardWait(.zero, clock: clock)),
            case .felica(let target) = card.picc
        else { throw .cardLost }
        let session = CardSession(reader: recorder, target: target, cancellation: cancellation)
        let result = CardScanner(session: session, layouts: layouts, random: FixedGenerator()).scan()
        if let failure = result.interruption { throw failure }
    }

    /// Request Response, Request System Code, Request Block Information, Request Code List, Request Service v2, Get System
    /// Status and Request Specification Version.
    private func commands(_ target: FeliCaTarget) throws(ReadingError) {
        let card = try selectFeliCa(target)
        let questions: [[UInt8]] = [
            [0x04], [0x0C], [0x02, 0x01, 0x00, 0x00], [0x0E, 0x01, 0x00, 0x00], [0x1A, 0x00, 0x00, 0x01, 0x00],
            [0x32, 0x01, 0x00, 0x00], [0x38, 0x00, 0x00], [0x3C, 0x00, 0x00],
        ]
        let times = ResponseTime(card.pmm)
        for question in questions {
            let time = max(
                times.maximum(.fixed), times.maximum(.variable, units: 32), times.maximum(.other), .milliseconds(50))
            try send(Self.packet(question[0], card.idm, Array(question.dropFirst())), time, to: card)
        }
    }

    /// Reads of service FFFF, of more and more blocks, then of more and more services: the error tells which number was too
    /// large.
    private func limits(_ target: FeliCaTarget) throws(ReadingError) {
        let card = try selectFeliCa(target)
        let times = ResponseTime(card.pmm)
        let sizes =
            [1, 2, 3, 4, 5, 8, 10, 12, 13, 14, 15].map { (services: 1, blocks: $0) }
            + [2, 4, 8, 16].map { (services: $0, blocks: $0 < 16 ? $0 : 15) }
        for size in sizes where 13 + 16 * size.blocks <= recorder.information.longestFeliCaAnswer {
            let services = [UInt8](repeating: 0xFF, count: 2 * size.services)
            let blocks = (0..<size.blocks).flatMap { (block: Int) -> [UInt8] in [0x80, UInt8(block)] }
            let parameters: [UInt8] = [UInt8(size.services)] + services + [UInt8(size.blocks)] + blocks
            try send(
                Self.packet(0x06, card.idm, parameters), times.maximum(.read, units: size.blocks), to: card)
        }
    }

    private func selectFeliCa(_ target: FeliCaTarget) throws(ReadingError) -> FeliCaTarget {
        guard case .felica(let card)? = try look(.felica(.any, requestCode: 1, bitRate: target.bitRate)) else {
            throw .cardLost
        }
        return card
    }

    /// LEN, code, IDm and parameters.
    private static func packet(_ code: UInt8, _ idm: IDm, _ parameters: [UInt8]) -> [UInt8] {
        [UInt8(clamping: 10 + parameters.count), code] + idm.bytes + parameters
    }

    /// Sends a frame that the card may ignore; one that is then gone ends the course.
    private func send(_ frame: [UInt8], _ time: Duration, to card: FeliCaTarget) throws(ReadingError) {
        try check()
        do throws(TransportError) {
            _ = try recorder.transceive(frame, timeout: time)
        } catch {
            switch error {
            case .noAnswer, .cardReleased, .corrupted:
                let again = try look(.felica(.any, requestCode: 1, bitRate: card.bitRate))
                guard case .felica? = again else { throw .cardLost }
            case .frameTooLong, .answerTooLong, .unsupported: return
            default: throw CardSession.readingError(error)
            }
        }
    }

    // MARK: Types A and B

    private func select(_ request: ActivationRequest) throws(ReadingError) {
        guard let card = try look(request) else { throw .cardLost }
        guard card.isISODEP else { return }
        try check()
        do throws(TransportError) {
            _ = try recorder.transceive(CardFrameKind.strangeSelection, timeout: .seconds(5))
        } catch {
            throw CardSession.readingError(error)
        }
    }

    /// Pages 0 to 3, GET_VERSION and READ_SIG. A tag that refuses a command has to be selected again.
    private func tag() throws(ReadingError) {
        for frame in [[0x30, 0x00], [0x60], [0x3C, 0x00]] as [[UInt8]] {
            guard case .typeA(let card)? = try look(.typeA()) else { throw .cardLost }
            guard !card.isISODEP else { return }
            do throws(TransportError) {
                _ = try recorder.transceive(frame, timeout: .milliseconds(100))
            } catch {
                switch error {
                case .noAnswer, .cardReleased, .corrupted, .unsupported: continue
                // The signature, when a recording is replayed.
                case .outOfScript(let detail) where detail.code == .transcriptLeavesOut: continue
                default: throw CardSession.readingError(error)
                }
            }
        }
        guard try look(.typeA()) != nil else { throw .cardLost }
    }
}

/// The same numbers in each run, so that a course sends the same again when its recording is replayed.
private struct FixedGenerator: RandomNumberGenerator {
    private var state: UInt64 = 0x4B41_5A41_5355

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
