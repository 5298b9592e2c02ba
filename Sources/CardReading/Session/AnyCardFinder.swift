// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

/// Waits for a card of whatever kind.
public struct AnyCardFinder {
    private let search: CardSearch

    /// The order in which kinds are looked for when nobody says another one: FeliCa answers fastest, and is what
    /// most of the cards here are.
    public static let usualOrder: [Technology] = [.felica, .typeA, .typeB]

    /// A finder on an open reader.
    public init(reader: any Reader, cancellation: CancellationToken = CancellationToken()) {
        search = CardSearch(reader: reader, cancellation: cancellation)
    }

    /// Looks for a card of each kind, round by round, until one answers; then the rest of the round goes on, since a
    /// phone answers as several kinds.
    ///
    /// - Parameters:
    ///   - technologies: the kinds, in the order in which they are looked for.
    ///   - timeout: how long to go on; zero for one round, `nil` for ever.
    /// - Returns: what answered, at most one card of each kind, in the caller's order; of FeliCa with the system code.
    /// - Throws: ``ReadingError`` when the reader failed, cannot look for any of them, or work was cancelled.
    public func find(
        _ technologies: [Technology] = usualOrder, timeout: Duration?
    ) throws(ReadingError) -> [PICC] {
        let wanted = technologies.filter(search.reader.information.technologies.contains)
        guard !wanted.isEmpty else { throw .reader(.unsupported(detail: "cards of this kind")) }
        let found = try search.rounds(within: timeout) { () throws(ReadingError) -> CardSearch.Round<[PICC]> in
            let found = try round(wanted)
            return found.isEmpty ? .nothing : .over(found)
        }
        return found ?? []
    }

    private func round(_ technologies: [Technology]) throws(ReadingError) -> [PICC] {
        var found: [PICC] = []
        var obstacle: ReadingError?
        for technology in technologies {
            do throws(ReadingError) {
                for request in requests(technology) {
                    guard let picc = try search.activate(request) else { continue }
                    found.append(picc)
                    break
                }
            } catch {
                // A reader that cannot look for one kind may be able to look for the next.
                guard case .reader(.unsupported) = error else { throw error }
                obstacle = obstacle ?? error
            }
        }
        if found.isEmpty, let obstacle { throw obstacle }
        return found
    }

    /// What is asked for a card of this kind, until one answers.
    private func requests(_ technology: Technology) -> [ActivationRequest] {
        switch technology {
        case .felica: search.reader.information.feliCaBitRates.map { .felica(.any, requestCode: 1, bitRate: $0) }
        case .typeA: [.typeA()]
        case .typeB: [.typeB()]
        }
    }
}
