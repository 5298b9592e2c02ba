// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Names of stations and bus stops from tables supplied by the user.
///
/// A key can occur several times with dates of validity; the date of a record then selects one. A station's former name
/// without a date is reported beside the current one.
public struct StationTable: SearchableStations {
    private var index = StationIndex()
    private var stations: [Entry] = []
    private var busStops: [UInt32: StationName] = [:]
    /// The company for each operator code; the inner value is `nil` where the rows name several.
    private var companies: [UInt16: String?] = [:]
    private var formerNames: [UInt32: [FormerName]] = [:]

    /// Most keys have a single name for all dates.
    private enum Entry {
        case one(StationName)
        case several([StationRow])
    }

    /// Creates an empty table.
    public init() {}

    /// The number of stations in the table.
    package var stationCount: Int { stations.count }
    /// The number of bus stops in the table.
    package var busStopCount: Int { busStops.count }
    /// The number of stations with a known former name.
    package var formerNameCount: Int { formerNames.count }
    /// Whether any row has a date, so that a name can depend on the day of the record.
    package private(set) var hasDates = false

    /// Adds the rows of a file. Of undated rows with the same key, the first one wins.
    public mutating func add(_ file: StationFile) { add(file.rows) }

    /// Adds rows. Of undated rows with the same key, the first one wins.
    package mutating func add(_ rows: StationRows) {
        switch rows {
        case .stations(let rows):
            stations.reserveCapacity(stations.count + rows.count)
            for row in rows { add(row) }
        case .busStops(let rows):
            busStops.reserveCapacity(busStops.count + rows.count)
            for row in rows where busStops[row.key] == nil {
                busStops[row.key] = row.name
                guard let company = row.name.company else { continue }
                companies[row.code.operatorCode] =
                    companies[row.code.operatorCode, default: company] == company ? company : .some(nil)
            }
        case .formerNames(let rows):
            for row in rows where !(formerNames[row.key, default: []].contains { $0.name == row.former.name }) {
                formerNames[row.key, default: []].append(row.former)
                hasDates = hasDates || row.former.until != nil
            }
        }
    }

    private mutating func add(_ row: StationRow) {
        hasDates = hasDates || row.hasDates
        guard let place = index[row.key] else {
            if index.insert(row.key) { stations.append(row.hasDates ? .several([row]) : .one(row.name)) }
            return
        }
        switch stations[place] {
        case .one(let name):
            guard row.hasDates else { return }
            stations[place] = .several([row, StationRow(key: row.key, name: name)])
        case .several(let rows):
            guard row.hasDates || !rows.contains(where: { !$0.hasDates }) else { return }
            stations[place] = .several(rows + [row])
        }
    }

    /// Returns the name of the station on a date, or `nil` when the table has dated names and none matches.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        let present = self.present(code.key, on: date)
        guard let former = formerNames.isEmpty ? nil : formerNames[code.key] else { return present }
        return (present ?? StationName(company: nil, line: nil, name: nil))
            .on(date, former.map { FormerUse(name: $0, kind: .renamed, knownSince: nil) })
    }

    package func codes(where isWanted: (String) -> Bool) -> [PlaceCode] {
        var keys = Set(formerNames.filter { $0.value.contains { isWanted($0.name) } }.keys)
        index.forEach { key, place in
            let names: [String?] =
                switch stations[place] {
                case .one(let name): [name.name]
                case .several(let rows): rows.map(\.name.name)
                }
            if names.contains(where: { $0.map(isWanted) ?? false }) { keys.insert(key) }
        }
        let stops = busStops.filter { $0.value.name.map(isWanted) ?? false }.keys
        return keys.map { .station(StationCode(key: $0)) } + stops.map { .busStop(BusStopCode(key: $0)) }
    }

    private func present(_ key: UInt32, on date: CalendarDate?) -> StationName? {
        guard let place = index[key] else { return nil }
        switch stations[place] {
        case .one(let name): return name
        case .several(let rows):
            guard let date else { return rows.last { $0.isValidToday }?.name }
            return (rows.first { $0.hasDates && $0.isValid(on: date) } ?? rows.first { !$0.hasDates })?.name
        }
    }

    /// Returns the name of a bus stop; all 16 bits of both codes are significant.
    ///
    /// For a stop without a row, the company is returned when all rows with the operator code agree on it.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        if let name = busStops[code.key] { return name }
        guard let company = companies[code.operatorCode] ?? nil else { return nil }
        return StationName(company: company, line: nil, name: nil)
    }
}

