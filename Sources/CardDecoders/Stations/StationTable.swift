// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Names of stations and bus stops from tables that the user has; Kazasu ships none.
///
/// A key may stand several times with dates of validity; then the date of a record chooses. A name that a station had
/// before, without a date, is given beside the present one.
public struct StationTable: StationNames {
    private var index = StationIndex()
    private var stations: [Entry] = []
    private var busStops: [UInt32: StationName] = [:]
    private var formerNames: [UInt32: String] = [:]

    /// Most keys have one name for all time.
    private enum Entry {
        case one(StationName)
        case several([StationRow])
    }

    /// An empty table.
    public init() {}

    /// How many stations it names.
    public var stationCount: Int { stations.count }
    /// How many bus stops it names.
    public var busStopCount: Int { busStops.count }
    /// How many stations it knows a former name of.
    public var formerNameCount: Int { formerNames.count }

    /// Adds rows. Of rows with the same key and no dates the first counts.
    public mutating func add(_ rows: StationRows) {
        switch rows {
        case .stations(let rows):
            stations.reserveCapacity(stations.count + rows.count)
            for row in rows { add(row) }
        case .busStops(let rows):
            busStops.reserveCapacity(busStops.count + rows.count)
            for row in rows where busStops[row.key] == nil { busStops[row.key] = row.name }
        case .formerNames(let rows):
            for row in rows where formerNames[row.key] == nil { formerNames[row.key] = row.formerName }
        }
    }

    private mutating func add(_ row: StationRow) {
        guard let place = index[row.key] else {
            if index.insert(row.key) { stations.append(row.hasDates ? .several([row]) : .one(row.name)) }
            return
        }
        switch stations[place] {
        case .one(let name):
            guard row.hasDates else { return }
            stations[place] = .several([row, StationRow(key: row.key, name: name)])
        case .several(let rows):
            guard row.hasDates || !rows.contains(where: { !$0.hasDates }) else { return }
            stations[place] = .several(rows + [row])
        }
    }

    /// The name that the station had on a date; where the table has dates and none fits, `nil`.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        let key = StationRow.key(area: code.area, line: code.line, station: code.station)
        let former = formerNames.isEmpty ? nil : formerNames[key]
        guard let place = index[key] else {
            return former.map { StationName(company: nil, line: nil, name: nil, formerName: $0) }
        }
        switch stations[place] {
        case .one(let name):
            guard let former else { return name }
            return StationName(company: name.company, line: name.line, name: name.name, formerName: former)
        case .several(let rows):
            guard let date else { return rows.last { $0.isValidToday }?.name }
            return (rows.first { $0.hasDates && $0.isValid(on: date) } ?? rows.first { !$0.hasDates })?.name
        }
    }

    /// The name of a bus stop; both codes count in all their 16 bits.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        busStops[BusStopRow.key(operatorCode: code.operatorCode, stop: code.stop)]
    }
}
