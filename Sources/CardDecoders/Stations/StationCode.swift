// SPDX-License-Identifier: Apache-2.0

/// A station as the Cybernetics format tells it. The same line and station are other stations in other areas.
public struct StationCode: Hashable, Sendable {
    /// 0 all JR lines and Kanto, 1 Chubu, 2 Kansai, 3 elsewhere.
    public let area: UInt8
    /// The line.
    public let line: UInt8
    /// The station on the line.
    public let station: UInt8

    /// A station by its three codes.
    public init(area: UInt8, line: UInt8, station: UInt8) {
        self.area = area
        self.line = line
        self.station = station
    }
}
