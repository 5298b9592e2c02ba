// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The tag of an item on a licence: one plain byte, but for the photo's 5F40 and for 0100 and above on a My Number card.
public struct LicenseTag: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The tag as a number.
    public let rawValue: UInt16

    /// A tag.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// A tag.
    public init(integerLiteral value: UInt16) {
        self.init(rawValue: value)
    }

    /// Hexadecimal digits, two where they are enough.
    public var description: String { Hex.encode(rawValue, digits: rawValue > 0xFF ? 4 : 2) }
}
