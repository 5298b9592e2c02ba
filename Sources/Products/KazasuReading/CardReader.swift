// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import CardReading
internal import ISO7816
public import ReaderCore

/// An open reader that waits for cards.
///
/// Use it from one thread at a time; `withReader(_:_:)` gives it a dedicated thread. ``cancel()`` can be called from
/// any thread.
public final class CardReader {
    /// The open device.
    public let device: any Reader
    /// Cancels the reader's work from any thread.
    public let cancellation: CancellationToken
    private let closesAtEnd: Bool
    /// The lists of keys that cards on this reader did not confirm.
    let failedKeys = StandardFailuresOfRun()
    /// The clock of searches; tests replace it.
    package var clock = SearchClock.system

    /// Whether its answers take the time of a card's. Simulated and replayed ones come at once, and measuring them would only
    /// make the questions depend on the machine.
    var answersTakeTime: Bool {
        !["virtual:", "replay:", "in-process"].contains { information.id.hasPrefix($0) }
    }

    /// Makes a reader that is closed when it is deallocated, if not before.
    public init(_ device: any Reader, cancellation: CancellationToken) {
        self.device = device
        self.cancellation = cancellation
        closesAtEnd = true
    }

    package init(borrowing device: any Reader, cancellation: CancellationToken) {
        self.device = device
        self.cancellation = cancellation
        closesAtEnd = false
    }

    /// The reader's ID, name and limits.
    public var information: ReaderInformation { device.information }

    /// Switches the field off and releases the device. Further calls do nothing.
    public func close() { device.close() }

    /// Ends what the reader is doing; afterwards, it can only be closed.
    public func cancel() { cancellation.cancel() }

    deinit {
        if closesAtEnd { device.close() }
    }

    /// Waits for a card.
    ///
    /// - Parameters:
    ///   - query: the card to wait for; any card by default.
    ///   - timeout: how long to wait; `nil` waits until a card arrives or the reader is cancelled.
    /// - Returns: the card, selected.
    /// - Throws: ``KazasuError/noCard`` if none arrived in time, ``KazasuError/wrongCard(_:)`` if another kind of card
    ///   stays on the reader, ``KazasuError/severalCards(_:)``, ``KazasuError/heard(_:)`` if something answered that could
    ///   not be selected, and ``KazasuError/reading(_:)`` if the reader failed.
    public func waitForCard(
        _ query: CardQuery = .any, timeout: Duration? = .seconds(10)
    ) throws(KazasuError) -> Card {
        let wait = CardWait(timeout, clock: clock)
        while true {
            let cards = try waitForCards(query, wait)
            if cards.areSeveral { throw several(cards) }
            guard let first = cards.first else { throw .noCard }
            if let card = try select(first, foundBy: query) { return card }
            if wait.isOver { throw .noCard }
        }
    }

    /// Selects the first card of a search, which may have looked for cards of other technologies after it.
    ///
    /// - Returns: the card, selected, as it answers now; `nil` if it left.
    package func select(_ card: Card, foundBy query: CardQuery) throws(KazasuError) -> Card? {
        guard query.search.looksForMore else { return card }
        let request = card.found.request
        do throws(TransportError) {
            return try device.activate(request).map { Card(FoundCard(picc: $0, request: request), reader: self) }
        } catch {
            guard error != .noAnswer, error != .cardReleased else { return nil }
            throw KazasuError(error, of: information.id)
        }
    }

    /// An event while a reader waits.
    package enum WaitEvent {
        /// No card is there yet.
        case waiting
        /// A card of another kind is there, and the wait continues.
        case wrongCard(WrongCard)
    }

    /// Waits for a card, or for all that answer at the same time: a phone answers as several. The one that answered last
    /// is selected.
    ///
    /// What lies there already is found at once. Of what comes later, cards that answer the transit system are noticed
    /// within half a second, other FeliCa cards within about two (``CardWait``). A wrong card ends the wait unless
    /// `passesOver` is true.
    package func waitForCards(
        _ query: CardQuery, _ wait: CardWait, passesOver: Bool = false, _ tell: (WaitEvent) -> Void = { _ in }
    ) throws(KazasuError) -> [Card] {
        var slice = wait.firstSlice
        var seen: WrongCard?
        var isWaiting = false
        wait.heard.forget()
        while true {
            var wrong: WrongCard?
            switch try look(query, slice) {
            case .found(let found): return found.map { Card($0, reader: self) }
            case .wrong(let card):
                wrong = card
                if seen != nil { wait.pauseForWrongCard() }
            case .nothing: wrong = otherKind(than: query.kind, last: seen, slice.look)
            }
            let next = wait.nextSlice
            if wrong == nil, wait.takesCloserLook(isLast: next == nil) {
                switch try lookCloser(query, wait) {
                case .found(let found): return found.map { Card($0, reader: self) }
                case .wrong(let card): wrong = card
                case .nothing: break
                }
            }
            if wrong != nil { wait.expectOtherSystems() }
            if cancellation.isCancelled { throw .cancelled }
            if let wrong {
                if next == nil || !passesOver && seen?.isLike(wrong) == true { throw .wrongCard(wrong) }
                if passesOver, seen?.isLike(wrong) != true {
                    tell(.wrongCard(wrong))
                    isWaiting = false
                }
            } else {
                if next != nil, !isWaiting { tell(.waiting) }
                isWaiting = true
            }
            guard let next else { throw wait.heard.best.map { .heard($0) } ?? .noCard }
            (seen, slice) = (wrong, next)
        }
    }

