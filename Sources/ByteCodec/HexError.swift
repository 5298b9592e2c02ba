// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a hexadecimal text; `offset` counts UTF-8 bytes from 0.
@nonexhaustive
public enum HexError: Error, Hashable, Sendable {
    /// A character that is neither a digit nor a separator.
    case notADigit(offset: Int)
    /// A byte of which only one digit is there: this one.
    case oddDigits(offset: Int)
}
