// SPDX-License-Identifier: Apache-2.0

/// The limits of a value-limited purse service: property type 00, ten bytes. Source: felica-tool, the unofficial
/// user's manual.
public struct ValueLimitedPurseProperty: NodeProperty, Hashable, Sendable {
    /// `00`.
    public static let type: UInt8 = 0x00

    /// The first byte: 01 when the purse has limits.
    public let flag: UInt8
    /// The highest value; `nil` when the node has no limits (all ten bytes FF).
    public let upperLimit: Int32?
    /// The lowest value; `nil` when the node has no limits.
    public let lowerLimit: Int32?
    /// The generation number; `nil` when the node has no limits.
    public let generation: UInt8?

    /// Flag, upper and lower limit (signed, least significant byte first), generation.
    public init(_ answer: inout AnswerReader) throws(FeliCaError) {
        flag = try answer.uint8()
        let upper = try answer.int32LittleEndian()
        let lower = try answer.int32LittleEndian()
        let last = try answer.uint8()
        let isOff = flag == 0xFF && upper == -1 && lower == -1 && last == 0xFF
        upperLimit = isOff ? nil : upper
        lowerLimit = isOff ? nil : lower
        generation = isOff ? nil : last
    }

    /// Whether the limits are in force.
    public var isEnabled: Bool { flag == 0x01 }
}
