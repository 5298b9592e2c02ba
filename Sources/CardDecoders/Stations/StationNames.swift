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
                (StationCode(area: $0.area, line: $0.line, station: $0.station).key, $0.name)
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

    /// The name with the former names that the day of the record does not exclude, as in `西大井（旧新川崎）`; `nil` if unknown.
    package func label(_ language: Language) -> String? { name(in: language).map { withFormerNames($0, language) } }

    /// A name followed by the former names.
    func withFormerNames(_ name: String, _ language: Language) -> String {
        guard !formerNames.isEmpty else { return name }
        let former = formerNames.map { $0.text(language) }
        return switch language {
        case .english: "\(name) (formerly \(former.joined(separator: ", ")))"
        case .japanese: "\(name)（旧\(former.joined(separator: "、"))）"
        }
    }

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
        if former.isEmpty { return self }
        // Of the names still in use on that day, the one that ended first.
        let then = date.flatMap { date in
            former.filter { $0.until.map { date < $0 } ?? false }.min { ($0.until ?? date) < ($1.until ?? date) }
        }
        if let then {
            return StationName(
                company: company, line: line, name: then.name,
                latin: Latin(company: latin.company, line: latin.line, name: then.latin))
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
    /// The name in Latin script, where known.
    public let latin: String?

    /// Creates a name with the day of its change.
    public init(_ name: String, until: CalendarDate? = nil, latin: String? = nil) {
        self.name = name
        self.until = until
        self.latin = latin
    }

    /// The name, with the day of the change where that is known.
    package func text(_ language: Language) -> String {
        let name = language == .english ? latin ?? name : name
        guard let until else { return name }
        return language == .english ? "\(name) until \(until)" : "\(name)・\(until)まで"
    }
}

/// A table whose stations and stops can be found by name.
package protocol SearchableStations: StationNames {
    /// The codes that have, or had, a name of which this is true, in any order.
    func codes(where isWanted: (String) -> Bool) -> [PlaceCode]
}

/// Several tables, the first of which that has a code names it.
public struct LayeredStationNames: SearchableStations {
    private let tables: [any StationNames]

    /// Makes a lookup in tables, the user's own first.
    public init(_ tables: [any StationNames]) { self.tables = tables }

    /// Returns the first table's station with this code, and the former names of tables before it that have no other name of it.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        var unnamed: StationName?
        for table in tables {
            guard let found = table.station(code, on: date) else { continue }
            guard let former = unnamed?.formerNames, !former.isEmpty else {
                if found.name != nil { return found }
                unnamed = unnamed ?? found
                continue
            }
            guard found.name != nil else { continue }
            return StationName(
                company: found.company, line: found.line, name: found.name, latin: found.latin,
                formerNames: former + found.formerNames.filter { other in !former.contains { $0.name == other.name } })
        }
        return unnamed
    }

    /// Returns the first table's stop with this code, or else the first one's operator.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        var company: StationName?
        for table in tables {
            guard let found = table.busStop(code, on: date) else { continue }
            if found.name != nil { return found }
            company = company ?? found
        }
        return company
    }

    /// The codes of all tables, but for those that an earlier table names otherwise.
    package func codes(where isWanted: (String) -> Bool) -> [PlaceCode] {
        var found: [PlaceCode] = []
        for (number, table) in tables.enumerated() {
            let earlier = tables[..<number]
            found += ((table as? any SearchableStations)?.codes(where: isWanted) ?? []).filter { code in
                earlier.allSatisfy { $0.name(of: code)?.name == nil }
            }
        }
        return found
    }
}

extension StationNames {
    /// The entry for a place, with all names that it ever had.
    fileprivate func name(of code: PlaceCode) -> StationName? {
        switch code {
        case .station(let code): station(code, on: nil)
        case .busStop(let code): busStop(code, on: nil)
        case .local: nil
        }
    }
}

extension SearchableStations {
    /// Finds stations and bus stops by name, in the order of their codes.
    ///
    /// Returns those that have this name, now or formerly, in Japanese or in Latin script, with or without 駅; where there is none,
    /// those whose name contains it. Case, hyphens, apostrophes and blanks do not count.
    package func places(named text: String) -> [Place] {
        let wanted = searchable(text)
        guard !wanted.isEmpty else { return [] }
        var codes = codes { searchable($0) == wanted }
        if codes.isEmpty { codes = self.codes { searchable($0).contains(wanted) } }
        return codes.sorted { $0.order < $1.order }.map { Place($0, on: nil, self) }
    }

    private func searchable(_ name: String) -> String {
        let name = String(
            String.UnicodeScalarView(name.lowercased().unicodeScalars.filter { !" -'’".unicodeScalars.contains($0) }))
        return name.count > 1 && name.hasSuffix("駅") ? String(name.dropLast()) : name
    }
}

extension PlaceCode {
    /// Stations by area, line and station, then stops by operator and stop.
    fileprivate var order: (Int, UInt32) {
        switch self {
        case .station(let code): (0, code.key)
        case .busStop(let code): (1, code.key)
        case .local: (2, 0)
        }
    }
}
