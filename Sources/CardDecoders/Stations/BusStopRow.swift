// SPDX-License-Identifier: Apache-2.0

/// One row of a bus stop table.
public struct BusStopRow: Hashable, Sendable {
    /// Operator and stop code in one number.
    var key: UInt32
    /// What the row says.
    public var name: StationName

    static func key(operatorCode: UInt16, stop: UInt16) -> UInt32 { UInt32(operatorCode) << 16 | UInt32(stop) }

    /// The operator's code.
    public var operatorCode: UInt16 { UInt16(truncatingIfNeeded: key >> 16) }
    /// The stop's code.
    public var stop: UInt16 { UInt16(truncatingIfNeeded: key) }
}
