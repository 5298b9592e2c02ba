// SPDX-License-Identifier: Apache-2.0

/// How a card writes the place of an error in Status Flag 1. Sources: the unofficial user's manual (ordinal, bitmap),
/// felica-tool (always FF).
public enum StatusFlagStyle: Hashable, Sendable, CaseIterable {
    /// The entry's place in the list, counted from 1: the tenth is `0A`.
    case ordinal
    /// Bit i stands for entry i or i + 8, counted from 0: the tenth is `02`. FeliCa Lite does so.
    case bitmap
    /// `FF`, whichever entry it is.
    case alwaysFF
}
