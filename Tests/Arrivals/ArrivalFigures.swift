// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import CardReading
internal import Glibc
package import ReaderCore
package import VirtualReader

/// What a search makes of cards that come at random moments of its first three seconds: how many phones open their
/// wallet, and how long other cards wait.
///
/// The search is that of `balance` once it waits. The field's ``CardVisits`` put the card there.
package struct ArrivalFigures: CustomStringConvertible {
    /// A kind of card that comes.
    package enum Kind: String, CaseIterable, Sendable {
        /// A phone with an Express transit card.
        case phone
        /// A FeliCa card without the transit system.
        case other
    }

    /// How often the card comes: `KAZASU_PHONES`, or a few times.
    package static let arrivals = getenv("KAZASU_PHONES").flatMap { unsafe Int(String(cString: $0)) } ?? 60
    /// The time in which the card comes.
    package static let window = Duration.milliseconds(3000)
    /// The longest time that other cards may wait on average.
    package static let waitLimit = Duration.seconds(1)
    /// How long to search: a phone whose wallet has opened is not found.
    private static let patience = Duration.seconds(8)

    package let kind: Kind
    package private(set) var arrivals = 0
    /// How many were found: phones by the transit system.
    package private(set) var found = 0
    /// How long those that were found had been there, in all.
    private var waited = Duration.zero
    /// What went wrong, one sentence each.
    package private(set) var faults: [String] = []

    /// Searches for the card so often.
    ///
    /// - Parameters:
    ///   - reader: a reader before whose field such a card comes and goes.
    ///   - clock: the clock of the search; its pauses have to pass for the field, too.
    ///   - arrivedAt: when the card came, on this clock; without it, the middle of the time in which it comes is taken,
    ///     which is right on average.
    package init(
        _ kind: Kind, _ reader: any Reader, arrivals: Int, clock: SearchClock = .system,
        arrivedAt: () -> Duration? = { nil }
    ) {
        self.kind = kind
        for arrival in 1...max(arrivals, 1) {
            clock.pause(CardVisits.pause * 2)
            let start = clock.now()
            let finder = CardFinder(reader: reader)
            do throws(ReadingError) {
                self.arrivals += 1
                guard
                    case .found(let card) = try finder.find(
                        ArrivalSoak.codes, for: CardWait(Self.patience, clock: clock))
                else {
                    continue
                }
                if (card.system == .transit) == (kind == .phone) {
                    found += 1
                    waited += clock.now() - (arrivedAt() ?? start + Self.window / 2)
                } else {
                    faults.append("arrival \(arrival): \(card.request)")
                }
                if let target = card.feliCa { ArrivalSoak.leave(reader, target) }
            } catch {
                faults.append("arrival \(arrival): \(error)")
                if case .reader = error { return }
            }
        }
        if kind == .other, found < self.arrivals { faults.append("\(self.arrivals - found) cards were not found") }
    }

    /// How many phones opened their wallet, in percent.
    package var openedPercent: Double { 100 * Double(arrivals - found) / Double(max(arrivals, 1)) }

    /// How long a card waited on average.
    package var averageWait: Duration { waited / max(found, 1) }

    /// Whether at most 2 % of the phones opened their wallet, and other cards waited for a second at most on average.
    ///
    /// Few arrivals prove something only with an allowance: of phones one more, and three times the standard error, since
    /// tests that run often meet what is rare; of waits twice the standard error of those between nothing and two seconds.
    package var isMet: Bool {
        guard faults.isEmpty, found > 0 else { return false }
        switch kind {
        case .phone:
            let expected = Double(arrivals) / 50
            return Double(arrivals - found) <= expected + 3 * expected.squareRoot() + 1
        case .other:
            let error = Duration.milliseconds(1155 / Double(found).squareRoot())
            return averageWait <= Self.waitLimit + error
        }
    }

    package var description: String {
        let milliseconds = Int(averageWait / .milliseconds(1))
        return switch kind {
        case .phone:
            "\(arrivals) phones: \(arrivals - found) opened their wallet (\(openedPercent) %), others found after \(milliseconds) ms"
        case .other: "\(arrivals) cards of other systems: found after \(milliseconds) ms on average"
        }
    }

    /// A field in which such a card comes and goes.
    package static func field(_ kind: Kind, seed: UInt64) throws -> VirtualField {
        let visits = CardVisits(seed: seed, .within(window), startup: .milliseconds(4))
        let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)
        func card(_ code: SystemCode) -> VirtualFeliCaCard {
            let idm = IDm(rawValue: 0x0101_0312_3456_7890)
            return VirtualFeliCaCard(
                systems: [VirtualSystem(code: code, idm: idm, pmm: pmm)], profile: CardProfile(pmm: pmm))
        }
        switch kind {
        case .phone: return VirtualField(cards: [VirtualPhone(express: card(.transit))], visits: visits)
        case .other: return VirtualField(cards: [card(.commonArea)], visits: visits)
        }
    }
}

extension SearchClock {
    /// The clock of a simulated field: pauses are over at once, and pass for its cards.
    package static func of(_ field: VirtualField) -> SearchClock {
        SearchClock(now: { field.now }, pause: { field.pass($0) })
    }
}
