// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// One row of a station table.
package struct StationRow: Hashable, Sendable {
    /// The area, line and station codes in one number.
    var key: UInt32
    /// The name in the row.
    package var name: StationName
    /// The first day of validity; `nil` for no limit.
    package var from: CalendarDate?
    /// The last day of validity; `nil` for no limit.
    package var until: CalendarDate?

    init(key: UInt32, name: StationName, from: CalendarDate? = nil, until: CalendarDate? = nil) {
        self.key = key
        self.name = name
        self.from = from
        self.until = until
    }

    package var code: StationCode { StationCode(key: key) }

    var hasDates: Bool { from != nil || until != nil }
    var isValidToday: Bool { until == nil }

    func isValid(on date: CalendarDate) -> Bool {
        (from.map { $0 <= date } ?? true) && (until.map { date <= $0 } ?? true)
    }
}

/// One row of a bus stop table.
package struct BusStopRow: Hashable, Sendable {
    /// The operator and stop codes in one number.
    var key: UInt32
    /// The name in the row.
    package var name: StationName

    package var code: BusStopCode { BusStopCode(key: key) }
}

/// One row of a table of former station names.
package struct FormerNameRow: Hashable, Sendable {
    /// The area, line and station codes in one number.
    var key: UInt32
    /// The former name for the code, with its last day where the table gives it.
    package var former: FormerName

    package var code: StationCode { StationCode(key: key) }
}

/// The column layout of a file of station names.
struct StationLayout {
    enum Kind { case stations, busStops, formerNames }

    let kind: Kind
    /// Whether the header is that of Kazasu's own layout.
    let isOwn: Bool
    /// The line number of the header, or 0.
    private let headerLine: Int
    private let from: Int?
    private let until: Int?
    /// The column of the first code, followed by the other codes and then the company.
    private let first: Int
    private let lineColumn: Int?
    private let nameColumn: Int

    private static let ownColumns = ["area", "line", "station", "company", "line_name", "station_name"]

    /// Determines the layout from the first row.
    init(_ text: DelimitedText) throws(DocumentError) {
        var first: DelimitedRow?
        try text.forEachRow(mostRows: 1) { row throws(DocumentError) in first = row }
        guard let first else { throw .malformedLine(line: 1, expected: .init(.stationRows)) }
        let names = first.fields.indices.map { first.text($0)?.lowercased() ?? "" }
        let isHeader = first.number(0, .hex) == nil
        headerLine = isHeader ? first.line : 0
        from = isHeader ? names.firstIndex(of: "valid_from") : nil
        until = isHeader ? names.firstIndex(of: "valid_until") : nil
        // Comma-separated files with the same header come from elsewhere, and their codes can be hexadecimal.
        let hasTabs = text.separator == UInt8(ascii: "\t")
        if isHeader, names.starts(with: ["operator", "stop"]) {
            kind = .busStops
            isOwn = hasTabs && names.element(at: 3) == "stop_name"
            (self.first, lineColumn, nameColumn) = (0, nil, 3)
        } else if isHeader, let line = names.firstIndex(of: "linecode"), !names.contains("areacode") {
            // The tables derived from nfc-felica call operators lines and stops stations.
            kind = .busStops
            isOwn = false
            (self.first, lineColumn, nameColumn) = (line, nil, names.firstIndex(of: "stationname") ?? line + 4)
        } else if isHeader, names.contains("former_name") {
            kind = .formerNames
            isOwn = hasTabs
            (self.first, lineColumn, nameColumn) = (0, nil, 4)
        } else {
            kind = .stations
            isOwn = isHeader && hasTabs && names.starts(with: StationLayout.ownColumns)
            let area = isHeader ? names.firstIndex(of: "areacode") ?? 0 : 0
            (self.first, lineColumn, nameColumn) = (area, area + 4, area + 5)
        }
    }

    // MARK: Codes

    /// The key of area, line and station in a row.
    func stationKey(_ row: DelimitedRow, _ codes: StationFile.Codes) -> UInt32? {
        guard let area = row.byte(first, codes), let line = row.byte(first + 1, codes),
            let station = row.byte(first + 2, codes)
        else { return nil }
        return StationCode(area: area, line: line, station: station).key
    }

    /// The name in a row, UTF-8.
    func name(_ row: DelimitedRow) -> ArraySlice<UInt8>? { row.field(nameColumn) }

    private func busStopKey(_ row: DelimitedRow, _ codes: StationFile.Codes) -> UInt32? {
        guard let operatorCode = row.number(first, codes), let stop = row.number(first + 1, codes) else { return nil }
        return operatorCode << 16 | stop
    }

    /// The key of a row of this kind.
    private func key(_ row: DelimitedRow, _ codes: StationFile.Codes) -> UInt32? {
        kind == .busStops ? busStopKey(row, codes) : stationKey(row, codes)
    }

    private var codeCount: Int { kind == .busStops ? 2 : 3 }

    /// Returns whether any row has codes, in one notation or the other.
    func hasCodes(_ text: DelimitedText) throws(DocumentError) -> Bool {
        var found = false
        try text.forEachRow { row throws(DocumentError) in
            guard row.line != headerLine, !found else { return }
            found = [StationFile.Codes.hex, .decimal].contains { key(row, $0) != nil }
        }
        return found
    }