/// One file of station names, bus stops or former names, in Kazasu's own layout or another one in circulation.
///
/// Kazasu's layout is tab-separated with a header (`area line station company line_name station_name`, then
/// `valid_from valid_until` if it has dates; `operator stop company stop_name`;
/// `area line station current_name former_name`, then `valid_until` if it has dates) and decimal codes. Other layouts
/// begin with the same three code columns, then company, line and station, with or without a header; files of the same
/// name exist with hexadecimal and with decimal codes. Bus stops also occur under the header of nfc-felica's tables
/// (`LineCode StationCode CompanyName LineName StationName`, without an area). The encoding is UTF-8, or Shift_JIS as
/// written by Japanese Windows.
public struct StationFile: Hashable, Sendable {
    /// The notation of the codes in a file.
    @nonexhaustive
    public enum Codes: String, Hashable, Sendable, CaseIterable {
        /// Hexadecimal.
        case hex
        /// Decimal.
        case decimal
    }

    /// The basis on which the notation was determined.
    package enum Evidence: Hashable, Sendable {
        /// The user specified it.
        case told
        /// The file has Kazasu's own layout.
        case layout
        /// Some codes contain letters.
        case letters
        /// This many stations with publicly known codes appear at their expected codes.
        case knownPairs(Int)
    }

    /// The rows of the file.
    package let rows: StationRows
    /// The notation of its codes.
    public let codes: Codes
    /// How the notation was determined.
    package let evidence: Evidence
    /// The number of rows skipped because their key occurred before.
    package let repeated: Int
    /// The number of skipped rows whose name differs from that of the row in use.
    package let differing: Int
    /// Whether the file is in Shift_JIS.
    package let isShiftJIS: Bool

    /// The largest file accepted, in bytes.
    package static let longestDocument = 32 << 20

    /// Parses a file.
    ///
    /// - Parameter codes: the notation of the codes; `nil` to detect it.
    /// - Throws: ``DocumentError`` with the line; ``DocumentError/malformed(key:expected:)`` for `codes` when the
    ///   notation cannot be determined.
    public init(parsing bytes: [UInt8], codes told: Codes? = nil) throws(DocumentError) {
        guard bytes.count <= StationFile.longestDocument else {
            throw .tooLong(bytes: bytes.count, limit: StationFile.longestDocument)
        }
        let utf8 = ShiftJIS.utf8(bytes)
        isShiftJIS = utf8 != nil
        let text = try DelimitedText(utf8 ?? bytes)
        let layout = try StationLayout(text)
        (codes, evidence) = try StationFile.codes(text, layout, told)
        let contents = try layout.contents(text, codes)
        (rows, repeated, differing) = (contents.rows, contents.repeated, contents.differing)
        guard rows.count > 0 else { throw .malformedLine(line: 1, expected: .init(.stationRows)) }
    }

    private static func codes(
        _ text: DelimitedText, _ layout: StationLayout, _ told: Codes?
    ) throws(DocumentError) -> (Codes, Evidence) {
        if let told { return (told, .told) }
        if layout.isOwn { return (.decimal, .layout) }
        guard try layout.hasCodes(text) else { throw .malformedLine(line: 1, expected: .init(.stationRows)) }
        if try layout.hasLetters(text) { return (.hex, .letters) }
        let decimal = try KnownStations.matches(text, layout, .decimal)
        let hex = try KnownStations.matches(text, layout, .hex)
        if decimal > 0, hex == 0 { return (.decimal, .knownPairs(decimal)) }
        if hex > 0, decimal == 0 { return (.hex, .knownPairs(hex)) }
        throw .malformed(key: "codes", expected: .init(.stationRadix))
    }
}

