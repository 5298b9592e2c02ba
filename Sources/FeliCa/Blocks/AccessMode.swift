// SPDX-License-Identifier: Apache-2.0

/// The access mode of a Block List element, three bits.
public struct AccessMode: RawRepresentable, Hashable, Sendable {
    /// The three bits, 0 to 7.
    public let rawValue: UInt8

    /// A mode from its three bits, else `nil`.
    public init?(rawValue: UInt8) {
        guard rawValue <= 7 else { return nil }
        self.rawValue = rawValue
    }

    private init(bits: UInt8) {
        rawValue = bits
    }

    /// `000`: reading, writing, taking money off.
    public static let normal = AccessMode(bits: 0)
    /// `001`: giving money back to a purse.
    public static let cashback = AccessMode(bits: 1)
    /// `100`: changing a key.
    public static let keyChange = AccessMode(bits: 4)
}
