// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The records of a cyclic service whose every used block is one record, and the amounts that follow from them.
struct LocalHistory {
    /// The records, newest first.
    private(set) var records: [HistoryRecord]
    /// Whether a block of the history was not read.
    let isIncomplete: Bool
    private let olderWasRead: [Bool]

    /// The records up to the first unused block.
    init(
        _ service: ServiceDump, isUnused: (Block) -> Bool = { $0.isZero }, record: (Block) -> HistoryRecord
    ) {
        let sequence = BlockSequence(service, isUnused: isUnused)
        records = sequence.entries.map { record($0.block) }
        olderWasRead = sequence.entries.map(\.olderWasRead)
        isIncomplete = sequence.isIncomplete
    }

    /// Gives each record the difference of its balance to that of the next older one, which a cyclic service keeps in
    /// the next block; the oldest record's amount stays unknown.
    ///
    /// - Parameter steps: by how much the running number may rise from one record to the next (16 bits, with wrap);
    ///   `nil` where the card keeps none.
    mutating func takeAmountsFromBalances(steps: ClosedRange<Int>? = nil) {
        for (place, older) in zip(records.indices, records.dropFirst()) {
            guard olderWasRead[place] else {
                records[place].warnings.append(.olderRecordMissing)
                continue
            }
            if let steps, let newer = records[place].serial, let old = older.serial {
                let step = (newer &- old) & 0xFFFF
                guard steps.contains(step) else {
                    records[place].warnings.append((1..<0x8000).contains(step) ? .serialGap : .serialOrder)
                    continue
                }
            }
            guard let after = records[place].balance, let before = older.balance else { continue }
            records[place].amount = after - before
        }
    }

    /// Marks each record whose own amount is not the difference of the balances.
    mutating func checkAmounts() {
        for (place, older) in zip(records.indices, records.dropFirst()) where olderWasRead[place] {
            guard let amount = records[place].amount, let after = records[place].balance, let before = older.balance
            else { continue }
            if after - before != amount { records[place].warnings.append(.amountDiffersFromBalances) }
        }
    }

    /// Changes every record in turn, newest first.
    mutating func update(_ change: (_ place: Int, _ record: inout HistoryRecord) -> Void) {
        for place in records.indices { change(place, &records[place]) }
    }
}

extension CardReport {
    /// Takes a history, with a warning when some of it was not read.
    mutating func take(_ local: LocalHistory) {
        history = local.records
        if local.isIncomplete { warnings.append(.historyIncomplete) }
    }
}
