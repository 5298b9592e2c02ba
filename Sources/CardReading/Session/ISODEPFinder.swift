// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

/// Waits for a card of type A or B that speaks ISO-DEP, that is, one that takes APDUs.
public struct ISODEPFinder {
    private let search: CardSearch

    /// A finder on an open reader.
    public init(reader: any Reader, cancellation: CancellationToken = CancellationToken()) {
        search = CardSearch(reader: reader, cancellation: cancellation, clock: .system)
    }

    /// What a search came to.
    public enum Finding: Hashable, Sendable {
        /// A card answered and takes APDUs; the request finds it again.
        case found(PICC, ActivationRequest)
        /// No card came in time.
        case nothing
        /// A card is there, but it takes no APDUs.
        case other(PICC)
    }

    /// Looks for a card of each kind in the caller's order until one answers; the first kind that does wins.
    ///
    /// - Parameters:
    ///   - technologies: type A, type B or both; what the reader cannot look for is left out.
    ///   - timeout: how long to go on; zero for one round, `nil` for ever.
    /// - Throws: ``ReadingError`` when the reader failed, cannot look for any of them, or work was cancelled.
    public func find(
        _ technologies: [Technology] = [.typeA, .typeB], timeout: Duration?
    ) throws(ReadingError) -> Finding {
        let requests = technologies.filter(search.reader.information.technologies.contains).compactMap(
            ISODEPFinder.request)
        guard !requests.isEmpty else { throw .reader(.unsupported(detail: "cards of type A and B")) }
        let finding = try search.find(requests, within: timeout) { requests throws(ReadingError) -> Finding? in
            var other: PICC?
            let found = try search.firstAnswer(to: requests) { picc in
                if !picc.isISODEP { other = picc }
                return picc.isISODEP
            }
            return found.map { .found($0.picc, $0.request) } ?? other.map { .other($0) }
        }
        return finding ?? .nothing
    }

    private static func request(_ technology: Technology) -> ActivationRequest? {
        switch technology {
        case .typeA: .typeA()
        case .typeB: .typeB()
        case .felica: nil
        }
    }
}
