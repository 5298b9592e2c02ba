// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// nice-pass of Enshu Railway (Hamamatsu), system 040F.
//
// One source (felica-look), never checked on a published card. The amount of a record has a sign of which nobody says
// what it stands for, so amounts are differences of balances, checked against the size of the record's own.

/// Decodes nice-pass: balance and history.
public struct NicePassDecoder: CardDecoder {
    /// `nicepass`
    public let id = "nicepass"
    /// nice-pass
    public let name = LocalizedText("nice-pass", "ナイスパス")
    /// The newest block of service 030F.
    public let balanceRead = ReadRequest(0x040F, 0x030F, 0..<1)
    /// The blocks of service 030F.
    public var historyReads: [ReadRequest] { [historyRead] }

    private let historyRead = ReadRequest(0x040F, 0x030F, 0..<20)

    /// The decoder.
    public init() {}

    /// Whether the system holds the history service.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(historyRead) }

    /// Bytes 13 and 14 of the newest record, big-endian, yen; `nil` when no record was ever written.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let newest = try dump.block(balanceRead, card: id, field: "balance", offset: 13)
        return BalanceReport(
            balances: [
                BalanceEntry(
                    card: id, name: name, amount: newest.isZero ? nil : NicePassHistoryBlock(raw: newest).balance)
            ], warnings: [.oneSource])
    }

    /// Balance and history.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { NicePassHistoryBlock(raw: $0).record }
            history.takeAmountsFromBalances()
            history.update { _, record in
                let stated = NicePassHistoryBlock(raw: record.raw).size
                if let amount = record.amount, abs(amount) != stated {
                    record.warnings.append(.amountDiffersFromBalances)
                }
            }
            report.take(history)
        }
        try report.takeBalance(orFrom: nil) { () throws(DecodingFailure) in try balance(dump) }
        return report
    }
}
