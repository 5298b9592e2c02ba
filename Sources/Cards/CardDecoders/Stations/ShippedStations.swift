// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CStationTables
internal import CardModel
internal import Synchronization

/// The names of stations and bus stops that come with Kazasu: 8,753 stations and 4,933 bus stops of Japan.
///
/// The license of Kazasu does not cover them; `NOTICE` has the sources and their terms. A build with `STATIONS=open` lacks the rows of one
/// source. The tables are searched in place, so that nothing is read when a program starts; what was found is remembered.
public struct ShippedStations: SearchableStations {
    /// Makes the table.
    public init() {}

    /// Returns the station that had this code on that day, or `nil` for an unknown code.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        let entry = Self.found.withLock { $0.stations.value(code.key) { Self.entry(code) } }
        return entry.map { $0.name(on: date).on(date, $0.former) }
    }

    /// Returns the bus stop with this code, or `nil` for an unknown code.
    ///
    /// All 16 bits of both codes are significant. For an unknown stop of a known operator the name is `nil`.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        Self.found.withLock { $0.stops.value(code.key) { Self.name(code) } }
    }

    package func codes(where isWanted: (String) -> Bool) -> [PlaceCode] {
        func isNamed(_ names: [String?]) -> Bool { names.contains { $0.map(isWanted) ?? false } }
        let stations =
            PackedTable.stations.rows.filter { isNamed([$0.text(2), $0.text(3)]) }.map { $0[0] }
            + PackedTable.former.rows.filter { isNamed([$0.text(1), $0.text(3)]) }.map { $0[0] }
        return Set(stations).compactMap(Self.station)
            + PackedTable.stops.rows.filter { isNamed([$0.text(2)]) }.compactMap { Self.stop($0[0]) }
    }

    /// A station with what its code meant before.
    private struct Entry {
        let name: StationName
        let former: [FormerUse]
        /// The same with the company and the line of before, and the first day on which they are wrong.
        let formerLine: (name: StationName, until: CalendarDate)?

        /// The name with the company and the line of a day, those of today without one.
        func name(on date: CalendarDate?) -> StationName {
            guard let date, let formerLine, date < formerLine.until else { return name }
            return formerLine.name
        }
    }

    /// What was looked up last: a history names the same few places again and again.
    private struct Found {
        var stations = Memory<Entry>()
        var stops = Memory<StationName>()

        struct Memory<Value> {
            private var values: [UInt32: Value?] = [:]

            mutating func value(_ key: UInt32, _ find: () -> Value?) -> Value? {
                if let known = values[key] { return known }
                if values.count >= 16_384 { values.removeAll(keepingCapacity: true) }
                let value = find()
                values[key] = .some(value)
                return value
            }
        }
    }

    private static let found = Mutex(Found())

    private static func entry(_ code: StationCode) -> Entry? {
        let key = Hex.encode([code.area, code.line, code.station], uppercase: true)
        let row = PackedTable.stations.row(key)
        let former = PackedTable.former.rows(key).map { FormerUse($0) }
        guard row != nil || !former.isEmpty else { return nil }
        let line = row.flatMap { PackedTable.lines.row($0[1]) }.map(Line.init)
        let before = line.flatMap { PackedTable.formerLines.row($0.key) }
        let formerLine = line.flatMap { line in
            before.flatMap { before in
                CalendarDate(before[1]).map { (name: name(row, line.before(before)), until: $0) }
            }
        }
        return Entry(name: name(row, line), former: former, formerLine: formerLine)
    }

    /// A line with its company, of today or before.
    private struct Line {
        let key: String
        let company: PackedTable.Row?
        private(set) var name: String?
        private(set) var latin: String?
        /// What people call it, in both scripts, packed.
        private(set) var everyday: (japanese: String?, latin: String?)

        init(_ row: PackedTable.Row) {
            (key, company) = (row[0], PackedTable.companies.row(row[1]))
            (name, latin, everyday) = (row.text(2), row.text(3), (row.text(4), row.text(5)))
        }

        private init(key: String, company: PackedTable.Row?) { (self.key, self.company) = (key, company) }

        /// What it was before, by a row of former lines.
        func before(_ row: PackedTable.Row) -> Line {
            var line = Line(key: key, company: PackedTable.companies.row(row[2]))
            (line.name, line.latin) = (row.text(3) ?? name, row.text(4) ?? latin)
            line.everyday = (row.text(5) ?? everyday.japanese, row.text(6) ?? everyday.latin)
            return line
        }
    }

    private static func name(_ row: PackedTable.Row?, _ line: Line?) -> StationName {
        StationName(
            company: line?.company?.text(1), line: line?.name, name: row?.text(2),
            latin: .init(company: line?.company?.text(2), line: line?.latin, name: row?.text(3)),
            everyday: .init(
                company: line?.company.flatMap(everyday),
                line: line.flatMap { line in line.company.flatMap { everyday(line, of: $0) } }),
            doubt: row.flatMap { Self.doubts[$0[4]] })
    }

    private static let doubts: [String: Doubt] = ["o": .oneSource, "d": .disputed]

    /// What people call a company.
    private static func everyday(_ company: PackedTable.Row) -> LocalizedText? {
        guard let japanese = company.text(3) ?? company.text(1) else { return nil }
        return LocalizedText(company.text(4) ?? company.text(2) ?? japanese, japanese)
    }

    /// What people call a line.
    private static func everyday(_ line: Line, of company: PackedTable.Row) -> LocalizedText? {
        guard let short = everyday(company), let japanese = line.everyday.japanese else { return nil }
        func whole(_ text: String, _ company: String, _ name: String?) -> String {
            guard let sign = text.first, sign == "=" || sign == "~" else { return text }
            let rest = text.dropFirst()
            return (sign == "=" ? company : "JR") + " " + (rest.isEmpty ? name ?? "" : String(rest))
        }
        let name = whole(japanese, short.japanese, line.name)
        return LocalizedText(line.everyday.latin.map { whole($0, short.english, line.latin) } ?? name, name)
    }

    private static func name(_ code: BusStopCode) -> StationName? {
        let row = PackedTable.stops.row(code.operatorHex + code.stopHex)
        let numbers = row.map { [$0[1]] } ?? Set(PackedTable.stops.rows(code.operatorHex).map { $0[1] })
        guard numbers.count == 1, let number = numbers.first else { return nil }
        let company = PackedTable.companies.row(number)
        return StationName(
            company: company?.text(1), line: nil, name: row?.text(2), latin: .init(company: company?.text(2)),
            everyday: .init(company: company.flatMap(everyday)))
    }

    /// The number of rows of each table.
    package static var counts: (stations: Int, busStops: Int, formerNames: Int) {
        (PackedTable.stations.count, PackedTable.stops.count, PackedTable.former.count)
    }

    /// The codes of all stations and stops, in their order.
    package static var codes: [PlaceCode] {
        PackedTable.stations.rows.compactMap { station($0[0]) } + PackedTable.stops.rows.compactMap { stop($0[0]) }
    }

    private static func station(_ key: String) -> PlaceCode? {
        UInt32(key, radix: 16).map { .station(StationCode(key: $0)) }
    }

    private static func stop(_ key: String) -> PlaceCode? {
        UInt32(key, radix: 16).map { .busStop(BusStopCode(key: $0)) }
    }
}

