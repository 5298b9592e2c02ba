// SPDX-License-Identifier: Apache-2.0

/// One row of a table of names that stations had before.
public struct FormerNameRow: Hashable, Sendable {
    /// Area, line and station code in one number.
    var key: UInt32
    /// The name that the code meant before, with its last day where the table says it.
    public var former: FormerName

    /// The codes.
    public var code: StationCode {
        StationCode(
            area: UInt8(truncatingIfNeeded: key >> 16), line: UInt8(truncatingIfNeeded: key >> 8),
            station: UInt8(truncatingIfNeeded: key))
    }
}
