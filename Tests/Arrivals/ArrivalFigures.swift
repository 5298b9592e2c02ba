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
        /// A phone with an Express transit card alone, which answers from the fourth Polling.
        case phone
        /// The same with a card of type A in its wallet, met by a search for cards of each kind.
        case phoneTypeA = "phone-type-a"
        /// A phone that answers from the second Polling.
        case quickPhone = "quick-phone"
        /// A phone that needs 75 ms to start; the slowest reported one needs 50.
        case slowPhone = "slow-phone"
        /// A phone that comes when the search has lasted for three to nine seconds.
        case latePhone = "late-phone"
        /// A FeliCa card without the transit system.
        case other
        /// A phone that comes to a watch on whose reader nobody has put a card for a while.
        case idlePhone = "idle-phone"
        /// The same of a phone that answers from the second Polling.
        case idleQuickPhone = "idle-quick-phone"
        /// A FeliCa card without the transit system that comes to such a watch.
        case idleOther = "idle-other"

        /// The kinds to try: `KAZASU_ARRIVING`, names with spaces between, or `all`; a phone and another card by default.
        package static let chosen: [Kind] = {
            guard let text = getenv("KAZASU_ARRIVING").map({ unsafe String(cString: $0) }) else {
                return [.phone, .other]
            }
            if text == "all" { return allCases }
            return text.split(separator: " ").map { name in
                guard let kind = Kind(rawValue: String(name)) else { fatalError("no kind is called \(name)") }
                return kind
            }
        }()

        /// Whether it is a phone.
        package var isPhone: Bool { self != .other && self != .idleOther }

        /// Whether it comes to an idle watch.
        private var isIdle: Bool { [.idlePhone, .idleQuickPhone, .idleOther].contains(self) }

        /// When it comes, from the beginning of the search.
        var window: Range<Duration> {
            isIdle || self == .latePhone
                ? .milliseconds(3000)..<(.milliseconds(9000)) : .zero..<(.milliseconds(3000))
        }

        /// The longest time that a card which is no phone may wait on average.
        ///
        /// A phone opens its wallet if a Polling for any system follows within 55 ms, so that an idle watch, where each moment
        /// is as likely, sends one every 2.75 s at most.
        var waitLimit: Duration { isIdle ? .milliseconds(1500) : .seconds(1) }

        /// The longest time between two Pollings for any system at which such cards come.
        var longestWait: Duration { isIdle ? .seconds(3) : .seconds(2) }

        /// The largest part of the phones that may open their wallet.
        ///
        /// A phone opens it if a Polling for any system reaches it before it has answered: if it came while it starts, and
        /// the time of a Polling, before that. That is 54 ms of three seconds for the reported ones.
        var limit: Double { self == .slowPhone ? 0.03 : 0.02 }

        /// The phone; `nil` for another card.
        func phone(_ express: VirtualFeliCaCard) throws -> VirtualPhone? {
            guard isPhone else { return nil }
            var rules = VirtualPhone.Rules()
            if self == .quickPhone || self == .idleQuickPhone { rules.firstAnswer = 2 }
            if self == .slowPhone { rules.startTime = .milliseconds(75) }
            let others = self == .phoneTypeA ? try VirtualCardFile.loadCards(Array(Self.typeA.utf8)) : []
            return VirtualPhone(express: express, others: others, rules: rules)
        }

        private static let typeA = #"""
            { "schema": "kazasu.card/1", "typeA": { "uid": "random", "sak": "20" },
              "applications": [
                { "aid": "325041592e5359532e4444463031",
                  "information": "6f20840e325041592e5359532e4444463031a50ebf0c0b61094f07a0000000031010" } ] }
            """#
    }

    /// How often the card comes: `KAZASU_PHONES`, or a few times.
    package static let arrivals = getenv("KAZASU_PHONES").flatMap { unsafe Int(String(cString: $0)) } ?? 60
    /// How long to search after the last moment at which a card comes: a phone whose wallet has opened is not found.
    private static let patience = Duration.seconds(5)

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
                let wait = CardWait(kind.window.upperBound + Self.patience, clock: clock)
                guard let card = try kind.find(by: finder, wait) else { continue }
                if (card.system == .transit) == kind.isPhone {
                    found += 1
                    waited +=
                        clock.now() - (arrivedAt() ?? start + (kind.window.lowerBound + kind.window.upperBound) / 2)
                } else {
                    faults.append("arrival \(arrival): \(card.request)")
                }
                if let target = card.feliCa { ArrivalSoak.leave(reader, target) }
            } catch {
                faults.append("arrival \(arrival): \(error)")
                if case .reader = error { return }
            }
        }
        if !kind.isPhone, found < self.arrivals { faults.append("\(self.arrivals - found) cards were not found") }
    }

    /// How many phones opened their wallet, in percent.
    package var openedPercent: Double { 100 * Double(arrivals - found) / Double(max(arrivals, 1)) }

    /// How long a card waited on average.
    package var averageWait: Duration { waited / max(found, 1) }

    /// Whether at most 2 % of the phones (``Kind/limit``) opened their wallet, and other cards waited no longer than ``Kind/waitLimit`` on
    /// average.
    ///
    /// Few arrivals prove something only with an allowance: of phones one more, and three times the standard error, since
    /// tests that run often meet what is rare; of waits twice the standard error of those between nothing and the longest.
    package var isMet: Bool {
        guard faults.isEmpty, found > 0 else { return false }
        switch kind.isPhone {
        case true:
            let expected = Double(arrivals) * kind.limit
            return Double(arrivals - found) <= expected + 3 * expected.squareRoot() + 1
        case false:
            // Times that are spread evenly have a standard deviation of their range divided by the root of twelve.
            let error = kind.longestWait * 2 / (12 * Double(found)).squareRoot()
            return averageWait <= kind.waitLimit + error
        }
    }

    package var description: String {
        let milliseconds = Int(averageWait / .milliseconds(1))
        return switch kind.isPhone {
        case true:
            "\(arrivals) phones (\(kind.rawValue)): \(arrivals - found) opened their wallet (\(openedPercent) %), others found after \(milliseconds) ms"
        case false: "\(arrivals) cards of other systems (\(kind.rawValue)): found after \(milliseconds) ms on average"
        }
    }

    /// Prints a line for the table of `make soak-arrivals` (`Tests/USB/arrivals_table.py`).
    package func report(_ driver: String) {
        Self.report(driver, kind.rawValue, arrivals: arrivals, missed: arrivals - found, wait: averageWait)
    }

    /// The same for what no figures are kept of.
    package static func report(_ driver: String, _ kind: String, arrivals: Int, missed: Int, wait: Duration?) {
        let time = wait.map { "\(Int($0 / .milliseconds(1)))" } ?? ""
        print("arrivals\t\(driver)\t\(kind)\t\(arrivals)\t\(missed)\t\(time)")
    }

    /// A field in which such a card comes and goes.
    package static func field(_ kind: Kind, seed: UInt64) throws -> VirtualField {
        let visits = CardVisits(
            seed: seed, .within(kind.window.upperBound, from: kind.window.lowerBound), startup: .milliseconds(4))
        let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)
        func card(_ code: SystemCode) -> VirtualFeliCaCard {
            let idm = IDm(rawValue: 0x0101_0312_3456_7890)
            return VirtualFeliCaCard(
                systems: [VirtualSystem(code: code, idm: idm, pmm: pmm)], profile: CardProfile(pmm: pmm))
        }
        let phone = try kind.phone(card(.transit))
        return VirtualField(cards: [phone ?? card(.commonArea)], visits: visits)
    }
}

extension ArrivalFigures.Kind {
    /// Searches as `balance` does; for cards of each kind, as `dump` does, where the phone has one of type A; as `watch` does.
    fileprivate func find(by finder: CardFinder, _ wait: CardWait) throws(ReadingError) -> FoundCard? {
        switch self {
        case .phoneTypeA: return try finder.findAll(for: wait).first
        case .idlePhone, .idleQuickPhone, .idleOther:
            let watch = CardWait(nil, clock: wait.clock, pace: .idle)
            while !wait.isOver {
                let part = watch.part(CardWait.beat)
                var slice: CardWait? = part.firstSlice
                while let current = slice {
                    if let card = try finder.findAll(for: current).first { return card }
                    slice = part.nextSlice
                }
            }
            return nil
        default:
            guard case .found(let card) = try finder.find(ArrivalSoak.codes, for: wait) else { return nil }
            return card
        }
    }
}

extension SearchClock {
    /// The clock of a simulated field: pauses are over at once, and pass for its cards.
    package static func of(_ field: VirtualField) -> SearchClock {
        SearchClock(now: { field.now }, pause: { field.pass($0) })
    }
}
