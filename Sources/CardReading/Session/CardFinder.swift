// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

/// Waits for a FeliCa card with one of some systems.
public struct CardFinder {
    private let search: CardSearch

    /// The systems to look for when any will do: the one that the Express transit card of a phone answers, then any.
    public static let anySystem: [SystemCode] = [.transit, .any]

    /// A finder on an open reader.
    public init(reader: any Reader, cancellation: CancellationToken = CancellationToken()) {
        self.init(reader: reader, cancellation: cancellation, clock: .system)
    }

    package init(reader: any Reader, cancellation: CancellationToken = CancellationToken(), clock: SearchClock) {
        search = CardSearch(reader: reader, cancellation: cancellation, clock: clock)
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

    /// Polls the codes in the caller's order, at the first speed of the reader's, then at the others. The first code that
    /// the card has wins, at whatever moment it comes.
    ///
    /// Where the first code is that of transit cards, it is polled for often enough to wake the Express card of a phone
    /// before any other code is, which would open the phone's wallet.
    ///
    /// - Parameters:
    ///   - codes: the systems; ``SystemCode/any`` takes whatever is first.
    ///   - requestCode: what the card is to tell beside its IDm; 1 for the system code.
    ///   - timeout: how long to go on; zero for one round, `nil` for ever.
    /// - Throws: ``ReadingError`` when the reader failed or work was cancelled.
    public func find(
        _ codes: [SystemCode], requestCode: UInt8 = 0, timeout: Duration?
    ) throws(ReadingError) -> Finding {
        let wanted = search.reader.requests(codes, requestCode: requestCode)
        let stranger = ActivationRequest.felica(.any, requestCode: 1, bitRate: .kbps212)
        let isAnyWanted = codes.contains(.any)
        let finding = try search.find(isAnyWanted ? wanted : wanted + [stranger], within: timeout) {
            requests throws(ReadingError) -> Finding? in
            guard let found = try search.firstAnswer(to: requests), case .felica(let target) = found.picc,
                case .felica(let code, _, _, _) = found.request
            else { return nil }
            return isAnyWanted || found.request != stranger ? .found(target, code) : .other(target)
        }
        return finding ?? .nothing
    }
}
