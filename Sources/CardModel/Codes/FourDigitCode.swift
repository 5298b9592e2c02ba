// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A 16-bit code that people write as four upper-case hexadecimal digits, most significant first.
public protocol FourDigitCode: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number that the four digits write.
    var rawValue: UInt16 { get }
    /// A code from the number that its four digits write.
    init(rawValue: UInt16)
}

extension FourDigitCode {
    /// A code from one to four hexadecimal digits with or without `0x`, as a user types it; else `nil`.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        self.init(digits: text.utf8.span)
    }

    init?(digits utf8: Span<UInt8>) {
        let isPrefixed = utf8.count > 2 && utf8[0] == 0x30 && utf8[1] | 0x20 == 0x78
        let digits = utf8.extracting(droppingFirst: isPrefixed ? 2 : 0)
        guard digits.count <= 4, let value = Hex.number(digits) else { return nil }
        self.init(rawValue: UInt16(truncatingIfNeeded: value))
    }

    /// Four upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 4) }

    /// By number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
