// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The history of 090F: block 0 is the newest record, the first unused slot ends it.
struct CyberneticsHistory {
    /// The records, newest first, with the amounts that can be known.
    private(set) var records: [HistoryRecord] = []
    /// What is odd about the whole.
    private(set) var warnings: [DecodingWarning] = []

    /// A record and how it follows from the next older one.
    private struct Link {
        let block: CyberneticsHistoryBlock
        let olderWasRead: Bool
    }

    @specialized(where Names == StationTable)
    init<Names: StationNames>(_ service: ServiceDump, _ stations: Names) {
        let sequence = BlockSequence(service) { CyberneticsHistoryBlock($0) == nil }
        var links: [Link] = []
        links.reserveCapacity(sequence.entries.count)
        for entry in sequence.entries {
            guard let block = CyberneticsHistoryBlock(entry.block) else { continue }
            links.append(Link(block: block, olderWasRead: entry.olderWasRead))
        }
        // A text that joins two reads of a card holds some blocks twice; a card never does, since its serials fall.
        if zip(links, links.dropFirst()).contains(where: { $0.block.serial <= $1.block.serial }) {
            var seen: Set<Block> = []
            let once = links.filter { seen.insert($0.block.raw).inserted }
            if once.count < links.count { warnings = [.duplicateRecord] }
            links = once
        }
        var records: [HistoryRecord] = []
        records.reserveCapacity(links.count)
        for (place, link) in links.enumerated() {
            let older = place + 1 < links.count ? links[place + 1].block : nil
            let (amount, reason) = CyberneticsHistory.amount(link.block, older: older, olderWasRead: link.olderWasRead)
            records.append(link.block.record(stations, amount: amount, reason))
        }
        self.records = records
        if sequence.isIncomplete { warnings.append(.historyIncomplete) }
    }

    /// The amount is the difference to the next older balance, when the serials show that nothing lies between.
    ///
    /// A ride counts two (entry and exit), other things one; near a charge inside the gates either. So one or two is
    /// the next record, more means that records are lost. The oldest record's amount is unknown, but a new card's
    /// first balance is its amount.
    ///
    /// - Returns: the amount, or `nil` and why it is unknown where there is a reason.
    private static func amount(
        _ block: CyberneticsHistoryBlock, older: CyberneticsHistoryBlock?, olderWasRead: Bool
    ) -> (Int?, DecodingWarning?) {
        guard let older else {
            return (block.plainProcess == 0x07 ? block.balance : nil, nil)
        }
        guard olderWasRead else { return (nil, .olderRecordMissing) }
        switch (block.serial - older.serial) & 0xFF_FFFF {
        case 1, 2: return (block.balance - older.balance, nil)
        case 3..<0x80_0000: return (nil, .serialGap)
        default: return (nil, .serialOrder)
        }
    }
}
