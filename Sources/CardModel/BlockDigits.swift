// SPDX-License-Identifier: Apache-2.0

public import ByteCodec

/// The bytes of a block as documents hold them: thirty-two lower-case hexadecimal digits.
public struct BlockDigits: ASCIIText {
    private let high: HexDigits
    private let low: HexDigits

    /// The digits of a block.
    public init(_ block: Block) {
        high = HexDigits(block.high, digits: 16, uppercase: false)
        low = HexDigits(block.low, digits: 16, uppercase: false)
    }

    /// Adds the digits.
    public func append(to text: inout ByteBuffer) {
        high.append(to: &text)
        low.append(to: &text)
    }
}
