// SPDX-License-Identifier: Apache-2.0

/// How a card writes where something was done.
public enum PlaceCode: Hashable, Sendable {
    /// A station.
    case station(StationCode)
    /// A bus stop.
    case busStop(BusStopCode)
}
