// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CStationTables
internal import CardModel

/// The names of stations and bus stops that come with Kazasu: 7,829 stations and 4,925 bus stops of Japan.
///
/// Compiled from public tables and names in Latin script; `NOTICE` has the sources and their licences. The tables are searched in
/// place: nothing is read when a program starts.
public struct ShippedStations: StationNames {
    /// Makes the table.
    public init() {}

    /// Returns the station that had this code on that day, or `nil` for an unknown code.
    public func station(_ code: StationCode, on date: CalendarDate?) -> StationName? {
        let key = Hex.encode([code.area, code.line, code.station], uppercase: true)
        let row = PackedTable.stations.row(key)
        let former = PackedTable.former.rows(key).map { FormerName($0[1], until: CalendarDate($0[2])) }
        guard row != nil || !former.isEmpty else {
            // A station that no public table has may be known from a card whose owner named it.
            return DecoderTables.ownersStations[StationRow.key(area: code.area, line: code.line, station: code.station)]
        }
        let line = row.flatMap { PackedTable.lines.row($0[1]) }
        let company = line.flatMap { PackedTable.companies.row($0[1]) }
        return StationName(
            company: company?.text(1), line: line?.text(2), name: row?.text(2),
            latin: .init(company: company?.text(2), line: line?.text(3), name: row?.text(3))
        ).on(date, formerly: former)
    }

    /// Returns the bus stop with this code, or `nil` for an unknown code.
    ///
    /// All 16 bits of both codes are significant. For an unknown stop of a known operator the name is `nil`.
    public func busStop(_ code: BusStopCode, on date: CalendarDate?) -> StationName? {
        let row = PackedTable.stops.row(code.operatorHex + code.stopHex)
        let numbers = row.map { [$0[1]] } ?? Set(PackedTable.stops.rows(code.operatorHex).map { $0[1] })
        guard numbers.count == 1, let number = numbers.first else { return nil }
        let company = PackedTable.companies.row(number)
        return StationName(
            company: company?.text(1), line: nil, name: row?.text(2), latin: .init(company: company?.text(2)))
    }

    /// The number of rows of each table.
    package static var counts: (stations: Int, busStops: Int, formerNames: Int) {
        (PackedTable.stations.count, PackedTable.stops.count, PackedTable.former.count)
    }

    /// The codes of all stations and stops, in their order.
    package static var codes: [PlaceCode] {
        PackedTable.stations.keys.compactMap { key in
            guard let bytes = try? Hex.decode(key), bytes.count == 3 else { return nil }
            return .station(StationCode(area: bytes[0], line: bytes[1], station: bytes[2]))
        }
            + PackedTable.stops.keys.compactMap { key in
                guard let bytes = try? Hex.decode(key), bytes.count == 4 else { return nil }
                let numbers = bytes.map(UInt16.init)
                return .busStop(
                    BusStopCode(
                        area: 0, operatorCode: numbers[0] << 8 | numbers[1], stop: numbers[2] << 8 | numbers[3]))
            }
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

    private init(_ start: UnsafePointer<CChar>, _ size: UInt) {
        unsafe text = UnsafeRawBufferPointer(start: start, count: Int(size))
    }

    /// A row's fields; one that is not there is empty.
    struct Row {
        private let fields: [String]

        init(_ line: Slice<UnsafeRawBufferPointer>) {
            fields = unsafe line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
                unsafe String(decoding: $0, as: UTF8.self)
            }
        }

        subscript(_ number: Int) -> String { number < fields.count ? fields[number] : "" }

        /// A field, or `nil` if it is empty.
        func text(_ number: Int) -> String? { self[number].isEmpty ? nil : self[number] }
    }

    /// The number of rows.
    var count: Int { unsafe text.count { $0 == UInt8(ascii: "\n") } }

    /// The key of each row.
    var keys: [String] {
        unsafe text.split(separator: UInt8(ascii: "\n")).map { unsafe Row($0)[0] }
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
            let start = unsafe (text[low..<middle].lastIndex(of: UInt8(ascii: "\n")) ?? low - 1) + 1
            if unsafe text[start...].lexicographicallyPrecedes(wanted) {
                low = end(of: start) + 1
            } else {
                high = start
            }
        }
        var found: [Row] = []
        while found.count < limit, unsafe low < text.count {
            let end = end(of: low)
            guard unsafe text[low..<end].starts(with: wanted) else { break }
            unsafe found.append(Row(text[low..<end]))
            low = end + 1
        }
        return found
    }

    private func end(of start: Int) -> Int {
        unsafe text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
    }
}
