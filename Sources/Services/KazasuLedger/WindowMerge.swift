// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
internal import CardModel
internal import SQLiteFiles

/// The result of a merge.
struct MergeCounts {
    var read = 0
    var added: [Int64] = []
    var completed = 0
    var notices: [LedgerNotice] = []
    /// Records that follow a new or changed gap.
    var gaps: Set<Int64> = []
}

/// The purse that records are merged into.
struct MergePurse {
    let id: Int64
    let card: String
    let kind: String
    let system: SystemCode
    /// How the decoder of its kind says that serials count.
    let serials: SerialNumbers?
    /// Whether a ride was seen to raise the serial by one, by two.
    var single: Bool
    var double: Bool

    var count: SerialCount { SerialCount(serials, single: single, double: double) }

    /// The prefix of its records' ids: the system, and twelve digits that distinguish the card.
    var prefix: String { "\(system.description.lowercased()).\(card.suffix(12))" }
}

/// Merges records read from a card into those of its purse, within one transaction.
///
/// A *window* is a sequence of consecutive records, newest first, as a card has it. Records with serials find their place by era and
/// serial. Where the card keeps none, the window is laid over the records that are there (``SequenceMerge``).
struct WindowMerge {
    let db: Database
    /// The number of this change.
    let change: Int
    let source: Int64
    /// The day after today in Japan; later dates are reported.
    let tomorrow: CalendarDate
    var counts = MergeCounts()
    var words = StoredNames()

    /// Merges a history.
    ///
    /// - Parameters:
    ///   - history: the records, newest first.
    ///   - isWhole: whether every block of the history was read.
    ///   - services: the service that holds the blocks of each record, where known.
    mutating func keep(
        _ history: [HistoryRecord], isWhole: Bool, services: [Block: ServiceCode], in purse: inout MergePurse
    ) throws {
        counts.read += history.count
        let future = history.count { ($0.date ?? tomorrow) > tomorrow }
        if future > 0 { counts.notices.append(.futureDates(card: purse.card, count: future)) }
        var window = Array(history.reversed())
        guard !window.isEmpty else { return }
        let serials = window.compactMap(\.serial)
        let hasSerials = serials.count == window.count && serials.count { $0 == 0 } < min(2, serials.count)
        guard hasSerials else {
            try SequenceMerge(purse: purse).keep(window, isWhole: isWhole, services: services, &self)
            return
        }
        // The order of the blocks is not that of the records, as in a file with the oldest first: the serials have it.
        if segments(window).count > WindowMerge.mostSegments {
            window.sort { ($0.serial ?? 0, $0.date ?? tomorrow) < ($1.serial ?? 0, $1.date ?? tomorrow) }
        }
        let before = purse
        learn(window, &purse)
        if purse.single != before.single || purse.double != before.double {
            try db.execute(
                sql: "UPDATE purse SET single = ?, double = ? WHERE id = ?",
                arguments: [purse.single, purse.double, purse.id])
        }
        // The newest first, so that an older part goes before it.
        var later: Int64?
        for segment in segments(window).reversed() { later = try keep(window[segment], before: later, services, purse) }
        // Another reading of the serials changes every gap of the purse.
        if before.count.countsEntries != purse.count.countsEntries {
            try relink(purse, from: .min, through: .max, pairs: [], new: [])
        }
    }

    // MARK: Serials

    /// The counter of a card turns or is set back once in a long time, so that a window of it has few parts.
    private static let mostSegments = 4

    /// Learns whether a ride counts one or two. After a charge inside the gates it counts one on any card.
    private func learn(_ window: [HistoryRecord], _ purse: inout MergePurse) {
        guard purse.serials?.countsEntries ?? false, !purse.double else { return }
        for (older, newer) in zip(window, window.dropFirst()) where newer.kind == .rail && follows(newer) {
            guard let old = older.serial, let serial = newer.serial else { continue }
            switch (serial &- old, older.kind) {
            case (2, _): purse.double = true
            case (1, .rail), (1, .purchase), (1, .bus): purse.single = true
            default: break
            }
        }
    }

    /// Whether the decoder found nothing missing before the record.
    func follows(_ record: HistoryRecord) -> Bool {
        !record.warnings.contains { [.olderRecordMissing, .serialGap, .serialOrder].contains($0) }
    }

    /// The parts of a window in which the serials rise; between two of them the counter turned or was set back.
    private func segments(_ window: [HistoryRecord]) -> [Range<Int>] {
        var segments: [Range<Int>] = []
        var start = 0
        for index in window.indices.dropFirst() where (window[index].serial ?? 0) < (window[index - 1].serial ?? 0) {
            segments.append(start..<index)
            start = index
        }
        return segments + [start..<window.count]
    }

