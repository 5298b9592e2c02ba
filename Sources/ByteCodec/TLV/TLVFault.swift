// SPDX-License-Identifier: Apache-2.0

/// Why bytes are no data objects, and where.
public struct TLVFault: Error, Hashable, Sendable {
    /// Where the object begins that is wrong, counted from the first byte that was given.
    public let offset: Int
    /// What is wrong with it.
    public let reason: Reason

    /// What is wrong with a data object.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The bytes end within the tag.
        case truncatedTag
        /// A tag that the standard has no place for: 00, or one of more than three bytes.
        case invalidTag
        /// The bytes end within the length.
        case truncatedLength
        /// Length byte 80, which ISO/IEC 7816-4 does not allow.
        case indefiniteLength
        /// A length byte of 85 or more.
        case invalidLength
        /// The length says `missing` bytes more than there are.
        case truncatedValue(missing: Int)
        /// Strict reading: a length in more bytes than it needs.
        case lengthNotMinimal
        /// Strict reading: objects are nested deeper than ``BERTLV/deepestNesting``.
        case tooDeep
    }

    /// A fault at an offset.
    public init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    /// The same fault in bytes that begin `distance` later.
    func moved(by distance: Int) -> TLVFault {
        TLVFault(offset: offset &+ distance, reason: reason)
    }
}
