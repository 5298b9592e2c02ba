// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel

/// What the decoders make of a dump, for looking up what a block of it means.
struct Meanings {
    /// The balances by card.
    let balances: [BalanceEntry]
    private let records: [Block: HistoryRecord]

    init(_ dump: CardDump, _ names: any StationNames, _ redaction: Redaction) {
        var balances: [BalanceEntry] = []
        var records: [Block: HistoryRecord] = [:]
        for report in Decoding(dump, names).reports {
            balances += report.balances
            for record in report.history ?? [] where records[record.raw] == nil { records[record.raw] = record }
        }
        self.balances = balances
        self.records = records
    }

    /// The record that a block holds.
    func record(_ block: Block?) -> HistoryRecord? {
        block.flatMap { records[$0] }
    }

    /// One line about a block, or nothing.
    func line(_ block: Block?) -> String {
        record(block).map { HistoryView.line($0) } ?? ""
    }
}
