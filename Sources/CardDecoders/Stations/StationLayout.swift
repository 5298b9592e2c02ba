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

    /// Looks at the first row.
    init(_ text: DelimitedText) throws(DocumentError) {
        var first: (line: Int, fields: [String])?
        try text.forEachRow(mostRows: 1) { line, fields throws(DocumentError) in
            first = (line, fields.map { String(decoding: $0, as: UTF8.self) })
        }
        guard let first else { throw .malformedLine(line: 1, expected: "rows of station codes and names") }
        let names = first.fields.map { $0.lowercased() }
        let isHeader = first.fields.first.map { StationLayout.number($0.utf8, .hex) == nil } ?? false
        headerLine = isHeader ? first.line : 0
        from = isHeader ? names.firstIndex(of: "valid_from") : nil
        until = isHeader ? names.firstIndex(of: "valid_until") : nil
        if isHeader, names.starts(with: ["operator", "stop"]) {
            kind = .busStops
            isOwn = names.element(at: 3) == "stop_name"
        } else if isHeader, names.contains("former_name") {
            kind = .formerNames
            isOwn = true
        } else {
            kind = .stations
            isOwn = isHeader && names.element(at: 4) == "line_name" && names.element(at: 5) == "station_name"
        }
    }

    // MARK: Codes

    /// The number that the digits write, at most 65535; `nil` when they write none.
    static func number(_ digits: some Collection<UInt8>, _ codes: StationFile.Codes) -> UInt32? {
        guard (1...5).contains(digits.count) else { return nil }
        var value: UInt32 = 0
        for digit in digits {
            guard let nibble = Hex.value(of: digit) else { return nil }
            switch codes {
            case .hex: value = value << 4 | UInt32(nibble)
            case .decimal:
                guard nibble < 10 else { return nil }
                value = value * 10 + UInt32(nibble)
            }
        }
        return value <= 0xFFFF ? value : nil
    }

    private static func byte(_ digits: some Collection<UInt8>, _ codes: StationFile.Codes) -> UInt8? {
        number(digits, codes).flatMap { UInt8(exactly: $0) }
    }

    /// Area, line and station of a row.
    func stationKey(_ fields: [ArraySlice<UInt8>], _ codes: StationFile.Codes) -> UInt32? {
        guard fields.count >= 3, let area = StationLayout.byte(fields[0], codes),
            let line = StationLayout.byte(fields[1], codes), let station = StationLayout.byte(fields[2], codes)
        else { return nil }
        return StationRow.key(area: area, line: line, station: station)
    }

    private func busStopKey(_ fields: [ArraySlice<UInt8>], _ codes: StationFile.Codes) -> UInt32? {
        guard fields.count >= 2, let operatorCode = StationLayout.number(fields[0], codes),
            let stop = StationLayout.number(fields[1], codes)
        else { return nil }
        return operatorCode << 16 | stop
    }

    /// Whether any code has a letter among its digits.
    func hasLetters(_ text: DelimitedText) throws(DocumentError) -> Bool {
        let columns = kind == .busStops ? 2 : 3
        var found = false
        try text.forEachRow { line, fields throws(DocumentError) in
            guard line != headerLine, !found else { return }
            found = fields.prefix(columns).contains { field in
                StationLayout.number(field, .hex) != nil && field.contains { $0 >= 0x41 }
            }
        }
        return found
    }

    // MARK: Rows

    /// All rows, and how many were left out because their key had been there.
    func rows(_ text: DelimitedText, _ codes: StationFile.Codes) throws(DocumentError) -> (StationRows, Int) {
        var strings = RepeatedStrings()
        var seen: Set<UInt32> = []
        var repeated = 0
        var stations: [StationRow] = []
        var busStops: [BusStopRow] = []
        var formerNames: [FormerNameRow] = []
        try text.forEachRow { line, fields throws(DocumentError) in
            guard line != headerLine else { return }
            guard let key = kind == .busStops ? busStopKey(fields, codes) : stationKey(fields, codes) else {
                throw .malformedLine(line: line, expected: expectation(codes))
            }
            let dates = try (date(fields, from, line), date(fields, until, line))
            let hasDates = dates.0 != nil || dates.1 != nil
            if !hasDates, !seen.insert(key).inserted {
                repeated += 1
                return
            }
            switch kind {
            case .stations:
                let name = StationName(
                    company: strings.text(fields.element(at: 3), 0), line: strings.text(fields.element(at: 4), 1),
                    name: strings.text(fields.element(at: 5), 2))
                stations.append(StationRow(key: key, name: name, from: dates.0, until: dates.1))
            case .busStops:
                let name = StationName(
                    company: strings.text(fields.element(at: 2), 0), line: nil,
                    name: strings.text(fields.element(at: 3), 2))
                busStops.append(BusStopRow(key: key, name: name))
            case .formerNames:
                if let former = strings.text(fields.element(at: 4), 2) {
                    formerNames.append(FormerNameRow(key: key, formerName: former))
                }
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
    private func date(
        _ fields: [ArraySlice<UInt8>], _ column: Int?, _ line: Int
    ) throws(DocumentError) -> CalendarDate? {
        guard let column, let field = fields.element(at: column), !field.isEmpty else { return nil }
        guard let date = CalendarDate(String(decoding: field, as: UTF8.self)) else {
            throw .malformedLine(line: line, expected: "a date as 2020-03-14")
        }
        return date
    }
}
