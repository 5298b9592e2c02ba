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
        let lowered = text.lowercased()
        let digits = lowered.hasPrefix("0x") ? String(lowered.dropFirst(2)) : lowered
        guard (1...4).contains(digits.utf8.count) else { return nil }
        var value: UInt16 = 0
        for character in digits.utf8 {
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
