// SPDX-License-Identifier: Apache-2.0

/// In how many time slots cards may answer a Polling; the raw values are the bytes on the wire.
public enum TimeSlots: UInt8, Hashable, Sendable, CaseIterable {
    /// One slot.
    case one = 0x00
    /// Two slots.
    case two = 0x01
    /// Four slots.
    case four = 0x03
    /// Eight slots.
    case eight = 0x07
    /// Sixteen slots.
    case sixteen = 0x0F

    /// How many slots.
    public var count: Int { Int(rawValue) + 1 }
}
