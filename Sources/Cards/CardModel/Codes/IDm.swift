// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The manufacture ID of a FeliCa system: eight bytes carried by every command to it.
///
/// The high nibble of the first byte is the number of the system on the card; the other fifteen nibbles are equal in
/// all systems of an ordinary card (not always on phones).
public struct IDm: Hashable, Sendable {
    /// The eight bytes as one big-endian number.
    public let rawValue: UInt64

    /// Makes an IDm from its bytes read as one big-endian number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Makes an IDm from exactly eight bytes; otherwise `nil`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let value = UInt64(bigEndianBytes: bytes) else { return nil }
        rawValue = value
    }

    /// Makes an IDm from sixteen hexadecimal digits as a user types them, with or without blanks, colons or hyphens;
    /// otherwise `nil`.
    public init?(_ text: some StringProtocol) {
        guard let bytes = try? Hex.decode(String(text)) else { return nil }
        self.init(bytes)
    }

    /// The eight bytes in wire order.
    public var bytes: [UInt8] { rawValue.bigEndianBytes }

    /// The number of the system on the card, 0 to 15.
    public var systemNumber: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 60) }

    /// Returns the IDm of system `number` on the same ordinary card; only the low nibble of `number` counts.
    package func inSystem(_ number: UInt8) -> IDm {
        IDm(rawValue: rawValue & 0x0FFF_FFFF_FFFF_FFFF | UInt64(number & 0x0F) << 60)
    }

    /// Returns whether both are systems of one ordinary card: everything but the system number is equal.
    public func isSameCard(as other: IDm) -> Bool {
        inSystem(0) == other.inSystem(0)
    }
}

extension IDm: CustomStringConvertible {
    /// Sixteen lower-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 16, uppercase: false) }
}

/// The manufacture parameter of a FeliCa card: ROM type, IC type and six bytes of maximum response times.
public struct PMm: Hashable, Sendable {
    /// The eight bytes as one big-endian number.
    public let rawValue: UInt64

    /// Makes a PMm from its bytes read as one big-endian number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Makes a PMm from exactly eight bytes; otherwise `nil`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let value = UInt64(bigEndianBytes: bytes) else { return nil }
        rawValue = value
    }

    /// Makes a PMm from sixteen hexadecimal digits as a user types them, with or without blanks, colons or hyphens;
    /// otherwise `nil`.
    public init?(_ text: some StringProtocol) {
        guard let bytes = try? Hex.decode(String(text)) else { return nil }
        self.init(bytes)
    }

    /// The eight bytes in wire order.
    public var bytes: [UInt8] { rawValue.bigEndianBytes }

    /// Byte 0: the ROM type.
    public var romType: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 56) }

    /// Byte 1: the IC type.
    public var icType: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 48) }
}

extension PMm: CustomStringConvertible {
    /// Sixteen lower-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 16, uppercase: false) }
}
