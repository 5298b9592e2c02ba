// SPDX-License-Identifier: Apache-2.0

/// A card that a reader found and selected (the standard's word: proximity integrated circuit card).
@nonexhaustive
public enum PICC: Hashable, Sendable {
    /// A FeliCa card.
    case felica(FeliCaTarget)
}
