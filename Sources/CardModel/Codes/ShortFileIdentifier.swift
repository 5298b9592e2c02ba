// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The short identifier of an EF, 1 to 30, with which it can be read without being selected first.
public struct ShortFileIdentifier: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number, 1 to 30.
    public let rawValue: UInt8

    /// A short file identifier, or `nil` when the number is not 1 to 30.
    public init?(_ rawValue: UInt8) {
        guard (1...30).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// By number.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The number in two upper-case hexadecimal digits.
    public var description: String { Hex.encode(rawValue, digits: 2) }
}
