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
        let everyday: Everyday
        let formerNames: [FormerName]
        let candidates: [StationCandidate]
        let doubt: Doubt?
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

    /// What people call a company and its line, where the table has it.
    public struct Everyday: Hashable, Sendable {
        /// The operator, as in `JR東日本`, `JR East`.
        public let company: LocalizedText?
        /// The line with its operator, as in `JR 山手線`, `JR Yamanote Line`.
        public let line: LocalizedText?

        /// Creates the names; both are unknown by default.
        public init(company: LocalizedText? = nil, line: LocalizedText? = nil) {
            (self.company, self.line) = (company, line)
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
    /// What people call the operator and the line, where known.
    public var everyday: Everyday { texts.value.everyday }
    /// The former names for the code, where the table has some but not which one was valid on the day.
    public var formerNames: [FormerName] { texts.value.formerNames }
    /// The stations that the code can mean, this one first, where the day does not decide; empty where only this one had it.
    public var candidates: [StationCandidate] { texts.value.candidates }
    /// Why the entry is uncertain, or `nil`.
    public var doubt: Doubt? { texts.value.doubt }

    /// Creates a name from a table.
    public init(
        company: String?, line: String?, name: String?, latin: Latin = Latin(), everyday: Everyday = Everyday(),
        formerNames: [FormerName] = [], candidates: [StationCandidate] = [], doubt: Doubt? = nil
    ) {
        texts = Shared(
            Texts(
                company: company, line: line, name: name, latin: latin, everyday: everyday, formerNames: formerNames,
                candidates: candidates, doubt: doubt))
    }

    /// The name for readers of a language: in Latin script for English where the table has it.
    public func name(in language: Language) -> String? { language == .english ? latin.name ?? name : name }

    /// The operator for readers of a language, as people call it where the table has that.
    public func company(in language: Language) -> String? {
        everyday.company?[language] ?? (language == .english ? latin.company ?? company : company)
    }

    /// The line for readers of a language, as people call it where the table has that: then with its operator.
    public func line(in language: Language) -> String? {
        everyday.line?[language] ?? (language == .english ? latin.line ?? line : line)
    }

    /// The line with its operator for readers of a language; `nil` if neither is known.
    package func lineLabel(_ language: Language) -> String? {
        if let line = everyday.line?[language] { return line }
        let parts = [company(in: language), line(in: language)].compactMap(\.self).filter { !$0.isEmpty }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// The name, or the names of the stations that have an equal right to the code, as in `荒島または安来`; `nil` if unknown.
    package func names(_ language: Language) -> String? {
        let open = candidates.filter { $0.until == nil }
        guard open.count > 1 else { return name(in: language) }
        return open.map { $0.name(in: language) }.joined(separator: language == .english ? " or " : "または")
    }

    /// Whether several stations have an equal right to the code.
    package var isOpen: Bool { candidates.count { $0.until == nil } > 1 }

    /// The name with the former names that the day of the record does not exclude, as in `西大井（旧新川崎）`; `nil` if unknown.
    package func label(_ language: Language) -> String? { names(language).map { withFormerNames($0, language) } }

    /// A name followed by the former names, and by the stations that once had the code.
    package func withFormerNames(_ name: String, _ language: Language) -> String {
        let remarks = self.remarks(language, besides: name)
        guard !remarks.isEmpty else { return name }
        return language == .english
            ? "\(name) (\(remarks.joined(separator: "; ")))" : "\(name)（\(remarks.joined(separator: "、"))）"
    }

    /// What a name does not say: former names of the station, and stations that once had the code.
    package func remarks(_ language: Language, besides name: String? = nil) -> [String] {
        // Both can be the same in Latin script.
        let former = formerNames.filter { $0.name(in: language) != name }.map { $0.text(language) }
        let others = candidates.compactMap { candidate in
            candidate.until.map { day in
                language == .english
                    ? "until \(day): \(candidate.name(in: language))"
                    : "\(day)より前は\(candidate.name(in: language))"
            }
        }
        guard !former.isEmpty else { return others }
        let words =
            language == .english
            ? "formerly \(former.joined(separator: ", "))" : "旧\(former.joined(separator: "、"))"
        return [words] + others
    }

    /// Whether people know the place by this name, in any script: its own, a former one, or one of the stations that the code can mean.
    package func isNamed(_ query: NameQuery) -> Bool {
        var names: [String?] = [name, latin.name]
        for former in formerNames { names += [former.name, former.latin] }
        for candidate in candidates { names += [candidate.name, candidate.latin] }
        return names.contains { $0.map(query.equals) ?? false }
    }

    /// Whether people know its line by this name, formal or not, with or without the operator.
    package func isOnLine(_ query: NameQuery) -> Bool {
        var lines: [String?] = [line, latin.line]
        lines += [
            [company, line], [latin.company, latin.line], [everyday.company?.japanese, line],
            [everyday.company?.english, latin.line],
        ].map { $0.compactMap(\.self).joined(separator: " ") }
        for label in [everyday.line?.japanese, everyday.line?.english] {
            lines.append(label)
            // Without the operator.
            for prefix in ["JR", everyday.company?.japanese, everyday.company?.english].compactMap({ $0 }) {
                if let label, label.hasPrefix(prefix + " ") { lines.append(String(label.dropFirst(prefix.count + 1))) }
            }
        }
        return lines.contains { $0.map(query.equals) ?? false }
    }

    /// The entry for a record of a day, given what its code meant before.
    ///
    /// Without a day all of that is possible; with one, what has no known end is.
    func on(_ date: CalendarDate?, _ former: [FormerUse]) -> StationName {
        if former.isEmpty { return self }
        // Of the names still in use on that day, the one that ended first.
        let then = date.flatMap { date in
            former.filter { $0.name.until.map { date < $0 } ?? false }
                .min { ($0.name.until ?? date) < ($1.name.until ?? date) }
        }
        if let then { return named(then.name, doubt: then.kind == .reassignedAbout ? .oneSource : doubt) }
        let open = date.map { date in
            former.filter { use in use.name.until == nil && !(use.knownSince.map { $0 <= date } ?? false) }
        }
        let possible = open ?? former
        if name == nil, let last = possible.first(where: { $0.kind == .vacated }) {
            return named(last.name, doubt: doubt)
        }
        var others: [FormerName] = []
        for use in possible where use.kind == .reassigned || use.kind == .reassignedAbout { others.append(use.name) }
        let isOpen = others.contains { $0.until == nil }
        let candidates =
            ([FormerName(name ?? "", latin: latin.name)] + others).map {
                StationCandidate($0.name, until: $0.until, latin: $0.latin)
            }
        return StationName(
            company: company, line: line, name: name, latin: latin, everyday: everyday,
            formerNames: possible.filter { $0.kind == .renamed }.map(\.name),
            candidates: others.isEmpty || name == nil ? [] : candidates, doubt: isOpen ? .disputed : doubt)
    }

    private func named(_ former: FormerName, doubt: Doubt?) -> StationName {
        StationName(
            company: company, line: line, name: former.name,
            latin: Latin(company: latin.company, line: latin.line, name: former.latin), everyday: everyday,
            doubt: doubt)
    }
}

/// What a code meant before, according to a table.
struct FormerUse: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// The same station had another name.
        case renamed
        /// The code belonged to another station.
        case reassigned
        /// The same, until a day that was inferred.
        case reassignedAbout
        /// The code belongs to no station today.
        case vacated
    }

    let name: FormerName
    let kind: Kind
    /// A day from which on the present name is certain.
    let knownSince: CalendarDate?
}

