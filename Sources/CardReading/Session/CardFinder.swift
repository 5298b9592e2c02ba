// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

/// Waits for a FeliCa card with one of some systems.
public struct CardFinder {
    private let reader: any Reader
    private let cancellation: CancellationToken

    /// A finder on an open reader.
    public init(reader: any Reader, cancellation: CancellationToken = CancellationToken()) {
        self.reader = reader
        self.cancellation = cancellation
    }

    /// What a search came to.
    public enum Finding: Hashable, Sendable {
        /// A card answered to this code of the list.
        case found(FeliCaTarget, SystemCode)
        /// No card came in time.
        case nothing
        /// A card is there, but it has none of the systems.
        case other(FeliCaTarget)
    }

    /// Polls the codes in the caller's order, each once a round, until one is answered: at 212 kbit/s, which every
    /// card answers, then at the other speeds of the reader.
    ///
    /// - Parameters:
    ///   - codes: the systems; ``SystemCode/any`` takes whatever is first.
    ///   - requestCode: what the card is to tell beside its IDm; 1 for the system code.
    ///   - timeout: how long to go on; zero for one round, `nil` for ever.
    /// - Throws: ``ReadingError`` when the reader failed or work was cancelled.
    public func find(
        _ codes: [SystemCode], requestCode: UInt8 = 0, timeout: Duration?
    ) throws(ReadingError) -> Finding {
        let clock = ContinuousClock()
        let deadline = timeout.map { clock.now + $0 }
        var strangers = 0
        while true {
            let start = clock.now
            if let finding = try round(codes, requestCode) { return finding }
            if !codes.contains(.any), let stranger = try poll(.any, requestCode: 1, at: .kbps212) {
                // The card may have come between two Pollings of the round: its systems get a second chance.
                strangers += 1
                if strangers == 2 || deadline == start {
                    if let finding = try round(codes, requestCode) { return finding }
                    return .other(stranger)
                }
                continue
            }
            if let deadline, clock.now >= deadline { return .nothing }
            try Pause.afterRound(from: start, on: reader, until: deadline)
        }
    }

    private func round(_ codes: [SystemCode], _ requestCode: UInt8) throws(ReadingError) -> Finding? {
        for bitRate in reader.information.feliCaBitRates {
            for code in codes {
                if let target = try poll(code, requestCode: requestCode, at: bitRate) { return .found(target, code) }
            }
        }
        return nil
    }

    /// A damaged answer counts as none: the next round asks again.
    private func poll(
        _ code: SystemCode, requestCode: UInt8, at bitRate: FeliCaBitRate
    ) throws(ReadingError) -> FeliCaTarget? {
        if cancellation.isCancelled { throw .cancelled }
        do {
            let request = ActivationRequest.felica(code, requestCode: requestCode, bitRate: bitRate)
            guard case .felica(let target)? = try reader.activate(request) else { return nil }
            return target
        } catch {
            guard error.isTransient else { throw CardSession.readingError(error) }
            return nil
        }
    }
}
