// SPDX-License-Identifier: Apache-2.0

/// The code of a FeliCa area; little-endian on the wire.
public struct AreaCode: FourDigitCode {
    /// Bits 15–6 are the number, bits 5–0 the attribute.
    public let rawValue: UInt16

    /// An area code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `0000`: the root area of every system.
    public static let root = AreaCode(rawValue: 0x0000)

    /// The same code as a node.
    public var node: NodeCode { NodeCode(rawValue: rawValue) }

    /// Whether sub-areas may be made in it: attribute 00 or 20, not 01 or 21.
    public var canHoldSubAreas: Bool { rawValue & 1 == 0 }
}
