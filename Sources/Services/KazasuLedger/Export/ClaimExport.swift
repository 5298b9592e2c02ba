// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
internal import CardModel
internal import SQLiteFiles

extension Ledger {
    /// Writes a claim.
    ///
    /// - Parameter marks: the change up to which an earlier export of a purse went.
    func writeClaim(
        _ options: LedgerExportOptions, _ marks: [Int64: Int], _ sink: ExportSink, _ db: Database,
        _ export: inout LedgerExport
    ) throws {
        let columns = options.columns ?? .claim(options.language, hasPurpose: options.claim.purpose != nil)
        try columns.begin(sink, options)
        var gaps: [LedgerGapReport] = []
        if options.hasGaps {
            try forEachGap(options.filter.withoutKinds, db) { gap, added in
                if added > marks[gap.after.purse.id] ?? -1 { gaps.append(gap) }
            }
            export.hasOtherLines = !gaps.isEmpty
            // The newest first; the day of a line is not always that of the record after the gap.
            let dated = gaps.map { (gap: $0, day: LedgerCoding.number(options.filter.day(of: $0)) ?? 0) }
            gaps = dated.sorted { $0.day > $1.day }.map(\.gap)
        }
        func writeGaps(through day: CalendarDate?) {
            while let gap = gaps.last, options.filter.day(of: gap).flatMap({ own in day.map { own <= $0 } }) ?? true {
                columns.write([columns.line(gap, options)], to: sink)
                gaps.removeLast()
            }
        }
        let earlier = try db.makeStatement(
            sql: "SELECT 1 FROM record JOIN claimed ON claimed.uid = record.uid WHERE record.id = ?")
        // A ride without a fare is on a line, and on one again once its fare is known.
        let omissions = try forEachClaim(
            options.filter, options.claim, db,
            where: { row in
                let mark = try marks[row.value(1)] ?? -1
                return try row.value(2) > mark || row.value(3) ?? -1 > mark
            },
            { claim in
                writeGaps(through: claim.date)
                columns.write([columns.line(claim, options)], to: sink)
                export.records += 1
                for ride in claim.rides {
                    export.rides.append(ride.id)
                    if try Int.fetchOne(earlier, arguments: [ride.id]) != nil { export.repeatedRides += 1 }
                }
                export.currencies.insert(claim.purse.currency)
                if let total = claim.total { export.totals[claim.purse.currency, default: 0] &+= total }
                if claim.fare == nil {
                    export.unknownFares += 1
                    if export.unknownRides.count < 5 { export.unknownRides += claim.rides.prefix(1) }
                }
                return !sink.isStopped
            })
        writeGaps(through: nil)
        if options.claim.hasTotal { columns.writeTotals(export, options, to: sink) }
        export.omit(.free, omissions.free)
        export.omit(.pass, omissions.pass)
        export.omit(.unknown, omissions.undated)
    }
}
