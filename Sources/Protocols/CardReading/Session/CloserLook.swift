// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import FeliCa
package import ReaderCore

/// What was heard during a wait of cards that could not be selected.
package final class HeardLog {
    private var counts: [Heard: Int] = [:]

    package init() {}

    /// The most exact of what was heard; `nil` for nothing at all.
    package var best: Heard? {
        counts.keys.min { left, right in
            let order = CardFinder.usualOrder
            let places = (order.firstIndex(of: left.technology) ?? 0, order.firstIndex(of: right.technology) ?? 0)
            return (left.rank, places.0) < (right.rank, places.1)
        }
    }

    /// How often cards of this kind were heard; of any kind for `nil`.
    func count(_ technology: Technology? = nil) -> Int {
        counts.filter { technology == nil || $0.key.technology == technology }.values.reduce(0, +)
    }

    func note(_ heard: Heard) { counts[heard, default: 0] += 1 }

    /// Begins a new wait.
    package func forget() { counts = [:] }
}

/// A look for cards that no ordinary search finds: two FeliCa cards in one wallet, which answer every Polling at the same
/// moment, and cards of type A that name ISO-DEP in their SAK but do not start it.
///
/// It follows a search that found nothing, since it wakes no phone and takes 50 ms. A reader that hears damaged answers
/// needs it only after such; others get it once a second.
extension CardFinder {
    /// The result of a closer look.
    package enum CloserLook {
        case nothing
        /// Several FeliCa cards, told apart by time slots.
        case several([FoundCard])
        /// A card of type A that does not start ISO-DEP, selected without it.
        case withoutISODEP(FoundCard)
        /// A card that an ordinary search finds: it has just arrived.
        case arrived
    }

    /// How many Pollings with time slots are sent when one was answered. Two cards share a slot in one of 16, and of those
    /// that do not, the reader returns the first.
    private static let slottedLooks = 10
    /// How many may remain unanswered before nothing is taken to be there.
    private static let unansweredLooks = 2

    /// Looks more closely.
    ///
    /// - Parameters:
    ///   - technologies: the kinds of card to look for.
    ///   - wait: the wait that it belongs to; other systems than the transit one are polled for at its end only.
    /// - Throws: ``ReadingError`` if the reader failed or work was cancelled.
    package func lookCloser(
        _ technologies: [Technology] = usualOrder, for wait: CardWait
    ) throws(ReadingError) -> CloserLook {
        let information = reader.information
        let isSuspected = { (technology: Technology) in
            technologies.contains(technology) && information.technologies.contains(technology)
                && (!information.hearsFailures || heard.count(technology) > 0)
        }
        if isSuspected(.felica) {
            for code in wait.isOver || information.hearsFailures ? Self.anySystem : [.transit] {
                let cards = try crowd(code)
                if cards.count > 1 { return .several(cards) }
                if !cards.isEmpty { return .arrived }
            }
        }
        guard isSuspected(.typeA) else { return .nothing }
        let bare = ActivationRequest.typeA(isoDEP: false)
        guard let found = try answer(to: [.typeA(), bare]) else { return .nothing }
        return found.request == bare ? .withoutISODEP(found) : .arrived
    }

    /// Returns the FeliCa cards that answer Pollings with 16 time slots.
    private func crowd(_ code: SystemCode) throws(ReadingError) -> [FoundCard] {
        let request = ActivationRequest.felica(code, requestCode: 1, timeSlots: 15, bitRate: .kbps212)
        var cards: [FoundCard] = []
        var unanswered = 0
        for _ in 0..<Self.slottedLooks {
            if cancellation.isCancelled { throw .cancelled }
            guard let found = try answer(to: [request]), let target = found.feliCa else {
                unanswered += 1
                if cards.isEmpty, unanswered == Self.unansweredLooks { break }
                continue
            }
            // A phone may have another IDm each time.
            let isKnown = cards.compactMap(\.feliCa).contains { known in
                known.idm.isSameCard(as: target.idm) || known.pmm == target.pmm && PhoneModel.isPhone(target.pmm)
            }
            if !isKnown { cards.append(found) }
        }
        return cards
    }

    /// The answer to requests that a reader, or a recording, need not know.
    private func answer(to requests: [ActivationRequest]) throws(ReadingError) -> FoundCard? {
        do throws(ReadingError) {
            return try firstAnswer(to: requests)
        } catch {
            switch error {
            case .reader(.unsupported), .reader(.outOfScript): return nil
            default: throw error
            }
        }
    }
}
