// SPDX-License-Identifier: Apache-2.0

/// Why a command APDU cannot be sent, or why bytes are none.
@nonexhaustive
public enum APDUFlaw: Error, Hashable, Sendable {
    /// Fewer than the four bytes of the header.
    case tooShort(length: Int)
    /// Lc, Le and the number of bytes fit none of the standard's cases.
    case inconsistentLength(length: Int)
    /// Data of this many bytes: more than 65,535, or more than 255 in the short form.
    case dataTooLong(Int)
    /// This many bytes are asked for: below 0, above 65,536, or above 256 in the short form.
    case expectedLength(Int)
    /// The data has to be sent in a chain, and the class of the command has no chaining.
    case noChaining(ClassByte)
    /// An offset that no command can name: below 0, or too large for this form of the command.
    case offset(Int)
    /// A list that must not be empty, or has more than the command can carry.
    case count(Int)
}
