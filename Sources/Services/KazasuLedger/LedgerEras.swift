// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel
internal import SQLiteFiles

// The counter of a card may wrap around or be reset, and then its serials repeat. Records between two such events are an
// era; nearly every purse has one.
extension WindowMerge {
    /// The era that a segment belongs to. Where no further era has room, it is the first or the last that has.
    mutating func era(
        of segment: ArraySlice<HistoryRecord>, _ first: Int, _ last: Int, before later: Int64?, _ purse: MergePurse
    ) throws -> Int64 {
        let era = try unlimitedEra(of: segment, first, last, before: later, purse)
        return min(max(era, LedgerOrder.eras.lowerBound), LedgerOrder.eras.upperBound - 1)
    }

    private mutating func unlimitedEra(
        of segment: ArraySlice<HistoryRecord>, _ first: Int, _ last: Int, before later: Int64?, _ purse: MergePurse
    ) throws -> Int64 {
        let eras = try eras(of: purse)
        guard !eras.isEmpty else { return LedgerOrder.firstEra }
        for era in eras {
            let (from, through) = (
                LedgerOrder.place(era: era, serial: first), LedgerOrder.place(era: era, serial: last) | 0xFF
            )
            let known = try KnownRecord.all(db, purse.id, from, through)
            let serials = Dictionary(grouping: known) { $0.serial ?? 0 }
            if segment.contains(where: { record in serials[record.serial ?? 0]?.contains { $0.isSame(record) } ?? false
            }) {
                return era
            }
        }
        let half = purse.count.mask >> 1
        let day = median(segment.compactMap(\.date).filter { $0 <= tomorrow })
        let open = eras.filter { $0 < later ?? .max }
        if let day { for era in open where try fits(segment, day, era: era, half: half, purse) { return era } }
        if let later { return open.last.map { $0 + max(1, (later - $0) / 2) } ?? later - LedgerOrder.eraStep }
        guard let day else { return eras[0] }
        // A new era, between those that began before and after it.
        var (before, after): (Int64?, Int64?) = (nil, nil)
        for era in eras {
            let start = try Row.fetchOne(
                db,
                sql: """
                    SELECT date, serial FROM record WHERE purse = ? AND ord >= ? AND date IS NOT NULL ORDER BY ord LIMIT 1
                    """, arguments: [purse.id, era << LedgerOrder.eraShift])
            guard let start, let date = try LedgerCoding.date(start.value(0)) else { continue }
            // Within one day the counter decides: the part that it reaches first is older.
            let isSoon = try ((start.value(1) ?? 0) &- last) & purse.count.mask <= half
            if date > day || date == day && isSoon {
                after = era
                break
            }
            before = era
        }
        if before != nil { counts.notices.append(.serialsWentBack(card: purse.card)) }
        switch (before, after) {
        case (let before?, let after?): return before + max(1, (after - before) / 2)
        case (let before?, nil): return before + LedgerOrder.eraStep
        case (nil, let after?): return after - LedgerOrder.eraStep
        case (nil, nil): return LedgerOrder.firstEra
        }
    }

    /// The eras of a purse in order; nearly always one.
    private func eras(of purse: MergePurse) throws -> [Int64] {
        var eras: [Int64] = []
        var from = Int64.min
        let next = try db.cachedStatement(
            sql: "SELECT ord FROM record WHERE purse = ? AND ord >= ? ORDER BY ord LIMIT 1")
        while let order = try Int64.fetchOne(next, arguments: [purse.id, from]) {
            let era = order >> LedgerOrder.eraShift
            // A text or a broken number sorts behind every integer, and would be found again and again.
            guard order >= from, LedgerOrder.eras.contains(era) else { throw SQLiteFile.Fault.damaged }
            eras.append(era)
            from = (era + 1) << LedgerOrder.eraShift
        }
        return eras
    }

