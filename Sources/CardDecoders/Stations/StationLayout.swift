// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel

/// The columns of a file of station names.
struct StationLayout {
    enum Kind { case stations, busStops, formerNames }

    let kind: Kind
    /// Whether the header is that of Kazasu's own layout.
    let isOwn: Bool
    /// The line of the header, or 0.
    private let headerLine: Int
    private let from: Int?
    private let until: Int?

    private static let ownColumns = ["area", "line", "station", "company", "line_name", "station_name"]

    /// Looks at the first row.
    init(_ text: DelimitedText) throws(DocumentError) {
        var first: DelimitedRow?
        try text.forEachRow(mostRows: 1) { row throws(DocumentError) in first = row }
        guard let first else { throw .malformedLine(line: 1, expected: "rows of station codes and names") }
        let names = first.fields.indices.map { first.text($0)?.lowercased() ?? "" }
        let isHeader = first.number(0, .hex) == nil
        headerLine = isHeader ? first.line : 0
        from = isHeader ? names.firstIndex(of: "valid_from") : nil
        until = isHeader ? names.firstIndex(of: "valid_until") : nil
        // Commas with the same names over the columns are another's file, whose codes may be hexadecimal.
        let hasTabs = text.separator == UInt8(ascii: "\t")
        if isHeader, names.starts(with: ["operator", "stop"]) {
            kind = .busStops
            isOwn = hasTabs && names.element(at: 3) == "stop_name"
        } else if isHeader, names.contains("former_name") {
            kind = .formerNames
            isOwn = hasTabs
        } else {
            kind = .stations
            isOwn = isHeader && hasTabs && names.starts(with: StationLayout.ownColumns)
        }
    }

    // MARK: Codes

    /// Area, line and station of a row.
    func stationKey(_ row: DelimitedRow, _ codes: StationFile.Codes) -> UInt32? {
        guard let area = row.byte(0, codes), let line = row.byte(1, codes), let station = row.byte(2, codes) else {
            return nil
        }
        return StationRow.key(area: area, line: line, station: station)
    }

    private func busStopKey(_ row: DelimitedRow, _ codes: StationFile.Codes) -> UInt32? {
        guard let operatorCode = row.number(0, codes), let stop = row.number(1, codes) else { return nil }
        return operatorCode << 16 | stop
    }

    /// Whether any code has a letter among its digits.
    func hasLetters(_ text: DelimitedText) throws(DocumentError) -> Bool {
        let columns = kind == .busStops ? 2 : 3
        var found = false
        try text.forEachRow { row throws(DocumentError) in
            guard row.line != headerLine, !found else { return }
            found = (0..<columns).contains { column in
                row.number(column, .hex) != nil && row.number(column, .decimal) == nil
            }
        }
        return found
    }

    // MARK: Rows

    /// All rows, and how many were left out because their key had been there.
    func rows(_ text: DelimitedText, _ codes: StationFile.Codes) throws(DocumentError) -> (StationRows, Int) {
        var strings = RepeatedStrings(columns: 6)
        var keys = SeenKeys(kind)
        var repeated = 0
        var stations: [StationRow] = []
        var busStops: [BusStopRow] = []
        var formerNames: [FormerNameRow] = []
        try text.forEachRow { row throws(DocumentError) in
            guard row.line != headerLine else { return }
            guard let key = kind == .busStops ? busStopKey(row, codes) : stationKey(row, codes) else {
                throw .malformedLine(line: row.line, expected: expectation(codes))
            }
            let dates = try (date(row, from), date(row, until))
            let hasDates = dates.0 != nil || dates.1 != nil
            if !hasDates, !keys.insert(key) {
                repeated += 1
                return
            }
            switch kind {
            case .stations:
                let name = StationName(
                    company: strings.text(row, 3), line: strings.text(row, 4), name: strings.text(row, 5))
                stations.append(StationRow(key: key, name: name, from: dates.0, until: dates.1))
            case .busStops:
                let name = StationName(company: strings.text(row, 2), line: nil, name: strings.text(row, 3))
                busStops.append(BusStopRow(key: key, name: name))
            case .formerNames:
                if let former = row.text(4) { formerNames.append(FormerNameRow(key: key, formerName: former)) }
            }
        }
        return switch kind {
        case .stations: (.stations(stations), repeated)
        case .busStops: (.busStops(busStops), repeated)
        case .formerNames: (.formerNames(formerNames), repeated)
        }
    }

    private func expectation(_ codes: StationFile.Codes) -> String {
        let columns =
            kind == .busStops ? "operator and stop code (0 to 65535)" : "area, line and station code (0 to 255)"
        return "\(columns), \(codes == .hex ? "hexadecimal" : "decimal")"
    }

    /// A day as `YYYY-MM-DD`; an empty field is none.
    private func date(_ row: DelimitedRow, _ column: Int?) throws(DocumentError) -> CalendarDate? {
        guard let column, let text = row.text(column) else { return nil }
        guard let date = CalendarDate(text) else {
            throw .malformedLine(line: row.line, expected: "a date as 2020-03-14")
        }
        return date
    }
}

/// The keys that rows had before.
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
