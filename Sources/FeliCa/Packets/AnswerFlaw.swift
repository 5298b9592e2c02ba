// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What is wrong with an answer.
@nonexhaustive
public enum AnswerFlaw: Hashable, Sendable {
    /// No byte at all.
    case empty
    /// The LEN byte and the number of bytes that came differ.
    case length(declared: Int, received: Int)
    /// It answers another command; the byte or two bytes where the response code is.
    case responseCode(UInt16)
    /// It came from another card, or another system of the card.
    case idm(IDm)
    /// A field is not there in full; `missing` bytes more were needed.
    case tooShort(missing: Int)
    /// `extra` bytes came after the last field.
    case trailingBytes(extra: Int)
    /// It holds another number of entries than was asked for.
    case count(expected: Int, received: Int)
    /// A field holds a value that its definition has no place for.
    case value(Field, UInt16)
    /// The bytes that came back are not those that were sent: Echo.
    case echo

    /// Fields that have few legal values.
    @nonexhaustive
    public enum Field: Hashable, Sendable {
        /// The mode in Request Response, 0 to 3.
        case mode
        /// The format version in Request Specification Version, 0.
        case formatVersion
    }
}
