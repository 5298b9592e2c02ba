// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Which card a reader is to look for.
@nonexhaustive
public enum ActivationRequest: Hashable, Sendable {
    /// A FeliCa card with this system, by one Polling at this bit rate.
    case felica(SystemCode, requestCode: UInt8 = 0, timeSlots: UInt8 = 0, bitRate: FeliCaBitRate = .kbps212)
    /// A card of ISO 14443 type A, at 106 kbit/s; one that speaks ISO-DEP is brought into it, unless `isoDEP` is
    /// false.
    case typeA(isoDEP: Bool = true)
    /// A card of ISO 14443 type B of this application family, 0 for any, at 106 kbit/s, brought into ISO-DEP.
    case typeB(applicationFamily: UInt8 = 0)

    /// The kind of card that is looked for.
    public var technology: Technology {
        switch self {
        case .felica: .felica
        case .typeA: .typeA
        case .typeB: .typeB
        }
    }
}