extension ShippedStations {
    /// Where rows of the tables come from.
    package struct Source: Hashable, Sendable {
        /// The repository or the data set.
        package let name: String
        /// The SPDX expression of its license.
        package let license: String
        /// What was taken.
        package let kind: Kind
        /// How many rows.
        package let rows: Int

        /// What a source gave; the raw values are those of `kazasu.stationTables/1`.
        package enum Kind: String, Sendable {
            case stations, busStops, latinNames
        }
    }

    /// Whether the rows that come from YSRL are there; `STATIONS=open` leaves them out.
    package static var hasYSRL: Bool { kazasu_ysrl_stations > 0 }

    /// The sources that `NOTICE` names; none in a build without tables.
    package static var sources: [Source] {
        guard PackedTable.stations.count > 0 else { return [] }
        let ysrl = Source(
            name: "自動改札機の研究 (YSRL)", license: "LicenseRef-YSRL", kind: .stations, rows: Int(kazasu_ysrl_stations))
        return [
            Source(name: "soltia48/suica-viewer", license: "MIT", kind: .stations, rows: 6_956),
            // For 25 codes YSRL has a newer name.
            Source(name: "m2wasabi/nfcpy-suica-sample", license: "MIT", kind: .stations, rows: hasYSRL ? 848 : 873),
            Source(name: "yohan020/ic_card_reader", license: "CC-BY-4.0", kind: .stations, rows: 21),
            Source(name: "Kazzz/nfc-felica", license: "Apache-2.0", kind: .busStops, rows: 4_925),
            Source(name: "GeoNames", license: "CC-BY-4.0", kind: .latinNames, rows: 5_670),
            Source(name: "nagix/mini-tokyo-3d", license: "MIT", kind: .latinNames, rows: 2_192),
        ] + (hasYSRL ? [ysrl] : [])
    }
}

/// Text with one row a line, sorted by the bytes of a key that each line begins with, fields separated by tabs.
@safe private struct PackedTable: @unchecked Sendable {
    private let text: UnsafeRawBufferPointer