    /// - Returns: the era that the segment belongs to.
    private mutating func keep(
        _ segment: ArraySlice<HistoryRecord>, before later: Int64?, _ services: [Block: ServiceCode],
        _ purse: MergePurse
    ) throws -> Int64? {
        guard let first = segment.first?.serial, let last = segment.last?.serial else { return later }
        let era = try era(of: segment, first, last, before: later, purse)
        let from = LedgerOrder.place(era: era, serial: first)
        let through = LedgerOrder.place(era: era, serial: last) | 0xFF
        var known: [Int: [KnownRecord]] = [:]
        for record in try KnownRecord.all(db, purse.id, from, through) {
            known[record.serial ?? 0, default: []].append(record)
        }
        var (ids, new, sameSerial, otherBytes): ([Int64], Set<Int64>, Int, Int) = ([], [], 0, 0)
        for record in segment {
            let serial = record.serial ?? 0
            let others = known[serial] ?? []
            if let match = others.first(where: { $0.isSame(record) }) {
                if try fill(match, from: record) { otherBytes += 1 }
                ids.append(match.id)
                continue
            }
            var uid = "\(purse.prefix).\(Hex.encode(serial, digits: 6, uppercase: false))"
            if try others.isEmpty ? isElsewhere(serial, era: era, purse) : true {
                uid += "-" + Hex.encode(LedgerCoding.hash(LedgerCoding.raw(record)), digits: 16, uppercase: false)
            }
            if !others.isEmpty { sameSerial += 1 }
            let order = LedgerOrder.place(era: era, serial: serial) | Int64(min(others.count, 0xFF))
            let id = try insert(record, purse, order: order, uid: uid, service: services[record.raw])
            known[serial, default: []].append(KnownRecord(id: id, order: order, record))
            ids.append(id)
            new.insert(id)
        }
        if sameSerial > 0 { counts.notices.append(.sameSerial(card: purse.card, count: sameSerial)) }
        if otherBytes > 0 { counts.notices.append(.otherBytes(card: purse.card, count: otherBytes)) }
        let steps = purse.count.steps
        var pairs: Set<LedgerPair> = []
        for (place, record) in zip(segment.indices, segment).dropFirst() {
            guard let older = segment[place - 1].serial, let serial = record.serial, follows(record),
                steps.contains(serial &- older)
            else { continue }
            let index = place - segment.startIndex
            pairs.insert(LedgerPair(older: ids[index - 1], newer: ids[index]))
        }
        try relink(purse, from: from, through: through, pairs: pairs, new: new)
        return era
    }

    // MARK: Records

