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
    /// The company of each operator's code, `nil` inside where the rows name several.
    private var companies: [UInt16: String?] = [:]
    private var formerNames: [UInt32: [FormerName]] = [:]

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
    /// Whether any row has a date, so that the day of a record can change a name.
    public private(set) var hasDates = false

    /// Adds rows. Of rows with the same key and no dates the first counts.
    public mutating func add(_ rows: StationRows) {
        switch rows {
        case .stations(let rows):
            stations.reserveCapacity(stations.count + rows.count)
            for row in rows { add(row) }
        case .busStops(let rows):
            busStops.reserveCapacity(busStops.count + rows.count)
            for row in rows where busStops[row.key] == nil {
                busStops[row.key] = row.name
                guard let company = row.name.company else { continue }
                companies[row.operatorCode] =
                    companies[row.operatorCode, default: company] == company ? company : .some(nil)
            }
        case .formerNames(let rows):
            for row in rows where !(formerNames[row.key, default: []].contains { $0.name == row.former.name }) {
                formerNames[row.key, default: []].append(row.former)
                hasDates = hasDates || row.former.until != nil
            }
        }
    }

    private mutating func add(_ row: StationRow) {
        hasDates = hasDates || row.hasDates
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

    /// The name that the station had on a date; where the table has dates and none fits, `nil`. A code that is in no table
    /// may still be known from a card whose owner named its stations.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        let key = StationRow.key(area: code.area, line: code.line, station: code.station)
        guard let former = formerNames.isEmpty ? nil : formerNames[key] else {
            return present(key, on: date) ?? (index[key] == nil ? DecoderTables.ownersStations[key] : nil)
        }
        let present = present(key, on: date)
        // The name that ended first of those that had not ended yet.
        let then = date.flatMap { date in
            former.filter { $0.until.map { date <= $0 } ?? false }.min { ($0.until ?? date) < ($1.until ?? date) }
        }
        if let then { return StationName(company: present?.company, line: present?.line, name: then.name) }
        // A name with a last day has ended by now.
        let possible = date == nil ? former : former.filter { $0.until == nil }
        return StationName(
            company: present?.company, line: present?.line, name: present?.name, formerNames: possible)
    }

    private func present(_ key: UInt32, on date: CalendarDate?) -> StationName? {
        guard let place = index[key] else { return nil }
        switch stations[place] {
        case .one(let name): return name
        case .several(let rows):
            guard let date else { return rows.last { $0.isValidToday }?.name }
            return (rows.first { $0.hasDates && $0.isValid(on: date) } ?? rows.first { !$0.hasDates })?.name
        }
    }

    /// The name of a bus stop; both codes count in all their 16 bits. Of a stop that is in no row, the company is known
    /// where all rows of the operator's code name the same.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        if let name = busStops[BusStopRow.key(operatorCode: code.operatorCode, stop: code.stop)] { return name }
        guard let company = companies[code.operatorCode] ?? nil else { return nil }
        return StationName(company: company, line: nil, name: nil)
    }
}
