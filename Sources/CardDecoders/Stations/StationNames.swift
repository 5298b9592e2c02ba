// SPDX-License-Identifier: Apache-2.0

internal import CardModel

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

/// The table entry for a station or a bus stop, in the table's own language.
public struct StationName: Hashable, Sendable {
    /// Each record holds up to two of these: one reference copies faster than four strings.
    private let texts: Shared<Texts>

    private struct Texts: Hashable, Sendable {
        let company: String?
        let line: String?
        let name: String?
        let formerNames: [FormerName]
    }

    /// The operator.
    public var company: String? { texts.value.company }
    /// The line it is on; `nil` for bus stops.
    public var line: String? { texts.value.line }
    /// The name of the station or stop.
    public var name: String? { texts.value.name }
    /// The former names for the code, where the table has some but not which one was valid on the day.
    public var formerNames: [FormerName] { texts.value.formerNames }

    /// Creates a name from a table.
    public init(company: String?, line: String?, name: String?, formerNames: [FormerName] = []) {
        texts = Shared(Texts(company: company, line: line, name: name, formerNames: formerNames))
    }
}

/// A former name for a code.
public struct FormerName: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The last day on which the name was valid, or `nil` when the table does not give it.
    public let until: CalendarDate?

    /// Creates a name with its last day.
    public init(_ name: String, until: CalendarDate? = nil) {
        self.name = name
        self.until = until
    }
}
