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
        self.init(reader: reader, cancellation: cancellation, clock: .system)
    }

    package init(reader: any Reader, cancellation: CancellationToken = CancellationToken(), clock: SearchClock) {
        search = CardSearch(reader: reader, cancellation: cancellation, clock: clock)
    }

    /// Looks for a card of each kind, round by round, until one answers; then the rest of the round goes on, since a
    /// phone answers as several kinds.
    ///
    /// - Parameters:
    ///   - technologies: the kinds, in the order in which they are looked for; FeliCa by the transit system first, which the
    ///     Express card of a phone answers, then by any.
    ///   - timeout: how long to go on; zero for one round, `nil` for ever.
    /// - Returns: what answered, at most one card of each kind, in the caller's order; of FeliCa with the system code.
    /// - Throws: ``ReadingError`` when the reader failed, cannot look for any of them, or work was cancelled.
    public func find(
        _ technologies: [Technology] = usualOrder, timeout: Duration?
    ) throws(ReadingError) -> [PICC] {
        let wanted = technologies.filter(search.reader.information.technologies.contains)
        guard !wanted.isEmpty else { throw .reader(.unsupported(detail: "cards of this kind")) }
        let all = wanted.flatMap(requests)
        let found = try search.find(all, within: timeout) { requests throws(ReadingError) -> [PICC]? in
            try round(requests, of: all, wanted)
        }
        return found ?? []
    }

    /// - Parameter requests: what to begin with; all else follows only when something answers that.
    private func round(
        _ requests: [ActivationRequest], of all: [ActivationRequest], _ technologies: [Technology]
    ) throws(ReadingError) -> [PICC]? {
        var found: [Technology: PICC] = [:]
        var obstacle: ReadingError?
        func look(_ technology: Technology, _ requests: [ActivationRequest]) throws(ReadingError) {
            do throws(ReadingError) {
                let own = requests.filter { $0.technology == technology }
                if let card = try search.firstAnswer(to: own) { found[technology] = card.picc }
            } catch {
                // A reader that cannot look for one kind may be able to look for the next.
                guard case .reader(.unsupported) = error else { throw error }
                obstacle = obstacle ?? error
            }
        }
        // Kinds that were looked for after something had answered: for the others it may have come too late.
        var settled: Set<Technology> = []
        for technology in technologies {
            if !found.isEmpty, requests == all { settled.insert(technology) }
            try look(technology, requests)
        }
        guard !found.isEmpty else {
            if requests == all, let obstacle { throw obstacle }
            return nil
        }
        for technology in technologies where found[technology] == nil && !settled.contains(technology) {
            try look(technology, all)
        }
        return technologies.compactMap { found[$0] }
    }

    /// What is asked for a card of this kind, until one answers.
    private func requests(_ technology: Technology) -> [ActivationRequest] {
        switch technology {
        case .felica: search.reader.requests(CardFinder.anySystem)
        case .typeA: [.typeA()]
        case .typeB: [.typeB()]
        }
    }
}
