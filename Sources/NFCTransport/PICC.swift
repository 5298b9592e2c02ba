// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A card that a reader found and selected (the standard's word: proximity integrated circuit card).
@nonexhaustive
public enum PICC: Hashable, Sendable {
    /// A FeliCa card.
    case felica(FeliCaTarget)
    /// A card of ISO 14443 type A.
    case typeA(TypeATarget)
    /// A card of ISO 14443 type B.
    case typeB(TypeBTarget)

    /// The kind of card.
    public var technology: Technology {
        switch self {
        case .felica: .felica
        case .typeA: .typeA
        case .typeB: .typeB
        }
    }

    /// Whether frames to the card are APDUs.
    public var isISODEP: Bool {
        switch self {
        case .felica: false
        case .typeA(let target): target.isISODEP
        case .typeB: true
        }
    }
}
