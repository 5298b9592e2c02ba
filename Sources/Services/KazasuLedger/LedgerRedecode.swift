// SPDX-License-Identifier: Apache-2.0

package import CardDecoders
package import CardModel
internal import SQLiteFiles

/// The result of decoding all records again.
public struct LedgerRedecoding: Hashable, Sendable {
    /// How many records there are.
    public var records = 0
    /// How many of them gained or changed a value.
    public var changed = 0
    /// How many no longer have a decoder that finds a record in their bytes; they stay unchanged.
    public var unreadable = 0
}

extension Ledger {
    /// Decodes the bytes of all records again, with the decoders of this version.
    ///
    /// Nothing that was known is replaced by an unknown: times that came from a gate log and amounts that came from balances stay.
    public func redecode() throws(LedgerError) -> LedgerRedecoding {
        let (decoders, tomorrow) = (options.decoders, tomorrow)
        return try change(.redecode) { db, change in
            // Names are not in the bytes: they are looked up when a record is shown.
            var plain = Ledger.Options()
            plain.stations = NoStationNames()
            let reader = try LedgerRecordReader(db, plain)
            var result = LedgerRedecoding()
            var merge = WindowMerge(db: db, change: change, source: 0, tomorrow: tomorrow)
            for purse in try MergePurse.all(db, options) {
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT \(LedgerRecordReader.columns), r.service FROM \(LedgerRecordReader.source)
                        WHERE r.purse = ? ORDER BY r.ord
                        """, arguments: [purse.id])
                // One of several brands is not in the records: the card tells it at its next visit.
                if let brand = decoders.decoder(of: CardKind(rawValue: purse.kind))?.onlyBrand {
                    try db.execute(
                        sql: "UPDATE purse SET brand = ? WHERE id = ? AND brand IS NULL",
                        arguments: [brand.id, purse.id])
                }
                let before = result.changed
                for row in rows {
                    guard let old = try reader.record(row)?.record else { continue }
                    result.records += 1
                    let service = try row.value(29, as: Int?.self).map {
                        ServiceCode(rawValue: UInt16(truncatingIfNeeded: $0))
                    }
                    guard let decoder = decoders.decoder(of: CardKind(rawValue: purse.kind)),
                        let new = Ledger.decoded(old, service, decoder)
                    else {
                        result.unreadable += 1
                        continue
                    }
                    if new != old {
                        try merge.replace(row.value(0), by: new, wasKnown: old.amount != nil)
                        result.changed += 1
                    }
                }
                if result.changed > before {
                    try merge.relink(purse, from: .min, through: .max, pairs: [], new: [])
                }
            }
            return result
        }
    }

    /// Decodes the bytes of one record, which are put where the card has its newest; fields that only the older form knows
    /// stay.
    package static func decoded(
        _ record: HistoryRecord, _ service: ServiceCode?, _ decoder: any CardDecoder
    ) -> HistoryRecord? {
        let blocks = BlockTable(zip(UInt16(0)..., [record.rawHead, record.raw].compactMap(\.self)))
        for code in service.map({ [$0] }) ?? decoder.historyReads.map(\.service) {
            let system = SystemDump(
                systemCode: decoder.system, idm: IDm(rawValue: 0), pmm: PMm(rawValue: 0),
                services: [ServiceDump(code: code, state: .read, blocks: blocks)])
            let dump = CardDump(
                card: CardIdentity(technology: .felica, idm: system.idm, pmm: system.pmm), systems: [system])
            let history = (try? decoder.decode(dump))?.history
            if let found = history?.first(where: { $0.raw == record.raw }) { return found.known(before: record) }
        }
        return nil
    }
}

extension HistoryRecord {
    /// Warnings that need the neighbors of a record.
    private static let fromNeighbors: Set<DecodingWarning> = [
        .serialGap, .serialOrder, .olderRecordMissing, .yearInferred, .yearUnknown, .amountDiffersFromBalances,
    ]

    /// This record, with fields that only its older form knows.
    fileprivate func known(before old: HistoryRecord) -> HistoryRecord {
        var record = self
        record.serial = serial ?? old.serial
        record.date = date ?? old.date
        record.partial = record.date == nil ? partial ?? old.partial : partial
        record.time = time ?? old.time
        record.entryTime = entryTime ?? old.entryTime
        record.terminal = terminal ?? old.terminal
        record.terminalID = terminalID ?? old.terminalID
        record.process = process ?? old.process
        record.payment = payment ?? old.payment
        record.gate = gate ?? old.gate
        record.device = device ?? old.device
        record.entry = entry ?? old.entry
        record.exit = exit ?? old.exit
        record.amount = amount ?? old.amount
        record.balance = balance ?? old.balance
        record.gateLog = gateLog ?? old.gateLog
        // A ledger has no column for it: its records stay without.
        record.points = old.points
        record.warnings =
            warnings.filter { !Self.fromNeighbors.contains($0) }
            + old.warnings.filter { Self.fromNeighbors.contains($0) }
        return record
    }
}
