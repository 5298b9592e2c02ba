// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// What the decoders make of a dump, for looking up what a block of it means.
struct Meanings {
    /// The balances by card.
    let balances: [BalanceEntry]
    /// What else the decoders read, by card and key.
    let fields: [Field]
    private let records: [Block: HistoryRecord]
    private let lines: [Block: String]

    /// One field of one card.
    struct Field {
        let card: String
        let cardName: LocalizedText
        let field: CardField
    }

    init(_ dump: CardDump, _ names: any StationNames) {
        var balances: [BalanceEntry] = []
        var fields: [Field] = []
        var records: [Block: HistoryRecord] = [:]
        var lines: [Block: String] = [:]
        for report in Decoding(dump, names).reports {
            balances += report.balances
            fields += report.fields.map { Field(card: report.card, cardName: report.name, field: $0) }
            for (block, line) in GateView(report: report).lines { lines[block] = line }
            for record in report.history ?? [] where records[record.raw] == nil {
                records[record.raw] = record
                lines[record.raw] = HistoryTable.line(record, report.currency)
            }
        }
        (self.balances, self.fields, self.records, self.lines) = (balances, fields, records, lines)
    }

    /// The record that a block holds.
    func record(_ block: Block?) -> HistoryRecord? {
        block.flatMap { records[$0] }
    }

    /// One line about a block, or nothing.
    func line(_ block: Block?) -> String {
        block.flatMap { lines[$0] } ?? ""
    }
}
