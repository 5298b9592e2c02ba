// SPDX-License-Identifier: Apache-2.0

/// Whether a service is read with a MAC: property type 01, one byte. Source: felica-tool, the unofficial user's manual.
public struct MACCommunicationProperty: NodeProperty, Hashable, Sendable {
    /// `01`.
    public static let type: UInt8 = 0x01

    /// The byte: 01 when communication with MAC is on.
    public let flag: UInt8

    /// One byte.
    public init(_ answer: inout AnswerReader) throws(FeliCaError) {
        flag = try answer.uint8()
    }

    /// Whether communication with MAC is on.
    public var isEnabled: Bool { flag == 0x01 }
}