/// The rows of one file of station names.
package enum StationRows: Hashable, Sendable {
    case stations([StationRow])
    case busStops([BusStopRow])
    /// Former names of stations.
    case formerNames([FormerNameRow])

    /// The number of rows.
    package var count: Int {
        switch self {
        case .stations(let rows): rows.count
        case .busStops(let rows): rows.count
        case .formerNames(let rows): rows.count
        }
    }
}

extension StationRows {
    /// The rows in Kazasu's own layout: tab-separated, a header, decimal codes, sorted by code.
    package var text: String {
        switch self {
        case .stations(let rows):
            let hasDates = rows.contains(where: \.hasDates)
            return StationRows.table(
                ["area", "line", "station", "company", "line_name", "station_name"]
                    + (hasDates ? ["valid_from", "valid_until"] : []),
                rows.sorted { $0.key < $1.key }.map { row in
                    StationRows.codes(row.code) + [row.name.company, row.name.line, row.name.name].map { $0 ?? "" }
                        + (hasDates ? [row.from, row.until].map { $0?.description ?? "" } : [])
                })
        case .busStops(let rows):
            return StationRows.table(
                ["operator", "stop", "company", "stop_name"],
                rows.sorted { $0.key < $1.key }.map { row in
                    [String(row.code.operatorCode), String(row.code.stop), row.name.company ?? "", row.name.name ?? ""]
                })
        case .formerNames(let rows):
            let hasDates = rows.contains { $0.former.until != nil }
            return StationRows.table(
                ["area", "line", "station", "current_name", "former_name"] + (hasDates ? ["valid_until"] : []),
                // Keeps the order of names with the same code.
                rows.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }.map { _, row in
                    StationRows.codes(row.code) + ["", row.former.name]
                        + (hasDates ? [row.former.until?.previous?.description ?? ""] : [])
                })
        }
    }

    private static func codes(_ code: StationCode) -> [String] {
        [String(code.area), String(code.line), String(code.station)]
    }

    /// Replaces tabs and line ends inside a field with blanks, since the layout has no quoting.
    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        ([header] + rows).map { row in
            row.map { field in String(String.UnicodeScalarView(field.unicodeScalars.map { $0 < " " ? " " : $0 })) }
                .joined(separator: "\t") + "\n"
        }.joined()
    }
}

/// Maps keys of area, line and station to numbers without hashing.
///
/// The 256 stations of a line share a page, and pages exist only for lines in use. A page is 1 KiB; since keys have 24
/// bits, no table needs more than 65,536 pages.
struct StationIndex {
    /// The page of each area and line, from 1; 0 for none.
    private var pages = [Int32](repeating: 0, count: 1 << 16)
    /// The numbers, from 1; 0 for none.
    private var numbers: [Int32] = []

    /// The number of keys in the index.
    private(set) var count = 0

    /// The number assigned to a key.
    subscript(key: UInt32) -> Int? {
        let page = Int(pages[Int(key >> 8 & 0xFFFF)])
        guard page > 0 else { return nil }
        let number = numbers[(page - 1) << 8 | Int(key & 0xFF)]
        return number > 0 ? Int(number) - 1 : nil
    }

    /// Calls `body` with each key and its number, in the order of the keys.
    func forEach(_ body: (UInt32, Int) -> Void) {
        for (line, page) in pages.enumerated() where page > 0 {
            for station in 0..<256 {
                let number = numbers[(Int(page) - 1) << 8 | station]
                if number > 0 { body(UInt32(line) << 8 | UInt32(station), Int(number) - 1) }
            }
        }
    }

    /// Assigns the next number (the count of keys so far) to a key that has none.
    ///
    /// - Returns: whether the key was added.
    mutating func insert(_ key: UInt32) -> Bool {
        let line = Int(key >> 8 & 0xFFFF)
        if pages[line] == 0 {
            numbers.append(contentsOf: repeatElement(0, count: 256))
            pages[line] = Int32(truncatingIfNeeded: numbers.count >> 8)
        }
        let place = (Int(pages[line]) - 1) << 8 | Int(key & 0xFF)
        guard numbers[place] == 0 else { return false }
        count += 1
        numbers[place] = Int32(truncatingIfNeeded: count)
        return true
    }
}
