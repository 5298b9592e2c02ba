// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// Where something was done.
public struct Place: Hashable, Sendable {
    /// What the card says.
    public let code: PlaceCode
    /// What a table of names says of it, or `nil`.
    public let name: StationName?
    /// Why it is not certain that this is the place, or `nil`.
    public let doubt: Doubt?

    /// A place with its name.
    public init(code: PlaceCode, name: StationName? = nil, doubt: Doubt? = nil) {
        self.code = code
        self.name = name
        self.doubt = doubt
    }

    /// A place named by a table of names as it was on a day.
    package init(_ code: PlaceCode, on date: CalendarDate?, _ names: some StationNames) {
        let name: StationName? =
            switch code {
            case .station(let station): names.station(station, on: date)
            case .busStop(let stop): names.busStop(stop, on: date)
            // No table of the user's tells of these; a decoder that knows a name gives it itself.
            case .local: nil
            }
        self.init(code: code, name: name)
    }
}

extension Place {
    /// `entry` or `exit` in `kazasu.history/1`.
    ///
    /// A station is told by its area, line and station numbers; a bus stop by its area and the two four-digit codes
    /// of operator and stop, which are codes of their own and no line or station; a stop of one town's card by its
    /// system, its operator and route where the card tells them, and its number.
    package var json: JSONValue { JSONValue { write(to: &$0) } }

    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object { place in
            switch code {
            case .station(let station):
                place.member("area", station.area)
                place.member("line", station.line)
                place.member("station", station.station)
            case .busStop(let stop):
                place.member("area", stop.area)
                place.member("operator", HexDigits(stop.operatorCode, digits: 4))
                place.member("stop", HexDigits(stop.stop, digits: 4))
            case .local(let stop):
                if let area = stop.area { place.member("area", area) }
                place.member("system", HexDigits(stop.system.rawValue, digits: 4))
                if let code = stop.operatorCode { place.member("operator", HexDigits(code, digits: 4)) }
                if let line = stop.line { place.member("line", HexDigits(line, digits: 4)) }
                place.member("stop", HexDigits(stop.stop, digits: stop.digits))
            }
            place.member("company", name?.company)
            place.member("lineName", name?.line)
            place.member("name", name?.name)
            if let former = name?.formerNames, !former.isEmpty {
                place.member("formerNames") { $0.array(of: former) { $1.write(to: &$0) } }
            }
            if let doubt { place.member("doubt", doubt.rawValue) }
        }
    }
}

extension FormerName {
    /// Writes an element of `formerNames`; `until` is null where the table does not say.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.member("name", name)
            $0.member("until", until)
        }
    }
}

extension Place? {
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        if let self { self.write(to: &sink) } else { sink.null() }
    }
}

/// How a card writes where something was done.
public enum PlaceCode: Hashable, Sendable {
    /// A station.
    case station(StationCode)
    /// A bus stop.
    case busStop(BusStopCode)
    /// A stop by the numbers of one card's own network.
    case local(LocalStopCode)
}