    private enum WaitResult {
        case found([FoundCard])
        case wrong(WrongCard)
        case nothing
    }

    private func look(
        _ query: CardQuery, _ wait: CardWait
    ) throws(KazasuError) -> WaitResult {
        let finder = CardFinder(reader: device, cancellation: cancellation, heard: wait.heard)
        do throws(ReadingError) {
            switch query.search {
            case .systems(let codes, let requestCode):
                switch try finder.find(codes, requestCode: requestCode, for: wait) {
                case .found(let found): return .found([found])
                case .other(let card): return .wrong(WrongCard(card, .noSystem(codes)))
                case .nothing: return .nothing
                }
            case .each(let technologies):
                let found = try finder.findAll(technologies, for: wait)
                return found.isEmpty ? .nothing : .found(found)
            case .first(let requests):
                return try finder.findFirst(requests, for: wait).map { .found([$0]) } ?? .nothing
            case .firstOf(let technologies):
                return try finder.findFirst(technologies, for: wait).map { .found([$0]) } ?? .nothing
            case .isoDEP(let technologies):
                switch try finder.findISODEP(technologies, for: wait) {
                case .found(let found): return .found([found])
                case .other(let card): return .wrong(WrongCard(card, .noISODEP))
                case .nothing: return .nothing
                }
            case .tag:
                guard let found = try finder.findFirst(ActivationRequest.tags, for: wait) else { return .nothing }
                return found.mayBeTag ? .found([found]) : .wrong(WrongCard(found.picc, .kind(wanted: .tag)))
            }
        } catch {
            throw KazasuError(error)
        }
    }

    /// Looks for what an ordinary search does not find.
    ///
    /// - Throws: ``KazasuError/severalCards(_:)`` for several FeliCa cards, unless a card of each kind is wanted.
    private func lookCloser(_ query: CardQuery, _ wait: CardWait) throws(KazasuError) -> WaitResult {
        let finder = CardFinder(reader: device, cancellation: cancellation, heard: wait.heard)
        let look: CardFinder.CloserLook
        do throws(ReadingError) {
            look = try finder.lookCloser(query.technologiesOfCloserLook, for: wait)
        } catch {
            throw KazasuError(error)
        }
        switch look {
        case .nothing: return .nothing
        case .arrived: return try self.look(query, wait.look)
        case .several(let found):
            if case .each = query.search { return .found(found) }
            throw several(found.map { Card($0, reader: self) })
        case .withoutISODEP(let found):
            switch query.search {
            case .each, .first, .firstOf: return .found([found])
            case .isoDEP: return .wrong(WrongCard(found.picc, .noISODEP))
            case .tag: if found.mayBeTag { return .found([found]) }
            case .systems: break
            }
            return .wrong(wrongCard(found, wanted: query.kind))
        }
    }

    /// The error for several cards, which are named by what can be read of them.
    private func several(_ cards: [Card]) -> KazasuError { .severalCards(cards.map { $0.purseName() }) }

    /// The card of another kind that is on the reader, if any.
    private func otherKind(
        than wanted: CardQuery.Kind, last: WrongCard?, _ wait: CardWait
    ) -> WrongCard? {
        let others = CardFinder.usualOrder.filter { !wanted.technologies.contains($0) }
        guard !others.isEmpty else { return nil }
        let finder = CardFinder(reader: device, cancellation: cancellation, heard: wait.heard)
        // The reader has just looked for cards; if it cannot look for these, nothing more is known.
        guard let found = (try? finder.findAll(others, for: wait))?.first else { return nil }
        // A card that stays is not identified again; its UID may differ each time.
        if let last, last.card.technology == found.picc.technology { return last }
        return wrongCard(found, wanted: wanted)
    }

    /// A card of the wrong kind, identified as well as possible.
    package func wrongCard(_ found: FoundCard, wanted: CardQuery.Kind) -> WrongCard {
        let kinds = (try? Card(found, reader: self).identify()) ?? []
        return WrongCard(
            found.picc, names: kinds.map(\.kind.name), kinds: kinds.map(\.kind.id), .kind(wanted: wanted))
    }
}

extension [Card] {
    /// Whether they are cards of one kind, of which a search wanted one.
    package var areSeveral: Bool { count > 1 && Set(map(\.technology)).count < count }
}
