// SPDX-License-Identifier: Apache-2.0

/// What a Type 2 Tag protects; what is written to the configuration pages holds from the next selection on, as nfcpy
/// expects it.
struct Type2Protection: Hashable, Sendable {
    /// The first page that needs the password; pages from there on may be open to reading.
    var firstProtected = Int.max
    /// Whether reading needs the password, too.
    var protectsReading = false
    /// Whether the first two configuration pages cannot be written any more.
    var locksConfiguration = false
    /// How many wrong passwords lock the tag for good; 0 for no limit.
    var wrongPasswords = 0
    /// The key of an Ultralight C, K1 before K2; empty for others.
    var key: [UInt8] = []
}
