// SPDX-License-Identifier: Apache-2.0

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
    public init(_ code: PlaceCode, on date: CalendarDate?, _ names: some StationNames) {
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
