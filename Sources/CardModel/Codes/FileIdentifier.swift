// SPDX-License-Identifier: Apache-2.0

/// The identifier of a file on an ISO 7816 card, as in `2F01`.
public struct FileIdentifier: FourDigitCode {
    /// The identifier as a big-endian number.
    public let rawValue: UInt16

    /// An identifier from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The master file, 3F00.
    public static let masterFile = FileIdentifier(rawValue: 0x3F00)
}
