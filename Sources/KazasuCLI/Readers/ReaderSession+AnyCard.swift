// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import NFCTransport

extension ReaderSession {
    /// Waits for a card of one of these kinds.
    ///
    /// - Returns: what answered, in this order; a phone answers as several kinds.
    /// - Throws: ``Failure`` with status 75 when none came.
    func findAny(_ technologies: [Technology]) throws(Failure) -> [PICC] {
        let finder = AnyCardFinder(reader: reader, cancellation: context.cancellation)
        return try wait(for: .any) { time throws(ReadingError) in
            let found = try finder.find(technologies, timeout: time)
            return found.isEmpty ? .nothing : .found(found)
        }
    }

    /// Which kinds of card these are: by the answers that they gave, and by their applications when those are asked for.
    func recognize(_ cards: [PICC], askingApplications asks: Bool) throws(Failure) -> [PolledCard] {
        var polled: [PolledCard] = []
        for card in cards {
            var kinds = [CardRecognizer.recognize(card)].compactMap { $0 }
            if asks, card.isISODEP { kinds = try applications(of: card) ?? kinds }
            polled.append(PolledCard(card: card, kinds: kinds))
        }
        return polled
    }

    /// What the card's applications say it is; `nil` when they say nothing, or another card is there now.
    private func applications(of card: PICC) throws(Failure) -> [RecognizedCard]? {
        let request: ActivationRequest = card.technology == .typeA ? .typeA() : .typeB()
        let found: PICC?
        do {
            found = try reader.activate(request)
        } catch {
            throw Failure(error)
        }
        guard let found, found.isISODEP else { return nil }
        do {
            let kinds = try CardRecognizer(reader: reader, picc: found, request: request).applications()
            return kinds.isEmpty ? nil : kinds
        } catch {
            throw Failure(error)
        }
    }
}
