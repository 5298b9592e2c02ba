// SPDX-License-Identifier: Apache-2.0

/// How a card writes where something was done.
public enum PlaceCode: Hashable, Sendable {
    /// A station.
    case station(StationCode)
    /// A bus stop.
    case busStop(BusStopCode)
    /// A stop by the numbers of one card's own network.
    case local(LocalStopCode)
}
