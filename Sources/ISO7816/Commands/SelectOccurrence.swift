// SPDX-License-Identifier: Apache-2.0

/// Which of several files with the same name a SELECT means: bits 2 and 1 of P2.
public enum SelectOccurrence: UInt8, Hashable, Sendable, CaseIterable {
    /// The first, or the only one.
    case first = 0
    /// The last.
    case last = 1
    /// The next after the current one.
    case next = 2
    /// The one before the current one.
    case previous = 3
}
