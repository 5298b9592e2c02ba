// SPDX-License-Identifier: Apache-2.0

/// A table of stations and bus stops.
///
/// Codes are given to other stations over the years, so the day of the record is part of the question.
public protocol StationNames: Sendable {
    /// The station that had this code on that day, or `nil` when the table does not say.
    func station(_ code: StationCode, on date: CalendarDate?) -> StationName?
    /// The bus stop that had this code on that day, or `nil` when the table does not say.
    func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName?
}
