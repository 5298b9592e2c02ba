// SPDX-License-Identifier: Apache-2.0

/// A tag of BER-TLV (ISO/IEC 7816-4 §5.2.2.1): one to three bytes.
public struct BERTag: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The bytes of the tag as one big-endian number: `0x6F`, `0x5F40`, `0x7F49`.
    public let rawValue: UInt32

    /// A tag from its bytes as one big-endian number.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A tag from its bytes as one big-endian number.
    public init(integerLiteral value: UInt32) {
        rawValue = value
    }

    /// The bytes as on the wire, one to four.
    public var bytes: [UInt8] {
        let all = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> UInt32($0)) }
        return Array(all.dropLast().drop { $0 == 0 }) + all.suffix(1)
    }

    /// Whether the value is made of objects (bit 6 of the first byte).
    public var isConstructed: Bool { bytes.first.map { $0 & 0x20 != 0 } ?? false }

    /// The class: 0 universal, 1 application, 2 context-specific, 3 private.
    public var tagClass: UInt8 { bytes.first.map { $0 >> 6 } ?? 0 }
}

extension BERTag: CustomStringConvertible {
    /// Upper-case hexadecimal digits.
    public var description: String { Hex.encode(bytes, uppercase: true) }
}
