// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import ReaderCore

/// Waits for a card: one with a system, one of each kind, the first of several, or one that accepts APDUs.
package struct CardFinder {
    let reader: any Reader
    let cancellation: CancellationToken
    /// What was heard of cards that could not be selected.
    let heard: HeardLog

    package init(
        reader: any Reader, cancellation: CancellationToken = CancellationToken(), heard: HeardLog = HeardLog()
    ) {
        self.reader = reader
        self.cancellation = cancellation
        self.heard = heard
    }

    /// The result of a search for one kind of card.
    package enum Finding: Hashable, Sendable {
        /// A card answered; contains the request that it answered, which finds it again.
        case found(FoundCard)
        /// A card is there, but of another kind.
        case other(PICC)
        /// No card arrived in time.
        case nothing
    }

    // MARK: A FeliCa card with one of some systems

    /// The systems to look for if any will do: the one that the Express transit card of a phone answers, then any.
    package static let anySystem: [SystemCode] = [.transit, .any]

    /// Polls the codes in the caller's order, at the reader's first bit rate, then at the others.
    ///
    /// The first code that the card has wins, no matter when the card arrives. If the first code is that of transit
    /// cards, it is polled for often enough to wake the Express card of a phone before any other code, which would open
    /// the phone's wallet.
    ///
    /// - Parameters:
    ///   - codes: the systems; ``SystemCode/any`` accepts whichever is first.
    ///   - requestCode: what the card returns besides its IDm; 1 for the system code.
    ///   - wait: how long to continue, and how often to look.
    /// - Throws: ``ReadingError`` if the reader failed or work was cancelled.
    package func find(
        _ codes: [SystemCode], requestCode: UInt8 = 0, for wait: CardWait
    ) throws(ReadingError) -> Finding {
        let wanted = reader.requests(codes, requestCode: requestCode)
        let stranger = ActivationRequest.felica(.any, requestCode: 1, bitRate: .kbps212)
        let isAnyWanted = codes.contains(.any)
        // Whoever takes any system of a card lists or reads the whole card.
        if codes == CardFinder.anySystem { reader.expectLongJob() }
        var search = CardSearch(
            isAnyWanted ? wanted : wanted + [stranger], wait, by: self,
            takesFirstSystem: codes == CardFinder.anySystem)
        while let look = try search.next() {
            guard let found = try firstAnswer(to: look, search.isFollowed) else { continue }
            return isAnyWanted || found.request != stranger ? .found(found) : .other(found.picc)
        }
        return .nothing
    }

    // MARK: One card of each kind

    /// The default order of kinds: FeliCa answers fastest, and most of the cards here are FeliCa.
    package static let usualOrder: [Technology] = [.felica, .typeA, .typeB]

    /// Looks for a card of each kind, round by round, until one answers.
    ///
    /// The rest of that round is then completed, since a phone answers as several kinds.
    ///
    /// - Parameters:
    ///   - technologies: the kinds, in the order in which they are looked for; FeliCa first by the transit system,
    ///     which the Express card of a phone answers, then by any.
    ///   - wait: how long to continue, and how often to look.
    /// - Returns: the cards that answered, at most one of each kind, in the caller's order; FeliCa with the system
    ///   code.
    /// - Throws: ``ReadingError`` if the reader failed, cannot look for any of them, or work was cancelled.
    package func findAll(
        _ technologies: [Technology] = usualOrder, for wait: CardWait
    ) throws(ReadingError) -> [FoundCard] {
        let wanted = technologies.filter(reader.information.technologies.contains)
        guard !wanted.isEmpty else { throw .reader(.unsupported(detail: .init(.thisKindOfCard))) }
        let all = wanted.flatMap(requests)
        var search = CardSearch(all, wait, by: self)
        while let look = try search.next() {
            switch look {
            case .requests(let requests):
                if let found = try round(requests, search.isFollowed, of: all, wanted) { return found }
            case .card(let card): if let found = try round([], false, of: all, wanted, with: card) { return found }
            }
        }
        return []
    }

    /// - Parameters:
    ///   - requests: the requests to start with; the others follow only if something answers these.
    ///   - isFollowed: whether they are sent again if nothing answers.
    ///   - card: a card that is known to be there.
    private func round(
        _ requests: [ActivationRequest], _ isFollowed: Bool, of all: [ActivationRequest], _ technologies: [Technology],
        with card: FoundCard? = nil
    ) throws(ReadingError) -> [FoundCard]? {
        var found: [Technology: FoundCard] = [:]
        if let card { found[card.technology] = card }
        var obstacle: ReadingError?
        func look(_ technology: Technology, _ requests: [ActivationRequest]) throws(ReadingError) {
            do throws(ReadingError) {
                let own = requests.filter { $0.technology == technology }
                if let card = try firstAnswer(to: own, isFollowed: isFollowed && requests != all) {
                    found[technology] = card
                }
            } catch {
                // A reader that cannot look for one kind may be able to look for the next.
                guard case .reader(.unsupported) = error else { throw error }
                obstacle = obstacle ?? error
            }
        }
        // The kinds that were looked for after something had answered: for the others, the card may have arrived too
        // late.
        var settled: Set<Technology> = []
        for technology in technologies where card == nil {
            if !found.isEmpty, requests == all { settled.insert(technology) }
            try look(technology, requests)
        }
        guard !found.isEmpty else {
            if technologies.allSatisfy({ kind in requests.contains { $0.technology == kind } }), let obstacle {
                throw obstacle
            }
            return nil
        }
        for technology in technologies where found[technology] == nil && !settled.contains(technology) {
            try look(technology, all)
        }
        return technologies.compactMap { found[$0] }
    }

    /// Returns the requests for a card of this kind, to be tried until one answers.
    private func requests(_ technology: Technology) -> [ActivationRequest] {
        switch technology {
        case .felica: reader.requests(CardFinder.anySystem)
        case .typeA: [.typeA()]
        case .typeB: [.typeB()]
        }
    }

    // MARK: The first card of several kinds

    /// Looks for each in the caller's order, round by round, until a card answers.
    ///
    /// The first request that it answers wins, no matter when the card arrives.
    ///
    /// - Parameters:
    ///   - requests: the requests to try; those that the reader does not support are left out.
    ///   - wait: how long to continue, and how often to look.
    /// - Returns: the first card, or `nil` if none arrived in time.
    /// - Throws: ``ReadingError`` if the reader failed, cannot look for any of them, or work was cancelled.
    package func findFirst(_ requests: [ActivationRequest], for wait: CardWait) throws(ReadingError) -> FoundCard? {
        let possible = requests.filter { reader.information.technologies.contains($0.technology) }
        guard !possible.isEmpty else { throw .reader(.unsupported(detail: .init(.thisKindOfCard))) }
        var search = CardSearch(possible, wait, by: self)
        while let look = try search.next() {
            if let found = try firstAnswer(to: look, search.isFollowed) { return found }
        }
        return nil
    }

    /// Looks for a card of each kind in the caller's order, round by round, until one answers.
    ///
    /// - Parameters:
    ///   - technologies: the kinds; FeliCa as in ``findAll(_:timeout:)``.
    ///   - wait: how long to continue, and how often to look.
    /// - Returns: the first card, or `nil` if none arrived in time.
    /// - Throws: ``ReadingError`` if the reader failed, cannot look for any of them, or work was cancelled.
    package func findFirst(_ technologies: [Technology], for wait: CardWait) throws(ReadingError) -> FoundCard? {
        try findFirst(technologies.flatMap(requests), for: wait)
    }

    // MARK: A card that accepts APDUs

    /// Looks for a card of each kind in the caller's order until one answers; the first kind that does wins.
    ///
    /// - Parameters:
    ///   - technologies: type A, type B or both; those that the reader does not support are left out.
    ///   - wait: how long to continue, and how often to look.
    /// - Throws: ``ReadingError`` if the reader failed, cannot look for any of them, or work was cancelled.
    package func findISODEP(
        _ technologies: [Technology] = [.typeA, .typeB], for wait: CardWait
    ) throws(ReadingError) -> Finding {
        let requests = technologies.filter { $0 != .felica && reader.information.technologies.contains($0) }
            .flatMap(self.requests)
        guard !requests.isEmpty else { throw .reader(.unsupported(detail: .init(.typeAAndB))) }
        var search = CardSearch(requests, wait, by: self)
        while case .requests(let requests)? = try search.next() {
            var other: PICC?
            let found = try firstAnswer(to: requests) { picc in
                if !picc.isISODEP { other = picc }
                return picc.isISODEP
            }
            if let found { return .found(found) }
            if let other { return .other(other) }
        }
        return .nothing
    }

    private func firstAnswer(to look: CardSearch.Look, _ isFollowed: Bool) throws(ReadingError) -> FoundCard? {
        switch look {
        case .requests(let requests): try firstAnswer(to: requests, isFollowed: isFollowed)
        case .card(let card): card
        }
    }

    /// Calls ``ReaderCore/Reader/firstAnswer(to:where:)`` and converts its errors.
    func firstAnswer(
        to requests: [ActivationRequest], isConfirmed: Bool = true, isFollowed: Bool = false,
        where isWanted: (PICC) -> Bool = { _ in true }
    ) throws(ReadingError) -> FoundCard? {
        try convertingErrors { reader throws(TransportError) in
            try reader.firstAnswer(
                to: requests, isConfirmed: isConfirmed, isFollowed: isFollowed, where: isWanted, heard: heard.note)
        }
    }

    /// Calls ``ReaderCore/Reader/settle(_:after:heard:)`` and converts its errors.
    func settle(_ card: FoundCard, after better: [ActivationRequest]) throws(ReadingError) -> FoundCard? {
        try convertingErrors { reader throws(TransportError) in
            try reader.settle(card, after: better, heard: heard.note)
        }
    }

    private func convertingErrors(
        _ work: (any Reader) throws(TransportError) -> FoundCard?
    ) throws(ReadingError) -> FoundCard? {
        do throws(TransportError) {
            return try work(reader)
        } catch {
            // A card that was lost while being selected does not count.
            guard error != .noAnswer, error != .cardReleased else { return nil }
            throw CardSession.readingError(error)
        }
    }
}

extension ActivationRequest {
    /// The requests for finding a tag.
    ///
    /// Type A is first, as most tags are; then the systems of FeliCa tags, type B, and any FeliCa card, to report that
    /// it is not a tag.
    package static let tags: [ActivationRequest] = [
        .typeA(), .felica(.ndef, requestCode: 1), .felica(.lite, requestCode: 1), .typeB(),
        .felica(.any, requestCode: 1),
    ]
}
