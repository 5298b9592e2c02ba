// SPDX-License-Identifier: Apache-2.0

/// How the blocks of a FeliCa service behave; the raw values are those of `kazasu.scan/1`.
public enum ServiceKind: String, Hashable, Sendable {
    /// Each block is read and written on its own.
    case random
    /// A ring: block 0 is always the newest.
    case cyclic
    /// A counter with checks on how it may change.
    case purse
}
