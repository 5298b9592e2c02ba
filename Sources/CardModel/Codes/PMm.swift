// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The manufacture parameter of a FeliCa card: ROM type, IC type and six bytes of maximum response times.
public struct PMm: Hashable, Sendable {
    /// The eight bytes as one big-endian number.
    public let rawValue: UInt64

    /// A PMm from its bytes read as one big-endian number.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// A PMm from exactly eight bytes, else `nil`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let value = UInt64(bigEndianBytes: bytes) else { return nil }
        rawValue = value
    }

    /// The eight bytes as on the wire.
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
