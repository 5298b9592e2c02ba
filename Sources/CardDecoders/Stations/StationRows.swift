// SPDX-License-Identifier: Apache-2.0

/// The rows of one file of station names.
public enum StationRows: Hashable, Sendable {
    /// Stations.
    case stations([StationRow])
    /// Bus stops.
    case busStops([BusStopRow])
    /// Former names of stations.
    case formerNames([FormerNameRow])

    /// How many there are.
    public var count: Int {
        switch self {
        case .stations(let rows): rows.count
        case .busStops(let rows): rows.count
        case .formerNames(let rows): rows.count
        }
    }
}