    // The C module's constants last as long as the process.
    static let companies = unsafe PackedTable(kazasu_companies, kazasu_companies_size)
    static let lines = unsafe PackedTable(kazasu_lines, kazasu_lines_size)
    static let stations = unsafe PackedTable(kazasu_stations, kazasu_stations_size)
    static let stops = unsafe PackedTable(kazasu_stops, kazasu_stops_size)
    static let former = unsafe PackedTable(kazasu_former, kazasu_former_size)
    static let formerLines = unsafe PackedTable(kazasu_former_lines, kazasu_former_lines_size)

    private init(_ start: UnsafePointer<CChar>, _ size: UInt) {
        unsafe text = UnsafeRawBufferPointer(start: start, count: Int(size))
    }

    /// A row's fields; one that is not there is empty. A field becomes a string when it is asked for.
    @safe struct Row {
        private let line: UnsafeRawBufferPointer

        init(_ line: UnsafeRawBufferPointer) { unsafe self.line = line }

        subscript(_ number: Int) -> String {
            var start = 0
            for _ in 0..<number {
                guard let end = unsafe line.firstIndex(of: .tab, from: start) else { return "" }
                start = end + 1
            }
            let end = unsafe line.firstIndex(of: .tab, from: start) ?? line.count
            return unsafe String(decoding: UnsafeRawBufferPointer(rebasing: line[start..<end]), as: UTF8.self)
        }

        /// A field, or `nil` if it is empty.
        func text(_ number: Int) -> String? {
            let field = self[number]
            return field.isEmpty ? nil : field
        }
    }

    /// The number of rows.
    var count: Int {
        var (count, start) = (0, 0)
        while let end = unsafe text.firstIndex(of: .lineFeed, from: start) { (count, start) = (count + 1, end + 1) }
        return count
    }

    /// All rows, in their order.
    var rows: [Row] {
        var (rows, start): ([Row], Int) = ([], 0)
        while unsafe start < text.count {
            let end = end(of: start)
            rows.append(row(start, end))
            start = end + 1
        }
        return rows
    }

    private func row(_ start: Int, _ end: Int) -> Row {
        unsafe Row(UnsafeRawBufferPointer(rebasing: text[start..<end]))
    }

    /// The first row whose key is this.
    func row(_ key: String) -> Row? { rows(key, limit: 1).first.flatMap { $0[0] == key ? $0 : nil } }

    /// The rows whose keys begin so, in their order.
    func rows(_ prefix: String, limit: Int = .max) -> [Row] {
        let wanted = Array(prefix.utf8)
        var (low, high) = unsafe (0, text.count)
        // `low` and `high` are beginnings of lines: all before `low` are smaller, none from `high` on is.
        while low < high {
            let middle = low + (high - low) / 2
            let start = unsafe (text.lastIndex(of: .lineFeed, in: low..<middle) ?? low - 1) + 1
            if unsafe text.order(of: wanted, at: start) < 0 {
                low = end(of: start) + 1
            } else {
                high = start
            }
        }
        var found: [Row] = []
        while found.count < limit, unsafe low < text.count {
            let end = end(of: low)
            guard end - low >= wanted.count, unsafe text.order(of: wanted, at: low) == 0 else { break }
            found.append(row(low, end))
            low = end + 1
        }
        return found
    }

    private func end(of start: Int) -> Int { unsafe text.firstIndex(of: .lineFeed, from: start) ?? text.count }
}

extension UInt8 {
    fileprivate static let tab = UInt8(ascii: "\t")
    fileprivate static let lineFeed = UInt8(ascii: "\n")
}

/// Loops, as the generic searches of the standard library are slow where nothing is optimized.
extension UnsafeRawBufferPointer {
    /// The first place of a byte from `start`.
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index < count {
            if unsafe self[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// The last place of a byte in a range.
    fileprivate func lastIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        var index = range.upperBound
        while index > range.lowerBound {
            index -= 1
            if unsafe self[index] == byte { return index }
        }
        return nil
    }

    /// How the bytes from `start` are ordered to those wanted: below zero if before them, zero if they begin with them.
    fileprivate func order(of wanted: [UInt8], at start: Int) -> Int {
        var index = 0
        while index < wanted.count {
            guard start + index < count else { return -1 }
            let difference = unsafe Int(self[start + index]) - Int(wanted[index])
            if difference != 0 { return difference }
            index += 1
        }
        return 0
    }
}

extension FormerUse {
    fileprivate init(_ row: PackedTable.Row) {
        let kind: Kind =
            switch row[4] {
            case "r": .reassigned
            case "i": .reassignedAbout
            case "v": .vacated
            default: .renamed
            }
        self.init(
            name: FormerName(row[1], until: CalendarDate(row[2]), latin: row.text(3)), kind: kind,
            knownSince: CalendarDate(row[5]))
    }
}
