// SPDX-License-Identifier: Apache-2.0

import CardModel

extension Redaction {
    /// A card whose own number is masked. A UID keeps its first byte, which names the manufacturer, a PUPI nothing.
    func apply(_ card: CardIdentity) -> CardIdentity {
        guard isOn else { return card }
        var masked = card
        masked.idm = card.idm.map(apply)
        masked.uid = card.uid.map(apply(uid:))
        masked.pupi = card.pupi.map { [UInt8](repeating: 0, count: $0.count) }
        return masked
    }

    /// A UID of type A.
    func apply(uid: [UInt8]) -> [UInt8] {
        isOn ? Array(uid.prefix(1)) + [UInt8](repeating: 0, count: max(0, uid.count - 1)) : uid
    }
}
