// SPDX-License-Identifier: Apache-2.0

import NFCTransport

/// A card that InListPassiveTarget or InAutoPoll found.
struct SelectedTarget: Sendable {
    enum Kind: Sendable {
        case felica(FeliCaBitRate)
        /// A card of type A that speaks no ISO-DEP, or that was not brought into it.
        case typeA(TypeAIdentity)
        /// A card in ISO-DEP; what is needed to bring it there again.
        case isoDEP(ISODEPSession, TypeAIdentity?)
    }

    var kind: Kind
    /// Whether InDeselect or InRelease let go of it.
    var isReleased = false
    /// Whether it was halted for another target's sake.
    var isAsleep = false
}
