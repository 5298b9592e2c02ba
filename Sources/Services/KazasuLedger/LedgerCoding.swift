// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
package import CardModel
internal import SQLiteFiles

/// How values of a record are written in the columns of a ledger, and read from there.
package enum LedgerCoding {
    static func number(_ date: CalendarDate?) -> Int? { date.map { $0.year * 10_000 + $0.month * 100 + $0.day } }

    static func date(_ number: Int?) -> CalendarDate? {
        number.flatMap { CalendarDate(year: $0 / 10_000, month: $0 / 100 % 100, day: $0 % 100) }
    }

    static func number(_ time: ClockTime?) -> Int? {
        time.map { ($0.hour * 3600 + $0.minute * 60 + ($0.second ?? 0)) * 2 + ($0.second == nil ? 0 : 1) }
    }

    static func time(_ number: Int?) -> ClockTime? {
        number.flatMap {
            let second = $0 / 2
            return ClockTime(
                hour: second / 3600, minute: second / 60 % 60, second: $0 % 2 == 0 ? nil : second % 60)
        }
    }

    /// Month, day and hour as decimal digits `mmddhh`, each plus one so that 0 is unknown.
    static func number(_ partial: PartialMoment?) -> Int? {
        partial.map { (($0.month ?? 0) * 100 + ($0.day ?? 0)) * 100 + ($0.hour.map { $0 + 1 } ?? 0) }
    }

    static func partial(_ number: Int?) -> PartialMoment? {
        guard let number else { return nil }
        let (month, day, hour) = (number / 10_000, number / 100 % 100, number % 100)
        if month > 0, day > 0 {
            var moment = PartialMoment(month: month, day: day)
            if hour > 0 { moment?.hour = hour - 1 }
            return moment
        }
        return hour > 0 ? PartialMoment(hour: hour - 1) : nil
    }

    static func text(_ log: GateTimes?) -> String? {
        log.map { log in
            "\(log.entryDate?.description ?? "-") \(log.fare)"
                + (log.settlement.map { " \($0.amount) \($0.station.rawValue)" } ?? "")
        }
    }

    static func gateLog(_ text: String?) -> GateTimes? {
        guard let parts = text?.split(separator: " "), parts.count == 2 || parts.count == 4, let fare = Int(parts[1])
        else { return nil }
        var settlement: GateSettlement?
        if parts.count == 4, let amount = Int(parts[2]), let station = UInt16(parts[3]) {
            settlement = GateSettlement(amount: amount, station: LineStationCode(rawValue: station))
        }
        return GateTimes(entryDate: CalendarDate(parts[0]), fare: fare, settlement: settlement)
    }

    /// The code of a place as the file keeps it: `0_227_59` for a station, `b_0_04E2_0001` for a bus stop, `l_…` for a stop of a local
    /// card. Answers have ``PlaceCode/key``.
    static func text(_ code: PlaceCode) -> String {
        switch code {
        case .station(let code): "\(code.area)_\(code.line)_\(code.station)"
        case .busStop(let code): "b_\(code.area)_\(code.operatorHex)_\(code.stopHex)"
        case .local(let code):
            "l_\(code.system)_\(code.area.map { String($0) } ?? "")_\(code.operatorHex ?? "")_\(code.lineHex ?? "")_"
                + code.stopHex
        }
    }

    static func place(_ text: String) -> PlaceCode? {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("b", 4):
            guard let area = UInt8(parts[1]), let code = UInt16(parts[2], radix: 16),
                let stop = UInt16(parts[3], radix: 16)
            else { return nil }
            return .busStop(BusStopCode(area: area, operatorCode: code, stop: stop))
        case ("l", 6):
            guard let system = UInt16(parts[1], radix: 16), let stop = UInt32(parts[5], radix: 16) else { return nil }
            return .local(
                LocalStopCode(
                    system: SystemCode(rawValue: system), area: UInt8(parts[2]),
                    operatorCode: UInt16(parts[3], radix: 16), line: UInt16(parts[4], radix: 16), stop: stop,
                    digits: parts[5].count))
        case (_, 3):
            guard let area = UInt8(parts[0]), let line = UInt8(parts[1]), let station = UInt8(parts[2]) else {
                return nil
            }
            return .station(StationCode(area: area, line: line, station: station))
        default: return nil
        }
    }

    static func raw(_ record: HistoryRecord) -> [UInt8] { (record.rawHead?.bytes ?? []) + record.raw.bytes }

    package static func blocks(_ bytes: [UInt8]) -> (head: Block?, block: Block) {
        bytes.count == 32
            ? (Block(bytes.prefix(16)), Block(bytes.suffix(16)) ?? .zero) : (nil, Block(bytes) ?? .zero)
    }

    /// A short hash that never changes (FNV-1a, 64 bits).
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

/// Caches the row numbers of places and named codes.
struct StoredNames {
    private var places: [Place: Int64] = [:]
    private var codes: [CodedValue: Int64] = [:]

    /// The number of a place; 0 for none. A name that the decoder itself gave is kept, since no table of the user's has it.
    mutating func number(_ place: Place?, _ db: Database) throws -> Int64 {
        guard let place else { return 0 }
        if let known = places[place] { return known }
        var (company, line, name): (String?, String?, String?)
        if case .local = place.code {
            (company, line, name) = (place.name?.company, place.name?.line, place.name?.name)
        }
        let (text, doubt) = (LedgerCoding.text(place.code), place.codeDoubt?.rawValue ?? "")
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO place (code, doubt, company, line, name) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET company = coalesce(excluded.company, company),
                    line = coalesce(excluded.line, line), name = coalesce(excluded.name, name)
                """)
        try insert.execute(arguments: [text, doubt, company, line, name])
        let found =
            try Int64.fetchOne(
                db, sql: "SELECT id FROM place WHERE code = ? AND doubt = ?", arguments: [text, doubt]) ?? 0
        places[place] = found
        return found
    }

    mutating func number(_ code: CodedValue?, _ db: Database) throws -> Int64? {
        guard let code else { return nil }
        if let known = codes[code] { return known }
        let arguments: StatementArguments = [
            Int(code.code), code.name?.english ?? "", code.name?.japanese ?? "", code.doubt?.rawValue ?? "",
        ]
        try db.execute(
            sql: "INSERT OR IGNORE INTO coded (code, english, japanese, doubt) VALUES (?, ?, ?, ?)",
            arguments: arguments)
        let found = try Int64.fetchOne(
            db, sql: "SELECT id FROM coded WHERE code = ? AND english = ? AND japanese = ? AND doubt = ?",
            arguments: arguments)
        codes[code] = found
        return found
    }
}
