// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// A decoder of cards without an open purse: the balance is that of the newest record of the history.
package protocol HistoryBalanceDecoder: CardDecoder {
    /// All blocks of the history; block 0 is the newest.
    var historyRead: ReadRequest { get }
    /// Where in a record the balance begins, 0 to 15.
    var balanceOffset: Int { get }
    var currency: Currency { get }
    /// The warnings of the balance.
    var warnings: [DecodingWarning] { get }
    /// Returns the record without its amount; `nil` for an unused slot. A slot of zeros is always unused.
    func record(_ block: Block) -> HistoryRecord?
    /// Sets the amounts of the records.
    func complete(_ history: inout LocalHistory)
}

extension HistoryBalanceDecoder {
    /// The newest block of the history.
    package var balanceRead: ReadRequest {
        ReadRequest(system: historyRead.system, service: historyRead.service, blocks: 0..<1)
    }

    /// The history.
    package var historyReads: [ReadRequest] { [historyRead] }

    /// The default: yen.
    package var currency: Currency { .yen }

    /// The default: one source describes the layout.
    package var warnings: [DecodingWarning] { [.oneSource] }

    /// The default: amounts are differences of balances.
    package func complete(_ history: inout LocalHistory) { history.takeAmountsFromBalances() }

    /// The balance of the newest record; `nil` when no record was ever written.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let newest = try dump.block(balanceRead, kind: kind, field: "balance", offset: balanceOffset)
        let amount = newest.isZero ? nil : record(newest)?.balance
        return BalanceReport(
            balances: [BalanceEntry(kind: kind, name: name, amount: amount, currency: currency)], warnings: warnings)
    }

    /// Decodes balance and history.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service, record: record)
            complete(&history)
            report.take(history)
        }
        try report.takeBalance(orFrom: nil) { () throws(CardDecodingError) in try balance(dump) }
        return report
    }
}

/// A decoder of a purse whose first four bytes are the balance, little-endian, in yen.
package protocol PurseDecoder: CardDecoder {
    /// Returns the balance in the newest record of the history, or `nil` if there is none.
    func newestBalance(_ dump: CardDump) -> Int?
}

extension PurseDecoder {
    /// The balance of the purse; a different one in the newest record is a warning.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let purse = try dump.block(balanceRead, kind: kind, field: "balance", offset: 0)
        return BalanceReport(
            kind: kind, name: name, amount: Int(purse.uint32(at: 0, .little)), newest: newestBalance(dump))
    }
}
