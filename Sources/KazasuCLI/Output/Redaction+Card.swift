// SPDX-License-Identifier: Apache-2.0

import CardModel

extension Redaction {
    /// A card whose own number is masked. A UID keeps its first byte, which names the manufacturer, a PUPI nothing.
    func apply(_ card: CardIdentity) -> CardIdentity {
        guard isOn else { return card }
        var masked = card
        masked.idm = card.idm.map(apply)
        masked.uid = card.uid.map { $0.prefix(1) + $0.dropFirst().map { _ in 0 } }
        masked.pupi = card.pupi.map { $0.map { _ in 0 } }
        return masked
    }
}
