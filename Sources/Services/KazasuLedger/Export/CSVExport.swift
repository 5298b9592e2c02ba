// SPDX-License-Identifier: Apache-2.0

internal import CardDecoders
package import CardModel

/// The columns of `history --format csv`; before the names in Latin script, the id of the record and what is lost before it.
package struct LedgerCSV {
    private let csv: HistoryCSV

    /// - Parameter language: that of the column names and values.
    package init(_ language: Language) { csv = HistoryCSV(language: language) }

    /// The row of column names.
    package var head: String {
        let own: [CSV.Cell] =
            csv.language == .japanese ? ["ID", "欠落件数", "欠落金額"] : ["id", "gapMissing", "gapAmount"]
        return CSV().row(csv.columns + own + csv.latinColumns)
    }

    package func row(_ entry: LedgerRecord) -> String {
        let purse = entry.purse
        let start = csv.start(cardID: purse.card, kind: CardKind(rawValue: purse.kind), purse.brand)
        return CSV().row(
            start + csv.cells(entry.record, purse.currency) + [
                .text(entry.uid), .text(entry.gapBefore.map(LedgerCSV.missing)),
                .number(entry.gapBefore?.amount.map(purse.currency.text)),
            ] + csv.latinCells(entry.record))
    }

    /// A row for the gap before a record.
    func row(_ gap: LedgerGap, before entry: LedgerRecord) -> String {
        let start = csv.start(cardID: entry.purse.card, kind: CardKind(rawValue: entry.purse.kind), entry.purse.brand)
        var cells = [CSV.Cell](repeating: "", count: csv.columns.count + 3 + csv.latinColumns.count)
        cells.replaceSubrange(0..<3, with: start)
        cells[4] = .text(entry.record.date?.description)
        cells[6] = csv.language == .japanese ? "欠落" : "gap"
        cells[15] = .number(gap.amount.map(entry.purse.currency.text))
        (cells[17], cells[23]) = (.text(entry.purse.currency.rawValue), .text(ExportText.id(of: entry)))
        return CSV().row(cells)
    }

    /// How many records are lost: `3`, `1..4`, or `?`.
    private static func missing(_ gap: LedgerGap) -> String {
        gap.missing.map { String($0) } ?? gap.atMost.map { "\(gap.atLeast)..\($0)" } ?? "?"
    }
}

extension LedgerFormat {
    /// The columns of `history --format csv`, then the record's id and gap; or those of ``LedgerColumns``.
    public static let csv = LedgerFormat(
        "csv", LocalizedText("CSV, with --columns in any layout", "列は --columns で選べる"), features: [.columns],
        isTable: true, write: CSVExport.write)
}

/// ``LedgerCSV`` of one card after the other, oldest first, or the columns that the user chose.
enum CSVExport {
    static func write(_ chains: [ExportChain], _ options: LedgerExportOptions, _ sink: ExportSink) throws {
        if let columns = options.columns {
            try columns.begin(sink, options)
            for chain in chains {
                try chain.forEachRecord(to: sink) { record in
                    columns.write(columns.lines(record, options), to: sink)
                }
            }
            return
        }
        let csv = LedgerCSV(options.language)
        sink.write((options.hasByteOrderMark ? "\u{FEFF}" : "") + csv.head)
        for chain in chains {
            try chain.forEachRecord(to: sink) { entry in
                if options.hasGaps, let gap = entry.gapBefore { sink.write(csv.row(gap, before: entry)) }
                sink.write(csv.row(entry))
            }
        }
    }
}
