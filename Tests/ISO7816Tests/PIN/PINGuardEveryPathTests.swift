// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import TestSupport
import Testing

/// Every counter, with every fault at every exchange, with right and wrong PINs, with and without consent.
@Suite("The PIN guard on every path")
struct PINGuardEveryPathTests {
    static let counters: [CountingCard.Counter] =
        [0, 1, 2, 3, 10, 15].flatMap { count in [0x6983, 0x6984, 0x63C0].map { .counts(count, locked: $0) } }
        + [
            0x6300, 0x6700, 0x63FF, 0x6381, 0x6200, 0x6A88, 0x6A86, 0x6D00, 0x6E00, 0x6982, 0x6985, 0x6100, 0x6C04,
            0x9001, 0xFFFF, 0x0000, 0x9000,
        ].map { .word($0) }

    /// More than any path has.
    static let exchanges = 14

    static let pins: [(String, String)] = [("2525", "1234"), ("9999", "1234"), ("2525", "9999"), ("9999", "9999")]

    private static func mayBeLast(_ counter: CountingCard.Counter) -> Bool {
        switch counter {
        case .counts(let count, _): count <= 1
        case .word: true
        }
    }

    private static func tellsNothing(_ counter: CountingCard.Counter) -> Bool {
        guard case .word(let word) = counter else { return false }
        return word != 0x6300 && word != 0x6700
    }

    @Test(arguments: counters) func holds(_ counter: CountingCard.Counter) {
        var faults: [(CountingCard.InjectedFault, Int)?] = [nil]
        for fault in CountingCard.InjectedFault.allCases {
            faults += (1...PINGuardEveryPathTests.exchanges).map { (fault, $0) }
        }
        let consents = [(false, false), (true, false), (true, true)]
        let ways = PINGuardEveryPathTests.pins.flatMap { pins in consents.map { (pins, $0) } }
        for (number, fault) in faults.enumerated() {
            // A quarter of the ways with each fault, another quarter with the next; each of them in a long run.
            for (way, (pins, consents)) in ways.enumerated() where TestEffort.factor > 1 || way % 4 == number % 4 {
                walk(counter, fault, pins, allows: consents.0, agrees: consents.1)
            }
        }
    }

    private func walk(
        _ counter: CountingCard.Counter, _ fault: (CountingCard.InjectedFault, Int)?, _ pins: (String, String),
        allows: Bool,
        agrees: Bool
    ) {
        let card = CountingCard(counter, right: PINGuardTests.secrets, fault: fault)
        let session = PINGuardTests.session(card)
        var agreed = 0
        let consent = PINConsent(allowsLastTry: allows) { _, _ in
            if agrees { agreed += 1 }
            return agrees
        }
        // A caller that does not give up: whatever happens, it tries again with new values.
        var successes = 0
        for _ in 0..<3 {
            let requests = PINGuardTests.requests(pins.0, pins.1)
            if (try? session.pinGuard.verify(requests, in: session, consent: consent)) != nil { successes += 1 }
            #expect(requests.allSatisfy { $0.pin.isSpent })
        }
        // Made only where an expectation fails: there are a hundred thousand walks.
        var place: String { "\(counter), \(fault.map { "\($0)" } ?? "no fault"), \(pins), \(allows), \(agrees)" }
        for p2 in [0x81, 0x82] as [UInt8] {
            #expect(card.sentPINs.count { $0.p2 == p2 } <= 1, "\(place)")
        }
        if PINGuardEveryPathTests.mayBeLast(counter) {
            #expect(card.sentPINs.count <= agreed, "nothing without consent: \(place)")
        }
        if PINGuardEveryPathTests.tellsNothing(counter) {
            #expect(card.sentPINs.isEmpty, "nothing to a card that tells nothing: \(place)")
        }
        if card.sentPINs.contains(where: { $0.p2 == 0x82 }) {
            #expect(pins.0 == "2525", "not after a first that failed: \(place)")
        }
        // Each PIN costs at most one try.
        for (p2, left) in card.tries {
            if case .counts(let count, _) = counter { #expect(left >= count - 1, "\(p2): \(place)") }
        }
        if fault == nil, pins == ("2525", "1234"), case .counts(2..., _) = counter {
            #expect(card.sentPINs.count == 2 && successes == 1, "\(place)")
        }
    }
}
