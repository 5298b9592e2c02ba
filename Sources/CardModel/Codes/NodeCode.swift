// SPDX-License-Identifier: Apache-2.0

/// The code of a FeliCa node (an area or a service); little-endian on the wire. `FFFF` is the system itself.
public struct NodeCode: FourDigitCode {
    /// Bits 15–6 are the number, bits 5–0 the attribute.
    public let rawValue: UInt16

    /// A node code from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `FFFF`: the system node.
    public static let system = NodeCode(rawValue: 0xFFFF)
}
