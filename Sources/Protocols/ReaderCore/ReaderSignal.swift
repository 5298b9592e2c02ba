// SPDX-License-Identifier: Apache-2.0

/// What a reader shows the person before it.
///
/// ``fault`` differs from ``no``: nothing has decided, and nothing may be concluded from it.
@nonexhaustive
public enum ReaderSignal: String, Hashable, Sendable, CaseIterable {
    /// Accepted: green, and one short beep.
    case yes
    /// Refused: red, and three beeps.
    case no
    /// Nothing has decided: both colors, and one long beep.
    case fault
    /// The lights are off, as between two cards.
    case off
}
