// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardDecoders
internal import CardModel
internal import SQLiteFiles

/// Merges a window of a card that keeps no serials: the window is laid over the records that are there where the bytes are equal.
///
/// Each record of the window is one record of the ledger, so two records with equal bytes in one window stay two. What is
/// between equal records goes between them; what overlaps nothing goes where its dates belong.
struct SequenceMerge {
    let purse: MergePurse

    func keep(
        _ window: [HistoryRecord], isWhole: Bool, services: [Block: ServiceCode], _ merge: inout WindowMerge
    ) throws {
        let known = try KnownRecord.all(merge.db, purse.id, .min, .max)
        var items = known
        var (ids, new): ([Int64], Set<Int64>) = ([], [])
        let matches = overlap(of: window, with: &items, moved: &new)
        var uids = try RecordIDs(of: purse.id, merge.db)
        // The first match at each place of the window or behind it.
        var following = matches
        for place in following.indices.dropLast().reversed() {
            following[place] = following[place] ?? following[place + 1]
        }
        // How many records were put in before, which moves the matches behind them.
        var shift = 0
        var last = -1
        for (place, record) in window.enumerated() {
            if let match = matches[place] {
                let item = items[match + shift]
                _ = try merge.fill(item, from: record)
                ids.append(item.id)
                last = match + shift
                continue
            }
            let next = following[place].map { $0 + shift }
            let position = position(of: record, after: last, before: next, items)
            let digits = Hex.encode(LedgerCoding.hash(LedgerCoding.raw(record)), digits: 16, uppercase: false)
            let uid = uids.free("\(purse.prefix).\(digits)")
            let id = try merge.insert(record, purse, order: 0, uid: uid, service: services[record.raw])
            items.insert(KnownRecord(id: id, order: nil, record), at: position)
            ids.append(id)
            new.insert(id)
            shift += 1
            last = position
        }
        try number(items, hasSerials: known.contains { ($0.serial ?? 0) != 0 }, merge.db)
        var pairs: Set<LedgerPair> = []
        for (place, record) in window.enumerated().dropFirst()
        where merge.follows(record) && (isWhole || record.amount != nil) {
            pairs.insert(LedgerPair(older: ids[place - 1], newer: ids[place]))
        }
        try merge.relink(purse, from: .min, through: .max, pairs: pairs, new: new)
    }

    /// Which record of the ledger each record of the window is. The places rise: where the ledger has taken another order, that
    /// of the window counts, since the card wrote it.
    private func overlap(
        of window: [HistoryRecord], with items: inout [KnownRecord], moved: inout Set<Int64>
    ) -> [Int?] {
        var places: [[UInt8]: [Int]] = [:]
        for (place, item) in items.enumerated() { places[item.raw, default: []].append(place) }
        var last = -1
        var matches: [Int?] = window.map { record in
            let raw = LedgerCoding.raw(record)
            guard let left = places[raw], let index = left.firstIndex(where: { $0 > last }) ?? left.indices.first
            else { return nil }
            last = left[index]
            places[raw]?.remove(at: index)
            return last
        }
        let found = matches.compactMap(\.self)
        let sorted = found.sorted()
        guard found != sorted else { return matches }
        let old = items
        var next = sorted.makeIterator()
        for index in matches.indices {
            guard let match = matches[index], let place = next.next() else { continue }
            items[place] = old[match]
            matches[index] = place
            if place != match { moved.insert(old[match].id) }
        }
        return matches
    }

    /// Where a new record goes among the records between two that are known.
    private func position(
        of record: HistoryRecord, after last: Int, before next: Int?, _ items: [KnownRecord]
    ) -> Int {
        var position = last + 1
        let end = next ?? items.count
        guard let date = record.date else { return next ?? (last < 0 ? items.count : position) }
        let time = LedgerCoding.number(record.time) ?? 0
        func isOlder(_ item: KnownRecord) -> Bool {
            guard let other = item.date else { return false }
            return other < date || other == date && item.time ?? 0 < time
        }
        // The order within the day is unknown: the record is assumed to be later.
        func isSameDay(_ item: KnownRecord) -> Bool { last < 0 && item.date == date && item.time ?? 0 <= time }
        while position < end, isOlder(items[position]) || isSameDay(items[position]) { position += 1 }
        return position
    }

    /// Writes the order of the records where it changed.
    private func number(_ items: [KnownRecord], hasSerials: Bool, _ db: Database) throws {
        var last = LedgerOrder.place(era: LedgerOrder.firstEra, serial: 0)
        let update = try db.cachedStatement(sql: "UPDATE record SET ord = ? WHERE id = ?")
        for (place, item) in items.enumerated() {
            let wanted =
                hasSerials ? item.order ?? last : LedgerOrder.place(era: LedgerOrder.firstEra, serial: place + 1)
            if wanted != item.order { try update.execute(arguments: [wanted, item.id]) }
            last = wanted
        }
    }
}
