// SPDX-License-Identifier: Apache-2.0

/// Finds the stations that a line and a station number without an area can mean, as the gate log and the entry record
/// write them.
struct CyberneticsStations {
    let names: any StationNames
    /// The records whose rides can tell the area.
    let history: [HistoryRecord]

    /// The stations that rides of the day go through, with or without a name; without such a ride those that have a name.
    func places(_ line: UInt8, _ station: UInt8, on date: CalendarDate?) -> [Place] {
        var areas: Set<UInt8> = []
        for record in history where date != nil && record.date == date {
            for case .station(let code)? in [record.entry?.code, record.exit?.code]
            where code.line == line && code.station == station {
                areas.insert(code.area)
            }
        }
        let isProven = !areas.isEmpty
        return (isProven ? areas.sorted() : [0, 1, 2, 3]).compactMap { area in
            let place = Place(.station(StationCode(area: area, line: line, station: station)), on: date, names)
            return isProven || place.name?.name != nil ? place : nil
        }
    }
}