    /// Returns whether any code contains a letter.
    func hasLetters(_ text: DelimitedText) throws(DocumentError) -> Bool {
        var found = false
        try text.forEachRow { row throws(DocumentError) in
            guard row.line != headerLine, !found else { return }
            found = (first..<first + codeCount).contains { column in
                row.number(column, .hex) != nil && row.number(column, .decimal) == nil
            }
        }
        return found
    }

    // MARK: Rows

    /// The contents of a file.
    struct Contents {
        let rows: StationRows
        /// The number of rows skipped because their key occurred before.
        let repeated: Int
        /// The number of skipped rows whose name differs from that of the row in use.
        let differing: Int
    }

    /// Returns all rows; of undated rows with the same key, the first one wins.
    func contents(_ text: DelimitedText, _ codes: StationFile.Codes) throws(DocumentError) -> Contents {
        var strings = RepeatedStrings(columns: nameColumn + 1)
        var keys = SeenKeys(kind)
        var left: [(key: UInt32, name: String?)] = []
        var stations: [StationRow] = []
        var busStops: [BusStopRow] = []
        var formerNames: [FormerNameRow] = []
        try text.forEachRow { row throws(DocumentError) in
            guard row.line != headerLine else { return }
            guard let key = key(row, codes) else {
                throw .malformedLine(line: row.line, expected: expectation(codes))
            }
            let dates = try (date(row, from), date(row, until))
            if kind == .formerNames {
                // A code can have had several former names.
                if let former = row.text(nameColumn) {
                    formerNames.append(FormerNameRow(key: key, former: FormerName(former, until: dates.1?.next)))
                }
                return
            }
            func text(_ column: Int?) -> String? {
                column.flatMap { strings.text(row, $0) }.flatMap { $0 == "NULL" ? nil : $0 }
            }
            if dates == (nil, nil), !keys.insert(key) {
                left.append((key, text(nameColumn)))
                return
            }
            let name = StationName(company: text(first + codeCount), line: text(lineColumn), name: text(nameColumn))
            if kind == .stations {
                stations.append(StationRow(key: key, name: name, from: dates.0, until: dates.1))
            } else {
                busStops.append(BusStopRow(key: key, name: name))
            }
        }
        let rows: StationRows =
            switch kind {
            case .stations: .stations(stations)
            case .busStops: .busStops(busStops)
            case .formerNames: .formerNames(formerNames)
            }
        let differing = left.isEmpty ? 0 : StationLayout.differing(left, rows)
        return Contents(rows: rows, repeated: left.count, differing: differing)
    }

    private static func differing(_ left: [(key: UInt32, name: String?)], _ rows: StationRows) -> Int {
        let wanted = Set(left.map(\.key))
        var kept: [UInt32: String?] = [:]
        switch rows {
        case .stations(let rows):
            for row in rows where wanted.contains(row.key) && kept[row.key] == nil { kept[row.key] = row.name.name }
        case .busStops(let rows): for row in rows where wanted.contains(row.key) { kept[row.key] = row.name.name }
        case .formerNames: break
        }
        return left.count { kept[$0.key] != .some($0.name) }
    }

    private func expectation(_ codes: StationFile.Codes) -> DocumentError.Expectation {
        switch (kind == .busStops, codes == .hex) {
        case (true, true): .init(.hexBusStop)
        case (true, false): .init(.decimalBusStop)
        case (false, true): .init(.hexStation)
        case (false, false): .init(.decimalStation)
        }
    }

    /// A day as `YYYY-MM-DD`; `nil` for an empty field.
    private func date(_ row: DelimitedRow, _ column: Int?) throws(DocumentError) -> CalendarDate? {
        guard let column, let text = row.text(column) else { return nil }
        guard let date = CalendarDate(text) else {
            throw .malformedLine(line: row.line, expected: .init(.date))
        }
        return date
    }
}

/// The keys of previous rows.
private struct SeenKeys {
    private var stations: StationIndex?
    private var others: Set<UInt32> = []

    init(_ kind: StationLayout.Kind) {
        stations = kind == .busStops ? nil : StationIndex()
    }

    /// - Returns: whether the key is new.
    mutating func insert(_ key: UInt32) -> Bool {
        stations?.insert(key) ?? others.insert(key).inserted
    }
}

/// Makes strings from fields; a field equal to the previous one in its column shares that string.
struct RepeatedStrings {
    private var last: [(range: Range<Int>, text: String)?]

    /// Prepares sharing for the columns below `columns`.
    init(columns: Int) {
        last = Array(repeating: nil, count: columns)
    }

    /// The text of a field; `nil` when it is empty or missing.
    mutating func text(_ row: DelimitedRow, _ column: Int) -> String? {
        guard let range = row.fields.element(at: column), !range.isEmpty else { return nil }
        if let known = last.element(at: column) ?? nil, row.isEqual(known.range, range) { return known.text }
        let text = row.text(column)
        if last.indices.contains(column) { last[column] = text.map { (range, $0) } }
        return text
    }
}
