// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A table of stations and bus stops.
///
/// Codes are reassigned to other stations over the years, so a lookup includes the day of the record.
public protocol StationNames: Sendable {
    /// Returns the station that had this code on that day, or `nil` when it is not in the table.
    func station(_ code: StationCode, on date: CalendarDate?) -> StationName?
    /// Returns the bus stop that had this code on that day, or `nil` when it is not in the table.
    func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName?
}

/// A table without stations: every name is `nil`.
public struct NoStationNames: StationNames {
    /// Creates the empty table.
    public init() {}

    /// Returns `nil`.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? { nil }

    /// Returns `nil`.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
}

/// A few codes whose stations are public from decoded cards, to detect whether a table is hexadecimal or decimal.
///
/// Sources: the card listings of toyowata/suica-reader-rcs620s and felica-reader-rcs660s-pico, farebot's sample card,
/// hara-y-u/SuicaRecorder.
enum KnownStations {
    private static let rows: [(area: UInt8, line: UInt8, station: UInt8, name: String)] = [
        (0, 3, 13, "新宿"), (0, 3, 18, "高円寺"), (0, 37, 7, "渋谷"), (0, 22, 3, "浅草橋"), (0, 29, 30, "町田"),
        (0, 1, 35, "小田原"), (0, 227, 59, "青山一丁目"), (0, 227, 54, "銀座"), (0, 229, 43, "東京"),
        (0, 206, 38, "渋谷"), (0, 206, 31, "都立大学"), (0, 241, 8, "岩本町"), (0, 38, 194, "新千歳空港"),
        (2, 217, 82, "板宿"), (3, 134, 64, "大通"),
    ]

    /// Counts the known stations found at their codes when the table is read in this notation.
    static func matches(
        _ text: DelimitedText, _ layout: StationLayout, _ codes: StationFile.Codes
    ) throws(DocumentError) -> Int {
        guard layout.kind == .stations else { return 0 }
        let wanted = Dictionary(
            uniqueKeysWithValues: rows.map {
                (StationRow.key(area: $0.area, line: $0.line, station: $0.station), $0.name)
            })
        var count = 0
        try text.forEachRow { row throws(DocumentError) in
            guard let key = layout.stationKey(row, codes), let name = wanted[key], let found = layout.name(row) else {
                return
            }
            if found.elementsEqual(name.utf8) { count += 1 }
        }
        return count
    }
}

/// The table entry for a station or a bus stop.
public struct StationName: Hashable, Sendable {
    /// Each record holds up to two of these: one reference copies faster than its strings.
    private let texts: Shared<Texts>

    private struct Texts: Hashable, Sendable {
        let company: String?
        let line: String?
        let name: String?
        let latin: Latin
        let formerNames: [FormerName]
    }

    /// The names in Latin script, where the table has them.
    public struct Latin: Hashable, Sendable {
        /// The operator.
        public let company: String?
        /// The line.
        public let line: String?
        /// The name of the station or stop.
        public let name: String?

        /// Creates the names; all are unknown by default.
        public init(company: String? = nil, line: String? = nil, name: String? = nil) {
            (self.company, self.line, self.name) = (company, line, name)
        }
    }

    /// The operator, in the table's own language.
    public var company: String? { texts.value.company }
    /// The line it is on, in the table's own language; `nil` for bus stops.
    public var line: String? { texts.value.line }
    /// The name of the station or stop, in the table's own language.
    public var name: String? { texts.value.name }
    /// The same in Latin script, where known.
    public var latin: Latin { texts.value.latin }
    /// The former names for the code, where the table has some but not which one was valid on the day.
    public var formerNames: [FormerName] { texts.value.formerNames }

    /// Creates a name from a table.
    public init(
        company: String?, line: String?, name: String?, latin: Latin = Latin(), formerNames: [FormerName] = []
    ) {
        texts = Shared(Texts(company: company, line: line, name: name, latin: latin, formerNames: formerNames))
    }

    /// The name for readers of a language: in Latin script for English where the table has it.
    public func name(in language: Language) -> String? { language == .english ? latin.name ?? name : name }

    /// The operator for readers of a language.
    public func company(in language: Language) -> String? {
        language == .english ? latin.company ?? company : company
    }

    /// The line for readers of a language.
    public func line(in language: Language) -> String? { language == .english ? latin.line ?? line : line }

    /// The entry for a record of a day, given the former names of its code.
    ///
    /// Without a day all former names are possible; with one, those whose end is unknown are.
    func on(_ date: CalendarDate?, formerly former: [FormerName]) -> StationName {
        // Of the names still in use on that day, the one that ended first.
        let then = date.flatMap { date in
            former.filter { $0.until.map { date < $0 } ?? false }.min { ($0.until ?? date) < ($1.until ?? date) }
        }
        if let then {
            return StationName(
                company: company, line: line, name: then.name,
                latin: Latin(company: latin.company, line: latin.line))
        }
        return StationName(
            company: company, line: line, name: name, latin: latin,
            formerNames: date == nil ? former : former.filter { $0.until == nil })
    }
}

/// A former name for a code.
public struct FormerName: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The day of the change: from then on the name was no longer valid; `nil` when the table does not give it.
    public let until: CalendarDate?

    /// Creates a name with the day of its change.
    public init(_ name: String, until: CalendarDate? = nil) {
        self.name = name
        self.until = until
    }
}

/// Several tables, the first of which that has a code names it.
public struct LayeredStationNames: StationNames {
    private let tables: [any StationNames]

    /// Makes a lookup in tables, the user's own first.
    public init(_ tables: [any StationNames]) { self.tables = tables }

    /// Returns the first table's station with this code.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        tables.lazy.compactMap { $0.station(code, on: date) }.first
    }

    /// Returns the first table's stop with this code, or else the first one's operator.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        let found = tables.lazy.compactMap { $0.busStop(code, on: date) }
        return found.first { $0.name != nil } ?? found.first
    }
}
