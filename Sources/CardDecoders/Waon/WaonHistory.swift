// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The three pairs of service 680B, in the order of their serials: the card writes them round and round.
struct WaonHistory {
    /// The records, newest first.
    let records: [HistoryRecord]
    /// What is odd about the whole.
    private(set) var warnings: [DecodingWarning] = []

    init(_ service: ServiceDump) {
        var pairs: [WaonHistoryPair] = []
        for number in stride(from: UInt16(0), to: 6, by: 2) {
            guard let first = service.blocks[number], let second = service.blocks[number + 1] else {
                if !warnings.contains(.historyIncomplete) { warnings.append(.historyIncomplete) }
                continue
            }
            let pair = WaonHistoryPair(first: first, second: second)
            if !pair.isUnused { pairs.append(pair) }
        }
        // Serials wrap at sixteen bits: the newest is the one that all others lie less than half a round behind.
        let newest = pairs.first { candidate in pairs.allSatisfy { candidate.serial &- $0.serial < 0x8000 } }
        if let newest {
            pairs.sort { newest.serial &- $0.serial < newest.serial &- $1.serial }
        } else if !pairs.isEmpty {
            warnings.append(.serialOrder)
        }
        records = pairs.map(\.record)
    }

    /// The balance after the newest record, or `nil` when it is not known which that is.
    var newestBalance: Int? { warnings.isEmpty ? records.first?.balance : nil }
}
