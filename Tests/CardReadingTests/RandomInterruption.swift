// SPDX-License-Identifier: Apache-2.0

import TestSupport
import VirtualReader

extension InjectedFaults {
    /// As ``interruption(within:_:)``, but two of three times a card that is taken away: much else is survived.
    static func departure(within exchanges: Int, _ random: inout SeededGenerator) -> InjectedFaults {
        guard random.next() % 3 > 0 else { return interruption(within: exchanges, &random) }
        let place = Int(random.next() % UInt64(exchanges)) + 1
        guard random.next() % 2 > 0 else { return .cardAway(from: place) }
        let lost = InjectedFaultRule(.silence, .during(place...place))
        return InjectedFaults([lost] + InjectedFaults.cardAway(from: place + 1).rules)
    }

    /// What may happen to a card at any moment: it is taken away, with or without the last command carried out; it is away for
    /// a moment; answers are lost, damaged or changed; or all of it now and then.
    ///
    /// - Parameter exchanges: how far away at most.
    static func interruption(within exchanges: Int, _ random: inout SeededGenerator) -> InjectedFaults {
        let place = Int(random.next() % UInt64(exchanges)) + 1
        let length = Int(random.next() % 5)
        switch random.next() % 6 {
        case 0: return .cardAway(from: place)
        case 1:
            let lost = InjectedFaultRule(.silence, .during(place...place))
            return InjectedFaults([lost] + InjectedFaults.cardAway(from: place + 1).rules)
        case 2: return .cardAway(from: place, until: place + length + 1)
        case 3:
            let offset = Int(random.next() % 40)
            return [InjectedFaultRule(.flipped(offset: offset, mask: 0x10), .during(place...place + length))]
        case 4: return [InjectedFaultRule(.damaged(status: 2), .during(place...place + length * 2))]
        default:
            return [
                InjectedFaultRule(.absent, .random(perThousand: 20, seed: random.next())),
                InjectedFaultRule(.silence, .random(perThousand: 40, seed: random.next())),
            ]
        }
    }
}