/// A station that a code can mean.
public struct StationCandidate: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The day of the change: from then on the code meant another station; `nil` when the table does not give it.
    public let until: CalendarDate?
    /// The name in Latin script, where known.
    public let latin: String?

    /// Creates a station with the day on which its code changed.
    public init(_ name: String, until: CalendarDate? = nil, latin: String? = nil) {
        (self.name, self.until, self.latin) = (name, until, latin)
    }

    /// The name for readers of a language.
    package func name(in language: Language) -> String { language == .english ? latin ?? name : name }
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

    /// The name for readers of a language.
    package func name(in language: Language) -> String { language == .english ? latin ?? name : name }

    /// The name, with the day of the change where that is known.
    package func text(_ language: Language) -> String {
        let name = name(in: language)
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
                everyday: found.everyday,
                formerNames: former + found.formerNames.filter { other in !former.contains { $0.name == other.name } },
                candidates: found.candidates, doubt: found.doubt)
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
    /// The most places that a search returns: the tables are there to name records, not to be read out.
    package static var mostFound: Int { 50 }

    /// Finds stations and bus stops by name, in the order of their codes.
    ///
    /// Returns those that have this name, now or formerly, in Japanese or in Latin script; where there is none, those whose name contains it.
    /// ``NameQuery`` says what does not count.
    ///
    /// - Parameter limit: the most places that are returned.
    /// - Returns: the places, and how many more there are.
    package func places(named text: String, limit: Int = mostFound) -> (places: [Place], more: Int) {
        let query = NameQuery(text)
        guard !query.isEmpty else { return ([], 0) }
        var codes = codes(where: query.equals)
        if codes.isEmpty { codes = self.codes(where: query.isPart) }
        let found = codes.sorted { $0.order < $1.order }.prefix(max(0, limit)).map { Place($0, on: nil, self) }
        return (found, codes.count - found.count)
    }

    /// The names that were probably meant by one that no place has: in the order of their letters, three at most.
    package func names(near text: String) -> [String] {
        let query = NameQuery(text)
        guard !query.isEmpty, codes(where: query.equals).isEmpty else { return [] }
        var names: Set<String> = []
        _ = codes { name in
            if query.isNear(name) { names.insert(name) }
            return false
        }
        return Array(names.sorted().prefix(3))
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
