// SPDX-License-Identifier: Apache-2.0

public import CardModel
internal import FeliCa
public import NFCTransport

/// One card in the field of one reader: commands with bounded retries, and the difference between a card that does
/// not know a command and a card that left.
public final class CardSession {
    /// The reader.
    public let reader: any Reader
    /// The card as it answered when it was found.
    public let target: FeliCaTarget
    /// What is known of the card's limits; learnt while reading.
    let limits: CardLimits
    /// Whether an exchange came back damaged, or got no answer and was repeated: then one unanswered Polling says little.
    private(set) var isNoisy = false
    private let cancellation: CancellationToken

    /// How often an exchange that came back damaged is tried in all.
    private static let attempts = 4

    /// A session with the card that `reader` has just activated.
    public init(reader: any Reader, target: FeliCaTarget, cancellation: CancellationToken = CancellationToken()) {
        self.reader = reader
        self.target = target
        self.cancellation = cancellation
        limits = CardLimits(pmm: target.pmm, reader: reader.information)
    }

    /// How many nodes one Request Service may name so that the answer (11 bytes and 2 a node) fits the reader.
    var nodesPerRequest: Int {
        max(1, min(RequestService.allowedNodes.upperBound, (reader.information.longestFeliCaAnswer - 11) / 2))
    }

    /// Sends a command to one system until the card answered it, or cannot.
    ///
    /// - Throws: ``ReadingError``; a refusal and lasting silence are values, not errors.
    func ask<Value>(
        _ system: SystemHandle, _ command: (FeliCaSystem) throws(FeliCaError) -> Value
    ) throws(ReadingError) -> CardReply<Value> {
        let felica = FeliCaSystem(channel: reader, idm: system.idm, pmm: system.pmm)
        var damaged = 0
        var silent = 0
        while true {
            if cancellation.isCancelled { throw .cancelled }
            do {
                return .value(try command(felica))
            } catch {
                switch error {
                case .status(let flags): return .refused(flags)
                case .transport(.noAnswer), .transport(.cardReleased):
                    silent += 1
                    isNoisy = true
                    guard try isPresent(system) else { throw .cardLost }
                    if silent == 2 { return .silent }
                case .transport(let failure):
                    guard failure.isTransient else { throw CardSession.readingError(failure) }
                    isNoisy = true
                    damaged += 1
                    if damaged == CardSession.attempts { throw .radio(failure) }
                default:
                    isNoisy = true
                    damaged += 1
                    if damaged == CardSession.attempts { throw .badAnswer(error) }
                }
            }
        }
    }

    /// Polls for a system of this card, once; damaged answers are tried again.
    ///
    /// - Returns: the system, or `nil` when no card, or another card, answered.
    public func poll(_ code: SystemCode, requestCode: UInt8 = 0) throws(ReadingError) -> FeliCaTarget? {
        var damaged = 0
        while true {
            if cancellation.isCancelled { throw .cancelled }
            do {
                let request = ActivationRequest.felica(code, requestCode: requestCode, bitRate: target.bitRate)
                guard case .felica(let found)? = try reader.activate(request) else { return nil }
                return found
            } catch {
                guard error.isTransient else { throw CardSession.readingError(error) }
                isNoisy = true
                damaged += 1
                if damaged == CardSession.attempts { throw .radio(error) }
            }
        }
    }

    /// Whether the card still answers a Polling for this system with this IDm. A card that was moved, or put back,
    /// gets three tries.
    func isPresent(_ system: SystemHandle) throws(ReadingError) -> Bool {
        for _ in 0..<3 {
            if try poll(system.code)?.idm == system.idm { return true }
        }
        return false
    }

    static func readingError(_ error: TransportError) -> ReadingError {
        switch error {
        case .cancelled: .cancelled
        case .noAnswer, .cardReleased: .cardLost
        case .corrupted: .radio(error)
        default: .reader(error)
        }
    }
}