    /// Whether the neighbors by serial are neighbors by date too. A few records on each side count, so that one machine with
    /// a wrong clock changes nothing.
    private func fits(
        _ segment: ArraySlice<HistoryRecord>, _ day: CalendarDate, era: Int64, half: Int, _ purse: MergePurse
    ) throws -> Bool {
        guard let first = segment.first?.serial, let last = segment.last?.serial else { return true }
        func neighbors(_ order: String, _ place: Int64) throws -> [Row] {
            let (low, high) = (era << LedgerOrder.eraShift, (era + 1) << LedgerOrder.eraShift)
            let statement = try db.cachedStatement(
                sql: """
                    SELECT serial, date FROM record WHERE purse = ? AND ord \(order == "DESC" ? "<" : ">") ?
                    AND ord >= ? AND ord < ? ORDER BY ord \(order) LIMIT 5
                    """)
            return try Row.fetchAll(statement, arguments: [purse.id, place, low, high])
        }
        func days(_ rows: [Row]) throws -> [CalendarDate] {
            try rows.compactMap { try LedgerCoding.date($0.value(1)) }.filter { $0 <= tomorrow }
        }
        let older = try neighbors("DESC", LedgerOrder.place(era: era, serial: first))
        let newer = try neighbors("ASC", LedgerOrder.place(era: era, serial: last) | 0xFF)
        if let nearest: Int = try older.first?.value(0), first &- nearest > half { return false }
        if let nearest: Int = try newer.first?.value(0), nearest &- last > half { return false }
        if let before = try median(days(older)), before > day { return false }
        if let after = try median(days(newer)), after < day { return false }
        // Records that lie between those of the segment must be of days between.
        let (from, through) = (
            LedgerOrder.place(era: era, serial: first), LedgerOrder.place(era: era, serial: last) | 0xFF
        )
        let within = try KnownRecord.all(db, purse.id, from, through)
        let strange = within.count { known in
            guard let serial = known.serial, let date = known.date, date <= tomorrow else { return false }
            let before = segment.last { $0.serial ?? 0 < serial }?.date ?? date
            let after = segment.first { $0.serial ?? 0 > serial }?.date ?? date
            return segment.contains { $0.serial == serial && $0.date != date } || before > date && before <= tomorrow
                || after < date
        }
        return strange * 2 <= within.count
    }

    private func median(_ days: [CalendarDate]) -> CalendarDate? {
        days.isEmpty ? nil : days.sorted()[days.count / 2]
    }

    /// Whether another era has the serial, so that an id needs more than it.
    func isElsewhere(_ serial: Int, era: Int64, _ purse: MergePurse) throws -> Bool {
        for other in try eras(of: purse) where other != era {
            let place = LedgerOrder.place(era: other, serial: serial)
            if try !KnownRecord.all(db, purse.id, place, place | 0xFF).isEmpty { return true }
        }
        return false
    }
}

/// Two records that follow each other.
struct LedgerPair: Hashable {
    let older: Int64
    let newer: Int64
}

/// The part of a stored record by which another is recognized as the same.
struct KnownRecord {
    let id: Int64
    /// `nil` until it is known.
    let order: Int64?
    let serial: Int?
    let date: CalendarDate?
    let balance: Int?
    let amount: Int?
    let isDerived: Bool
    let time: Int?
    let raw: [UInt8]

    init(id: Int64, order: Int64?, _ record: HistoryRecord) {
        self.id = id
        self.order = order
        serial = record.serial
        date = record.date
        balance = record.balance
        amount = record.amount
        isDerived = false
        time = LedgerCoding.number(record.time)
        raw = LedgerCoding.raw(record)
    }

    private init(_ row: Row) throws {
        id = try row.value(0)
        order = try row.value(1)
        serial = try row.value(2)
        date = try LedgerCoding.date(row.value(3))
        balance = try row.value(4)
        amount = try row.value(5)
        isDerived = try row.value(6)
        time = try row.value(7)
        raw = try row.value(8)
    }

    /// Serial, day and balance make a record the same.
    func isSame(_ record: HistoryRecord) -> Bool {
        serial == record.serial && date == record.date && balance == record.balance
    }

    /// The records of a stretch, oldest first.
    static func all(_ db: Database, _ purse: Int64, _ from: Int64, _ through: Int64) throws -> [KnownRecord] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, ord, serial, date, balance, amount, derived, time, raw FROM record
                WHERE purse = ? AND ord BETWEEN ? AND ? ORDER BY ord, id
                """)
        return try Row.fetchAll(statement, arguments: [purse, from, through]).map { try KnownRecord($0) }
    }
}
