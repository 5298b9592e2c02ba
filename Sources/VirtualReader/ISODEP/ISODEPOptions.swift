// SPDX-License-Identifier: Apache-2.0

/// How a virtual card behaves below its APDUs.
public struct ISODEPOptions: Hashable, Sendable {
    /// How many waiting time extensions the card asks for before each answer; `Int.max` never comes to an end.
    public var waitingTimeExtensions = 0
    /// WTXM, by how much the waiting time is multiplied each time, 1 to 59.
    public var waitingTimeMultiplier: UInt8 = 1
    /// How long the card thinks before each answer; only the time model makes anybody wait for it.
    public var answerTime: Duration = .zero

    /// A card that answers at once.
    public init() {}
}
