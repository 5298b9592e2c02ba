// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// A table of stations and bus stops.
///
/// Codes are given to other stations over the years, so the day of the record is part of the question.
public protocol StationNames: Sendable {
    /// The station that had this code on that day, or `nil` when the table does not say.
    func station(_ code: StationCode, on date: CalendarDate?) -> StationName?
    /// The bus stop that had this code on that day, or `nil` when the table does not say.
    func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName?
}

/// A table that knows no station: every name stays `nil`.
public struct NoStationNames: StationNames {
    /// The empty table.
    public init() {}

    /// Always `nil`.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? { nil }

    /// Always `nil`.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? { nil }
}

/// A few codes whose station is public from decoded cards; they tell whether a table's codes are hexadecimal or decimal.
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

    /// How many of them stand in the table at their place, when its codes are read so.
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

/// What a table says of a station or a bus stop, in the table's own language.
public struct StationName: Hashable, Sendable {
    /// Every record has up to two of these: one reference is copied faster than four texts.
    private let texts: Shared<Texts>

    private struct Texts: Hashable, Sendable {
        let company: String?
        let line: String?
        let name: String?
        let formerNames: [FormerName]
    }

    /// Who runs it.
    public var company: String? { texts.value.company }
    /// The line it is on; `nil` for bus stops.
    public var line: String? { texts.value.line }
    /// Its own name.
    public var name: String? { texts.value.name }
    /// The names that the code meant before, where the table knows some but not which of them held on the day.
    public var formerNames: [FormerName] { texts.value.formerNames }

    /// A name from a table.
    public init(company: String?, line: String?, name: String?, formerNames: [FormerName] = []) {
        texts = Shared(Texts(company: company, line: line, name: name, formerNames: formerNames))
    }
}

/// A name that a code meant before.
public struct FormerName: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The last day on which the code meant it, or `nil` when the table does not say.
    public let until: CalendarDate?

    /// A name with its last day.
    public init(_ name: String, until: CalendarDate? = nil) {
        self.name = name
        self.until = until
    }
}
