// SPDX-License-Identifier: Apache-2.0

public import CardModel

// MRT Pass and Rapid Pass of Dhaka, system 90E3.
//
// One source (MRT Buddy), with blocks that it made itself: the history of 220F. The stations are its list, whose numbers
// are decimal. Hours have no minutes; bytes 14 and 15 are unknown; the services 250F, 260B, 280B and 300F are not read.

/// Decodes the cards of Dhaka: balance and the last twenty records.
public struct DhakaDecoder: CardDecoder {
    /// `dhaka`
    public let id = "dhaka"
    /// MRT Pass or Rapid Pass
    public let name = LocalizedText("Dhaka MRT Pass or Rapid Pass", "ダッカMRT Pass・Rapid Pass")
    /// The newest block of service 220F.
    public let balanceRead = ReadRequest(0x90E3, 0x220F, 0..<1)
    /// The twenty blocks of service 220F.
    public var historyReads: [ReadRequest] { [historyRead] }

    private let historyRead = ReadRequest(0x90E3, 0x220F, 0..<20)

    /// The decoder.
    public init() {}

    /// Whether the system holds the history service.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(historyRead) }

    /// The balance of the newest record; `nil` when no record was ever written.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let newest = DhakaHistoryBlock(try dump.block(balanceRead, card: id, field: "balance", offset: 11))
        return BalanceReport(
            balances: [BalanceEntry(card: id, name: name, amount: newest?.balance, currency: .taka)],
            warnings: [.oneSource])
    }

    /// Balance and history; amounts are differences of balances.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(
                service, isUnused: { DhakaHistoryBlock($0) == nil },
                record: { DhakaHistoryBlock($0)?.record ?? HistoryRecord(serial: nil, kind: .other, raw: $0) })
            history.takeAmountsFromBalances()
            report.take(history)
        }
        try report.takeBalance(orFrom: nil) { () throws(DecodingFailure) in try balance(dump) }
        return report
    }
}
