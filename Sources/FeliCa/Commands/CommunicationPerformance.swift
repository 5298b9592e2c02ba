// SPDX-License-Identifier: Apache-2.0

/// The two bytes that a card answers to request code 02, kept as they came: the bits beyond the raw value are not
/// documented in what this project has read.
public struct CommunicationPerformance: RawRepresentable, Hashable, Sendable {
    /// The two bytes as one big-endian number.
    public let rawValue: UInt16

    /// A communication performance from its two bytes read as one big-endian number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }
}
