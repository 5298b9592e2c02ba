// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import NFCTransport

/// Rounds of looking for a card.
struct CardSearch {
    let reader: any Reader
    let cancellation: CancellationToken

    /// What a round came to.
    enum Round<Finding> {
        /// The search is over.
        case over(Finding)
        /// Something is there: the next round follows at once.
        case again
        /// Nothing is there.
        case nothing
    }

    /// Goes on until a round ends it.
    ///
    /// - Parameter timeout: how long to go on; zero for one round, `nil` for ever.
    /// - Returns: `nil` when no round ended it in time.
    func rounds<Finding>(
        within timeout: Duration?, _ round: () throws(ReadingError) -> Round<Finding>
    ) throws(ReadingError) -> Finding? {
        let clock = ContinuousClock()
        let deadline = timeout.map { clock.now + $0 }
        while true {
            let start = clock.now
            switch try round() {
            case .over(let finding): return finding
            case .again: continue
            case .nothing: break
            }
            if let deadline, clock.now >= deadline { return nil }
            try Pause.afterRound(from: start, on: reader, until: deadline)
        }
    }

    /// How often a Polling whose answer came damaged is sent in all; readers repeat the requests of type A and B themselves.
    private static let pollings = 3

    /// Looks once. A card whose answer came damaged is asked again at once, or another one of its systems would be found
    /// first; when that goes on, it counts as none, and the next round asks again.
    func activate(_ request: ActivationRequest) throws(ReadingError) -> PICC? {
        for _ in 0..<(request.technology == .felica ? Self.pollings : 1) {
            if cancellation.isCancelled { throw .cancelled }
            do {
                return try reader.activate(request)
            } catch {
                guard error.isTransient else { throw CardSession.readingError(error) }
            }
        }
        return nil
    }
}