    /// Adds a record, its amount and gap still to be worked out.
    mutating func insert(
        _ record: HistoryRecord, _ purse: MergePurse, order: Int64, uid: String, service: ServiceCode?
    ) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO record (purse, ord, uid, serial, date, time, entryTime, partial, kind, terminal, terminalID,
                    process, payment, gate, device, entry, exit, amount, balance, gateLog, warnings, service, raw, added,
                    completed, source)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        let coding = LedgerCoding.self
        let warnings = record.warnings.map(\.rawValue).joined(separator: " ")
        let when: [(any DatabaseValueConvertible)?] = [
            coding.number(record.date), coding.number(record.time), coding.number(record.entryTime),
            coding.number(record.partial), record.kind.rawValue,
        ]
        let codes: [(any DatabaseValueConvertible)?] = [
            try words.number(record.terminal, db), record.terminalID, try words.number(record.process, db),
            try words.number(record.payment, db), try words.number(record.gate, db),
            record.device.map { Int($0.rawValue) },
            try words.number(record.entry, db), try words.number(record.exit, db),
        ]
        let rest: [(any DatabaseValueConvertible)?] = [
            record.amount, record.balance, coding.text(record.gateLog), warnings, service.map { Int($0.rawValue) },
            coding.raw(record), change, record.amount == nil ? nil : change, source,
        ]
        let start: [(any DatabaseValueConvertible)?] = [purse.id, order, uid, record.serial]
        try statement.execute(arguments: StatementArguments(start + when + codes + rest))
        let id = db.lastInsertedRowID
        counts.added.append(id)
        return id
    }

    /// Fills missing fields of a stored record; never overwrites.
    ///
    /// - Returns: whether the bytes differ; the other form is kept beside.
    mutating func fill(_ known: KnownRecord, from record: HistoryRecord) throws -> Bool {
        let coding = LedgerCoding.self
        let addsAmount = known.amount == nil && record.amount != nil
        if addsAmount || known.time == nil && (record.time != nil || record.entryTime != nil || record.gateLog != nil) {
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE record SET time = coalesce(time, ?), entryTime = coalesce(entryTime, ?),
                        gateLog = coalesce(gateLog, ?), amount = coalesce(amount, ?),
                        completed = coalesce(completed, ?) WHERE id = ?
                    """)
            try statement.execute(arguments: [
                coding.number(record.time), coding.number(record.entryTime), coding.text(record.gateLog), record.amount,
                addsAmount ? change : nil, known.id,
            ])
            if addsAmount { counts.completed += 1 }
        } else if known.isDerived, let amount = record.amount {
            // A value from the card takes precedence over one derived from balances.
            try db.cachedStatement(sql: "UPDATE record SET amount = ?, derived = 0 WHERE id = ?")
                .execute(arguments: [amount, known.id])
        }
        let raw = coding.raw(record)
        guard known.raw != raw else { return false }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO variant (record, raw) VALUES (?, ?)")
            .execute(arguments: [known.id, raw])
        return db.changesCount > 0
    }

    /// Replaces the fields of a stored record after its bytes were decoded again; its place, id and bytes stay.
    mutating func replace(_ id: Int64, by record: HistoryRecord, wasKnown: Bool) throws {
        let coding = LedgerCoding.self
        let values: [(any DatabaseValueConvertible)?] = [
            coding.number(record.date), coding.number(record.time), coding.number(record.entryTime),
            coding.number(record.partial), record.kind.rawValue, try words.number(record.terminal, db),
            record.terminalID, try words.number(record.process, db), try words.number(record.payment, db),
            try words.number(record.gate, db), record.device.map { Int($0.rawValue) },
            try words.number(record.entry, db),
            try words.number(record.exit, db), record.amount, record.balance,
            record.warnings.map(\.rawValue).joined(separator: " "), wasKnown || record.amount == nil ? nil : change, id,
        ]
        try db.cachedStatement(
            sql: """
                UPDATE record SET date = ?, time = ?, entryTime = ?, partial = ?, kind = ?, terminal = ?, terminalID = ?,
                    process = ?, payment = ?, gate = ?, device = ?, entry = ?, exit = ?, amount = ?, balance = ?,
                    warnings = ?, completed = coalesce(completed, ?) WHERE id = ?
                """
        ).execute(arguments: StatementArguments(values))
    }

    // MARK: Links

    /// Works out amounts and gaps again for part of a purse and the record after it.
    ///
    /// - Parameters:
    ///   - pairs: records that a window showed directly after each other.
    ///   - new: records that were not there before.
    mutating func relink(
        _ purse: MergePurse, from: Int64, through: Int64, pairs: Set<LedgerPair>, new: Set<Int64>
    ) throws {
        let select = "SELECT \(LedgerLink.columns) FROM \(LedgerRecordReader.source) WHERE r.purse = ?"
        let before = try db.cachedStatement(sql: "\(select) AND r.ord < ? ORDER BY r.ord DESC, r.id DESC LIMIT 1")
        let after = try db.cachedStatement(sql: "\(select) AND r.ord > ? ORDER BY r.ord, r.id LIMIT 1")
        let within = try db.cachedStatement(sql: "\(select) AND r.ord BETWEEN ? AND ? ORDER BY r.ord, r.id")
        var links = try Row.fetchAll(before, arguments: [purse.id, from]).map { try LedgerLink($0) }
        let hasBefore = !links.isEmpty
        links += try Row.fetchAll(within, arguments: [purse.id, from, through]).map { try LedgerLink($0) }
        links += try Row.fetchAll(after, arguments: [purse.id, through]).map { try LedgerLink($0) }
        let count = purse.count
        for (index, stored) in links.enumerated() where index > 0 || !hasBefore {
            var link = stored
            if index == 0 {
                (link.isJoined, link.gap) = (false, nil)
                if link.isDerived { (link.amount, link.isDerived) = (nil, false) }
            } else {
                let older = links[index - 1]
                if pairs.contains(LedgerPair(older: older.id, newer: link.id)) {
                    link.isJoined = true
                } else if new.contains(link.id) || new.contains(older.id) {
                    link.isJoined = false
                }
                link.follow(older, count)
            }
            links[index] = link
            try save(link, was: stored)
        }
    }

    private mutating func save(_ link: LedgerLink, was stored: LedgerLink) throws {
        if link.isJoined != stored.isJoined || link.amount != stored.amount || link.isDerived != stored.isDerived {
            let completes = stored.amount == nil && link.amount != nil
            let statement =
                link.amount == stored.amount
                ? try db.cachedStatement(sql: "UPDATE record SET joined = ?, derived = ? WHERE id = ?")
                : try db.cachedStatement(
                    sql: """
                        UPDATE record SET joined = ?, derived = ?, amount = ?, completed = coalesce(completed, ?)
                        WHERE id = ?
                        """)
            try statement.execute(
                arguments: link.amount == stored.amount
                    ? [link.isJoined, link.isDerived, link.id]
                    : [link.isJoined, link.isDerived, link.amount, completes ? change : nil, link.id])
            if completes { counts.completed += 1 }
        }
        guard link.gap != stored.gap else { return }
        guard let gap = link.gap else {
            try db.cachedStatement(sql: "DELETE FROM gap WHERE record = ?").execute(arguments: [link.id])
            counts.gaps.remove(link.id)
            return
        }
        counts.gaps.insert(link.id)
        let upsert = """
            INSERT INTO gap VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET atLeast = excluded.atLeast,
                atMost = excluded.atMost, amount = excluded.amount, coversNext = excluded.coversNext,
                reason = excluded.reason
            """
        try db.cachedStatement(sql: upsert).execute(arguments: [
            link.id, gap.atLeast, gap.atMost, gap.amount, gap.coversNext, gap.reason.rawValue,
        ])
    }
}
