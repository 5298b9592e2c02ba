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
        let digits =
            text.utf8.count > 2 && (text.hasPrefix("0x") || text.hasPrefix("0X"))
            ? text.utf8.dropFirst(2) : text.utf8[...]
        guard (1...4).contains(digits.count) else { return nil }
        var value: UInt16 = 0
        for character in digits {
            guard let nibble = Hex.value(of: character) else { return nil }
            value = value << 4 | UInt16(nibble)
        }
        self.init(rawValue: value)
    }

    /// Four upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 4) }

    /// By number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
