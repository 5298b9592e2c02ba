// SPDX-License-Identifier: Apache-2.0

/// Why something cannot be enciphered or deciphered.
@nonexhaustive
public enum CipherError: Error, Hashable, Sendable {
    /// The key does not have so many bytes.
    case keyLength(expected: Int, given: Int)
    /// The data is no multiple of eight bytes.
    case dataLength(Int)
}
