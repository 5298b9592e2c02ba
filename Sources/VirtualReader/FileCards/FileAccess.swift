// SPDX-License-Identifier: Apache-2.0

/// What a file of a virtual card demands before it is read or written.
public enum FileAccess: Hashable, Sendable {
    /// Nothing.
    case always
    /// It is refused with this status word, whatever was verified; 6982 says that something is missing.
    case never(status: UInt16 = 0x6982)
    /// That the PINs with these names were verified.
    case pins([String])
}
