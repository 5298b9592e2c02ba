// SPDX-License-Identifier: Apache-2.0

/// One row of a station table.
public struct StationRow: Hashable, Sendable {
    /// Area, line and station code in one number.
    var key: UInt32
    /// What the row says.
    public var name: StationName
    /// The first day on which it holds; `nil` for ever.
    public var from: CalendarDate?
    /// The last day on which it holds; `nil` for ever.
    public var until: CalendarDate?

    init(key: UInt32, name: StationName, from: CalendarDate? = nil, until: CalendarDate? = nil) {
        self.key = key
        self.name = name
        self.from = from
        self.until = until
    }

    /// The codes.
    public var code: StationCode {
        StationCode(
            area: UInt8(truncatingIfNeeded: key >> 16), line: UInt8(truncatingIfNeeded: key >> 8),
            station: UInt8(truncatingIfNeeded: key))
    }

    static func key(area: UInt8, line: UInt8, station: UInt8) -> UInt32 {
        UInt32(area) << 16 | UInt32(line) << 8 | UInt32(station)
    }

    var hasDates: Bool { from != nil || until != nil }
    var isValidToday: Bool { until == nil }

    func isValid(on date: CalendarDate) -> Bool {
        (from.map { $0 <= date } ?? true) && (until.map { date <= $0 } ?? true)
    }
}
