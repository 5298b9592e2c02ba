// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The manufacture ID of a FeliCa system: eight bytes that every command to it carries.
///
/// The high nibble of the first byte is the number of the system on the card; the other fifteen nibbles are
/// equal in all systems of an ordinary card (not always on phones).
public struct IDm: Hashable, Sendable {
    /// The eight bytes as one big-endian number.
    public let rawValue: UInt64

    /// An IDm from its bytes read as one big-endian number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// An IDm from exactly eight bytes, else `nil`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let value = UInt64(bigEndianBytes: bytes) else { return nil }
        rawValue = value
    }

    /// The eight bytes as on the wire.
    public var bytes: [UInt8] { rawValue.bigEndianBytes }

    /// The number of the system on the card, 0 to 15.
    public var systemNumber: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 60) }

    /// The IDm that system `number` of the same ordinary card has; only the low nibble of `number` counts.
    public func inSystem(_ number: UInt8) -> IDm {
        IDm(rawValue: rawValue & 0x0FFF_FFFF_FFFF_FFFF | UInt64(number & 0x0F) << 60)
    }

    /// Whether both are systems of one ordinary card: all but the system number is equal.
    public func isSameCard(as other: IDm) -> Bool {
        inSystem(0) == other.inSystem(0)
    }
}

extension IDm: CustomStringConvertible {
    /// Sixteen lower-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 16, uppercase: false) }
}
