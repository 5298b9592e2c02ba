// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A card and the request that it answered, which finds it again.
public struct FoundCard: Hashable, Sendable {
    /// The card, selected.
    public let picc: PICC
    /// The request that it answered.
    public let request: ActivationRequest

    package init(picc: PICC, request: ActivationRequest) {
        self.picc = picc
        self.request = request
    }

    /// The kind of card.
    public var technology: Technology { picc.technology }

    /// The FeliCa card; `nil` for a card of another kind.
    public var feliCa: FeliCaTarget? {
        if case .felica(let target) = picc { target } else { nil }
    }

    /// The system code of the Polling that it answered; `nil` for a card of another kind.
    public var system: SystemCode? {
        if case .felica(let code, _, _, _) = request { code } else { nil }
    }
}

extension Reader {
    /// Looks once for a card with each of these requests, in order of preference.
    ///
    /// The first of them that the card answers wins, no matter when the card arrived. A card that arrives, or wakes up,
    /// between two requests answers the later one first, and would be mistaken for something else: FE00 of a transit
    /// card is another purse. So when a request is answered, those before it are sent once more, twice in all, since an
    /// answer may be lost in the air. A request that got only damaged answers decides nothing: answers from other
    /// systems are not trusted then.
    ///
    /// FeliCa requests at a bit rate other than the answer's are not repeated.
    ///
    /// - Parameters:
    ///   - isConfirmed: whether the requests before the answered one are sent once more.
    ///   - isFollowed: whether these requests are sent again in 20 ms or more if no card answers.
    ///   - isWanted: whether an answer counts; others are skipped.
    ///   - note: receives what was heard of cards that could not be selected.
    /// - Returns: the card, selected, or `nil` if none answered.
    /// - Throws: ``TransportError`` if the reader failed or work was cancelled.
    package func firstAnswer(
        to requests: [ActivationRequest], isConfirmed: Bool = true, isFollowed: Bool = false,
        where isWanted: (PICC) -> Bool = { _ in true }, heard note: (Heard) -> Void = { _ in }
    ) throws(TransportError) -> FoundCard? {
        var damaged: Set<Technology> = []
        for (index, request) in requests.enumerated() {
            switch try look(for: request, isFollowed: isFollowed, note) {
            case .nothing: continue
            case .damaged: damaged.insert(request.technology)
            case .card(let picc):
                guard isWanted(picc), !damaged.contains(request.technology) else { continue }
                guard isConfirmed else { return FoundCard(picc: picc, request: request) }
                let better = requests[..<index].filter { !request.isAtOtherSpeed(than: $0) }
                return try confirm(FoundCard(picc: picc, request: request), after: better, where: isWanted, note)
            }
        }
        return nil
    }

    /// Sends requests that are preferred to the one that a card has just answered, once, since the card may have arrived
    /// after them; if none is answered, selects the card by its own request.
    ///
    /// - Parameter note: receives what was heard of cards that could not be selected.
    /// - Returns: the card by the first request that it answers; `nil` if an answer was damaged, which decides nothing.
    /// - Throws: ``TransportError`` if the reader failed or work was cancelled.
    package func settle(
        _ found: FoundCard, after better: [ActivationRequest], heard note: (Heard) -> Void = { _ in }
    ) throws(TransportError) -> FoundCard? {
        try select(found, after: better, where: { _ in true }, note)
    }

    /// Sends the preferred requests once more, and if none is answered, selects the card by its own request.
    private func confirm(
        _ found: FoundCard, after better: [ActivationRequest], where isWanted: (PICC) -> Bool,
        _ note: (Heard) -> Void
    ) throws(TransportError) -> FoundCard? {
        try select(found, after: better + better, where: isWanted, note)
    }

    private func select(
        _ found: FoundCard, after better: [ActivationRequest], where isWanted: (PICC) -> Bool,
        _ note: (Heard) -> Void
    ) throws(TransportError) -> FoundCard? {
        guard !better.isEmpty else { return found }
        for request in better {
            switch try look(for: request, note) {
            case .nothing: continue
            case .damaged: if request.technology == found.request.technology { return nil }
            case .card(let picc): if isWanted(picc) { return FoundCard(picc: picc, request: request) }
            }
        }
        guard case .card(let again) = try look(for: found.request, note), isWanted(again) else { return nil }
        return FoundCard(picc: again, request: found.request)
    }

    /// Sends a request, and repeats a Polling with a damaged answer.
    ///
    /// Readers repeat the requests of type A and B themselves.
    private func look(
        for request: ActivationRequest, isFollowed: Bool = false, _ note: (Heard) -> Void
    ) throws(TransportError) -> SearchStep {
        for _ in 0..<(request.technology == .felica ? 3 : 1) {
            do {
                return try look(for: request, isFollowed: isFollowed).map { .card($0) } ?? .nothing
            } catch {
                switch error {
                case .heard(let heard):
                    note(heard)
                    return .nothing
                // Without a status, the damage may have happened between reader and computer.
                case .corrupted(let status): if status != 0 { note(.damaged(request.technology)) }
                default: throw error
                }
            }
        }
        return .damaged
    }
}

/// The result of a request.
private enum SearchStep {
    case card(PICC)
    /// No card that can be used.
    case nothing
    /// Something answered, but could not be decoded.
    case damaged
}

extension ActivationRequest {
    /// Whether both are FeliCa requests, at different bit rates.
    fileprivate func isAtOtherSpeed(than other: ActivationRequest) -> Bool {
        guard case .felica(_, _, _, let own) = self, case .felica(_, _, _, let rate) = other else { return false }
        return own != rate
    }
}
