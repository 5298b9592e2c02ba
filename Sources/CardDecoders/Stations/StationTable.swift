// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Names of stations and bus stops from tables that the user has; Kazasu ships none.
///
/// A key may occur several times with dates of validity; then the date of a record selects one. A name that a station had
/// before, without a date, is given beside the present one.
public struct StationTable: StationNames {
    private var index = StationIndex()
    private var stations: [Entry] = []
    private var busStops: [UInt32: StationName] = [:]
    /// The company of each operator's code, `nil` inside where the rows name several.
    private var companies: [UInt16: String?] = [:]
    private var formerNames: [UInt32: [FormerName]] = [:]

    /// Most keys have one name for all time.
    private enum Entry {
        case one(StationName)
        case several([StationRow])
    }

    /// An empty table.
    public init() {}

    /// How many stations it names.
    package var stationCount: Int { stations.count }
    /// How many bus stops it names.
    package var busStopCount: Int { busStops.count }
    /// How many stations it knows a former name of.
    package var formerNameCount: Int { formerNames.count }
    /// Whether any row has a date, so that the day of a record can change a name.
    package private(set) var hasDates = false

    /// Adds the rows of a file. Of rows with the same key and no dates the first counts.
    public mutating func add(_ file: StationFile) { add(file.rows) }

    /// Adds rows. Of rows with the same key and no dates the first counts.
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
                companies[row.operatorCode] =
                    companies[row.operatorCode, default: company] == company ? company : .some(nil)
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

    /// The name that the station had on a date; where the table has dates and none fits, `nil`. A code that is in no table
    /// may still be known from a card whose owner named its stations.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        let key = StationRow.key(area: code.area, line: code.line, station: code.station)
        guard let former = formerNames.isEmpty ? nil : formerNames[key] else {
            return present(key, on: date) ?? (index[key] == nil ? DecoderTables.ownersStations[key] : nil)
        }
        let present = present(key, on: date)
        // The name that ended first of those that had not ended yet.
        let then = date.flatMap { date in
            former.filter { $0.until.map { date <= $0 } ?? false }.min { ($0.until ?? date) < ($1.until ?? date) }
        }
        if let then { return StationName(company: present?.company, line: present?.line, name: then.name) }
        // A name with a last day has ended by now.
        let possible = date == nil ? former : former.filter { $0.until == nil }
        return StationName(
            company: present?.company, line: present?.line, name: present?.name, formerNames: possible)
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

    /// The name of a bus stop; both codes count in all their 16 bits. Of a stop that is in no row, the company is known
    /// where all rows of the operator's code name the same.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        if let name = busStops[BusStopRow.key(operatorCode: code.operatorCode, stop: code.stop)] { return name }
        guard let company = companies[code.operatorCode] ?? nil else { return nil }
        return StationName(company: company, line: nil, name: nil)
    }
}

/// One file of station names, bus stops or former names, in Kazasu's own layout or one of those that are around.
///
/// The own layout is tab-separated with a header (`area line station company line_name station_name`, then
/// `valid_from valid_until` if it has dates; `operator stop company stop_name`; `area line station current_name
/// former_name`, then `valid_until` if it has dates) and decimal codes. Others begin with the same three code columns, then company, line and station,
/// with or without a header; files of the same name exist with hexadecimal and with decimal codes. Bus stops also come
/// under the header of nfc-felica's tables (`LineCode StationCode CompanyName LineName StationName`, without an area).
/// UTF-8, or Shift_JIS as Japanese Windows writes it.
public struct StationFile: Hashable, Sendable {
    /// How the codes of a file are written.
    public enum Codes: String, Hashable, Sendable, CaseIterable {
        /// Hexadecimal.
        case hex
        /// Decimal.
        case decimal
    }

