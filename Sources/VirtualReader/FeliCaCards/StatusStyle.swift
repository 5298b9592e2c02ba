// SPDX-License-Identifier: Apache-2.0

/// How status flag 1 names the place in a list that an error belongs to; the raw values are those of card files.
///
/// Source: the unofficial user's manual (ordinal, bitmap) and felica-tool (a third kind that never says).
public enum StatusStyle: String, Hashable, Sendable, CaseIterable {
    /// The place counted from 1: the tenth element is 0A.
    case ordinal
    /// A bit of its own for each of eight places, used again for the next eight: the tenth element is 02.
    case bitmap
    /// Always FF.
    case always255

    /// Status flag 1 for the element at `place`, counted from 0.
    func flag(at place: Int) -> UInt8 {
        switch self {
        case .ordinal: UInt8(clamping: place + 1)
        case .bitmap: 1 << UInt8(truncatingIfNeeded: place & 7)
        case .always255: 0xFF
        }
    }
}
