// SPDX-License-Identifier: Apache-2.0

/// The version of the key of a FeliCa node; little-endian on the wire. `FFFF` on the wire says that the node is
/// not there and never becomes a value of this type's users.
public struct KeyVersion: FourDigitCode {
    /// The version number.
    public let rawValue: UInt16

    /// A key version from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}
