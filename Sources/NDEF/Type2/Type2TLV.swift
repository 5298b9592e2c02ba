// SPDX-License-Identifier: Apache-2.0

/// A block of the data area of a Type 2 Tag: tag, length, value.
public struct Type2TLV: Hashable, Sendable {
    /// Its tag.
    public let tag: Tag
    /// The address of its tag byte.
    public let address: Int
    /// The address of the first byte of its length.
    public let lengthAddress: Int
    /// The bytes of the value, those that reserved areas hold left out.
    public let value: [UInt8]

    /// What a block is for.
    public struct Tag: RawRepresentable, Hashable, Sendable {
        /// The tag byte.
        public let rawValue: UInt8

        /// A tag by its byte.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// NULL: a byte to be passed over, without a length.
        public static let null = Tag(rawValue: 0x00)
        /// Lock Control: where the dynamic lock bytes are.
        public static let lockControl = Tag(rawValue: 0x01)
        /// Memory Control: bytes that hold no data.
        public static let memoryControl = Tag(rawValue: 0x02)
        /// An NDEF message.
        public static let ndefMessage = Tag(rawValue: 0x03)
        /// Somebody's own data.
        public static let proprietary = Tag(rawValue: 0xFD)
        /// Terminator: nothing follows; without a length.
        public static let terminator = Tag(rawValue: 0xFE)
    }
}