    /// How it is known how the codes are written.
    package enum Evidence: Hashable, Sendable {
        /// The user said so.
        case told
        /// The file has Kazasu's own layout.
        case layout
        /// There are letters among the digits.
        case letters
        /// So many stations whose codes are public stand where they must.
        case knownPairs(Int)
    }

    /// What the file holds.
    package let rows: StationRows
    /// How its codes are written.
    public let codes: Codes
    /// How that is known.
    package let evidence: Evidence
    /// How many rows were left out because their key had been there already.
    package let repeated: Int
    /// How many of these have another name than the row that counts.
    package let differing: Int
    /// Whether the file is in Shift_JIS.
    package let isShiftJIS: Bool

    /// The longest file that is read, in bytes.
    package static let longestDocument = 32 << 20

    /// Reads a file.
    ///
    /// - Parameter codes: how the codes are written; `nil` to find out.
    /// - Throws: ``DocumentError`` with the line; ``DocumentError/malformed(key:expected:)`` for `codes` when nothing
    ///   tells how they are written.
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
    /// Stations.
    case stations([StationRow])
    /// Bus stops.
    case busStops([BusStopRow])
    /// Former names of stations.
    case formerNames([FormerNameRow])

    /// How many there are.
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
                    [String(row.operatorCode), String(row.stop), row.name.company ?? "", row.name.name ?? ""]
                })
        case .formerNames(let rows):
            let hasDates = rows.contains { $0.former.until != nil }
            return StationRows.table(
                ["area", "line", "station", "current_name", "former_name"] + (hasDates ? ["valid_until"] : []),
                // Sorting leaves the order of a code's names as it is.
                rows.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }.map { _, row in
                    StationRows.codes(row.code) + ["", row.former.name]
                        + (hasDates ? [row.former.until?.description ?? ""] : [])
                })
        }
    }

    private static func codes(_ code: StationCode) -> [String] {
        [String(code.area), String(code.line), String(code.station)]
    }

    /// Tabs and line ends inside a field become blanks, since the layout has no quotes.
    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        ([header] + rows).map { row in
            row.map { field in String(String.UnicodeScalarView(field.unicodeScalars.map { $0 < " " ? " " : $0 })) }
                .joined(separator: "\t") + "\n"
        }.joined()
    }
}

/// Finds the numbers that were given to keys of area, line and station, without hashing: 256 stations of a line lie in a
/// page, and pages are made for the lines that there are.
///
/// A page is 1 KiB; since keys have 24 bits, no table can make more than 65,536 of them.
struct StationIndex {
    /// The page of each area and line, from 1; 0 where there is none.
    private var pages = [Int32](repeating: 0, count: 1 << 16)
    /// The numbers, from 1; 0 where there is none.
    private var numbers: [Int32] = []

    /// How many keys have a number.
    private(set) var count = 0

    /// The number of a key.
    subscript(key: UInt32) -> Int? {
        let page = Int(pages[Int(key >> 8 & 0xFFFF)])
        guard page > 0 else { return nil }
        let number = numbers[(page - 1) << 8 | Int(key & 0xFF)]
        return number > 0 ? Int(number) - 1 : nil
    }

    /// Gives a key the number of keys before it, unless it has one.
    ///
    /// - Returns: whether it had none.
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

/// Makes strings of fields; a field that is equal to the last one of its column shares its string.
struct RepeatedStrings {
    private var last: [(range: Range<Int>, text: String)?]

    /// Strings of the columns before `columns`.
    init(columns: Int) {
        last = Array(repeating: nil, count: columns)
    }

    /// The text of a field; `nil` when it is empty or not there.
    mutating func text(_ row: DelimitedRow, _ column: Int) -> String? {
        guard let range = row.fields.element(at: column), !range.isEmpty else { return nil }
        if let known = last.element(at: column) ?? nil, row.isEqual(known.range, range) { return known.text }
        let text = row.text(column)
        if last.indices.contains(column) { last[column] = text.map { (range, $0) } }
        return text
    }
}
