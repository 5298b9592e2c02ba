// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// The location of a transaction.
public struct Place: Hashable, Sendable {
    /// The code on the card.
    public let code: PlaceCode
    /// The entry in a table of names, or `nil`.
    public let name: StationName?
    /// Why the code itself is uncertain, whatever it is called; `nil` if it is certain.
    package let codeDoubt: Doubt?

    /// Why the place is uncertain, or `nil`.
    public var doubt: Doubt? { codeDoubt ?? name?.doubt }

    /// Creates a place with its name.
    public init(code: PlaceCode, name: StationName? = nil, doubt: Doubt? = nil) {
        self.code = code
        self.name = name
        codeDoubt = doubt
    }

    /// Creates a place with its name on a day, from a table of names.
    package init(_ code: PlaceCode, on date: CalendarDate?, _ names: some StationNames) {
        let name: StationName? =
            switch code {
            case .station(let station): names.station(station, on: date)
            case .busStop(let stop): names.busStop(stop, on: date)
            // Tables of stations do not cover these; a decoder that knows more sets the name itself.
            case .local(let stop): Place(stop).name
            }
        self.init(code: code, name: name)
    }
}

extension Place {
    /// `entry` or `exit` in `kazasu.history/1`.
    ///
    /// A station has area, line and station numbers; a bus stop has its area and the two four-digit codes of operator
    /// and stop, which are unrelated to lines and stations; a stop of a local card has its system, its operator and
    /// route where the card gives them, and its number.
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
                if let line = stop.line { place.member("route", HexDigits(line, digits: 4)) }
                place.member("stop", HexDigits(stop.stop, digits: stop.digits))
            }
            place.member("company", name?.company)
            place.member("lineName", name?.line)
            place.member("name", name?.name)
            place.member("nameEn", name?.latin.name)
            if let company = name?.everyday.company {
                place.member("companyShort", company.japanese)
                place.member("companyShortEn", company.english)
            }
            if let line = name?.everyday.line {
                place.member("everydayLine", line.japanese)
                place.member("everydayLineEn", line.english)
            }
            if let former = name?.formerNames, !former.isEmpty {
                place.member("formerNames") { $0.array(of: former) { $1.write(to: &$0) } }
            }
            if let candidates = name?.candidates, !candidates.isEmpty {
                place.member("candidates") { $0.array(of: candidates) { $1.write(to: &$0) } }
            }
            if let doubt { place.member("doubt", doubt.rawValue) }
        }
    }
}

extension FormerName {
    /// Writes an element of `formerNames`; `until` is null where the table does not give it.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.member("name", name)
            $0.member("until", until)
        }
    }
}

extension StationCandidate {
    /// Writes an element of `candidates`; `until` is null for the station of today, and where the table does not give it.
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        sink.object {
            $0.member("name", name)
            $0.member("nameEn", latin)
            $0.member("until", until)
        }
    }
}

extension Place? {
    func write(to sink: inout some (JSONSink & ~Copyable)) {
        if let self { self.write(to: &sink) } else { sink.null() }
    }
}

extension Place {
    /// The place for people: its name as of the day of the record, else its codes as `stations lookup` takes them, after the company of a
    /// bus stop where that is known. Where a bus record has no stop, because the fare does not depend on it, the company alone.
    package func label(_ language: Language) -> String { label(language, name?.label(language)) }

    /// The same without the names that it had before.
    package func shortLabel(_ language: Language) -> String { label(language, name?.names(language)) }

    private func label(_ language: Language, _ label: String?) -> String {
        if let label { return label }
        let company = name?.company(in: language)
        return switch code {
        case .station(let code): "\(code.area)-\(code.line)-\(code.station)"
        case .busStop(let code) where code.stop == 0 && company != nil: company ?? ""
        case .busStop(let code): (company.map { "\($0) " } ?? "") + "\(code.operatorHex)-\(code.stopHex)"
        // A bus record without a stop still names the company.
        case .local(let code) where code.stop == 0 && company != nil: company ?? ""
        case .local(let code): [code.lineHex, code.stopHex].compactMap { $0 }.joined(separator: "-")
        }
    }
}

/// The code of a location as written on a card.
@nonexhaustive
public enum PlaceCode: Hashable, Sendable {
    /// A station.
    case station(StationCode)
    /// A bus stop.
    case busStop(BusStopCode)
    /// A stop in the numbering of one card's own network.
    case local(LocalStopCode)
}

extension PlaceCode {
    /// The numbers of a place as one word, joined so that no spreadsheet reads a date or a number: decimal for a station (`0_227_59`),
    /// hexadecimal as in the documents for other places.
    package var key: String {
        let parts =
            switch self {
            case .station(let code): ["\(code.area)", "\(code.line)", "\(code.station)"]
            case .busStop(let code): ["\(code.area)", code.operatorHex, code.stopHex]
            case .local(let code):
                [code.system.description, code.area.map { "\($0)" }, code.operatorHex, code.lineHex, code.stopHex]
                    .compactMap { $0 }
            }
        return parts.joined(separator: "_")
    }

    /// The same for the line, or for the operator of a stop.
    package var lineKey: String {
        let parts =
            switch self {
            case .station(let code): ["\(code.area)", "\(code.line)"]
            case .busStop(let code): ["\(code.area)", code.operatorHex]
            case .local(let code): [code.system.description, code.lineHex ?? code.operatorHex].compactMap { $0 }
            }
        return parts.joined(separator: "_")
    }
}
