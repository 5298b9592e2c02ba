// SPDX-License-Identifier: Apache-2.0

/// A table that knows no station: every name stays `nil`.
public struct NoStationNames: StationNames {
    /// The empty table.
    public init() {}

    /// Always `nil`.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? { nil }

    /// Always `nil`.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
}
