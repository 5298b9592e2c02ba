// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// The sixteen bytes of a FeliCa block.
public struct Block: Hashable, Sendable {
    @usableFromInline let high: UInt64
    @usableFromInline let low: UInt64

    /// Makes a block from exactly sixteen bytes; otherwise `nil`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16, let high = UInt64(bigEndianBytes: bytes.prefix(8)),
            let low = UInt64(bigEndianBytes: bytes.suffix(8))
        else { return nil }
        self.high = high
        self.low = low
    }

    /// Makes a block from exactly thirty-two hexadecimal digits without separators; otherwise `nil`.
    public init?(_ digits: String) {
        let digits = Array(digits.utf8)
        self.init(digits: digits.span)
    }

    init?(digits: Span<UInt8>) {
        guard digits.count == 32, let high = Hex.number(digits.extracting(first: 16)),
            let low = Hex.number(digits.extracting(last: 16))
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Thirty-two lower-case hexadecimal digits, as used in documents.
    public var hexadecimal: String { BlockDigits(self).text }

    /// A block of zeros.
    public static let zero = Block(high: 0, low: 0)

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Byte `offset`, counted from 0; only the low four bits of the offset count, so no offset can trap.
    public subscript(offset: Int) -> UInt8 {
        let half = offset & 8 == 0 ? high : low
        return UInt8(truncatingIfNeeded: half >> UInt64(56 - (offset & 7) * 8))
    }

    /// Returns the number in `count` bytes (1 to 8) from `offset`; bytes past the end wrap around to the start.
    @inlinable
    package func number(at offset: Int, count: Int, _ order: ByteOrder) -> UInt64 {
        let count = max(0, min(count, 8))
        guard count > 0 else { return 0 }
        let start = offset & 15
        // The bytes from `offset`, the first in the highest byte; the first byte of the block follows the last.
        let (here, next) = start < 8 ? (high, low) : (low, high)
        let shift = UInt64(start & 7) * 8
        let bytes = here &<< shift | (shift == 0 ? 0 : next &>> (64 - shift))
        let unused = UInt64(64 - count * 8)
        return order == .big ? bytes &>> unused : ((bytes &>> unused) &<< unused).byteSwapped
    }

    /// Returns the two-byte number at `offset`.
    @inlinable
    package func uint16(at offset: Int, _ order: ByteOrder) -> UInt16 {
        UInt16(truncatingIfNeeded: number(at: offset, count: 2, order))
    }

    /// Returns the three-byte number at `offset`.
    @inlinable
    package func uint24(at offset: Int, _ order: ByteOrder) -> UInt32 {
        UInt32(truncatingIfNeeded: number(at: offset, count: 3, order))
    }

    /// Returns the four-byte number at `offset`.
    @inlinable
    package func uint32(at offset: Int, _ order: ByteOrder) -> UInt32 {
        UInt32(truncatingIfNeeded: number(at: offset, count: 4, order))
    }

    /// The sixteen bytes.
    public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

    /// Whether every byte is 00.
    public var isZero: Bool { high == 0 && low == 0 }
}

extension Block: CustomStringConvertible {
    /// Thirty-two upper-case hexadecimal digits.
    public var description: String { Hex.encode(bytes, uppercase: true) }
}

/// The bytes of a block as used in documents: thirty-two lower-case hexadecimal digits.
package struct BlockDigits: ASCIIText {
    private let high: HexDigits
    private let low: HexDigits

    package init(_ block: Block) {
        high = HexDigits(block.high, digits: 16, uppercase: false)
        low = HexDigits(block.low, digits: 16, uppercase: false)
    }

    /// Appends the digits.
    package func append(to text: inout ByteBuffer) {
        high.append(to: &text)
        low.append(to: &text)
    }
}
