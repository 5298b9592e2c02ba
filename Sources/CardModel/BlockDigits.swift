// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// The bytes of a block as documents hold them: thirty-two lower-case hexadecimal digits.
public struct BlockDigits: ASCIIText {
    private let high: HexDigits
    private let low: HexDigits

    /// The digits of a block.
    public init(_ block: Block) {
        high = HexDigits(block.number(at: 0, count: 8, .big), digits: 16, uppercase: false)
        low = HexDigits(block.number(at: 8, count: 8, .big), digits: 16, uppercase: false)
    }

    /// Thirty-two.
    public var longestCount: Int { 32 }

    /// Adds the digits.
    public func append(to text: inout OutputSpan<UInt8>) {
        high.append(to: &text)
        low.append(to: &text)
    }
}
