// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

/// Waits for a FeliCa card with one of some systems.
public struct CardFinder {
    private let search: CardSearch

    /// A finder on an open reader.
    public init(reader: any Reader, cancellation: CancellationToken = CancellationToken()) {
        search = CardSearch(reader: reader, cancellation: cancellation)
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

    /// Polls the codes in the caller's order, each once a round, until one is answered: at the first speed of the reader's,
    /// then at the others.
    ///
    /// - Parameters:
    ///   - codes: the systems; ``SystemCode/any`` takes whatever is first.
    ///   - requestCode: what the card is to tell beside its IDm; 1 for the system code.
    ///   - timeout: how long to go on; zero for one round, `nil` for ever.
    /// - Throws: ``ReadingError`` when the reader failed or work was cancelled.
    public func find(
        _ codes: [SystemCode], requestCode: UInt8 = 0, timeout: Duration?
    ) throws(ReadingError) -> Finding {
        var strangers = 0
        let finding = try search.rounds(within: timeout) { () throws(ReadingError) -> CardSearch.Round<Finding> in
            if let finding = try round(codes, requestCode) { return .over(finding) }
            guard !codes.contains(.any), let stranger = try poll(.any, requestCode: 1, at: .kbps212) else {
                return .nothing
            }
            // The card may have come between two Pollings of the round: its systems get a second chance.
            strangers += 1
            guard strangers == 2 else { return .again }
            return .over(try round(codes, requestCode) ?? .other(stranger))
        }
        return finding ?? .nothing
    }

    private func round(_ codes: [SystemCode], _ requestCode: UInt8) throws(ReadingError) -> Finding? {
        for bitRate in search.reader.information.feliCaBitRates {
            for code in codes {
                if let target = try poll(code, requestCode: requestCode, at: bitRate) { return .found(target, code) }
            }
        }
        return nil
    }

    private func poll(
        _ code: SystemCode, requestCode: UInt8, at bitRate: FeliCaBitRate
    ) throws(ReadingError) -> FeliCaTarget? {
        let request = ActivationRequest.felica(code, requestCode: requestCode, bitRate: bitRate)
        guard case .felica(let target)? = try search.activate(request) else { return nil }
        return target
    }
}
