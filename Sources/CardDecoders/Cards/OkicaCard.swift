// SPDX-License-Identifier: Apache-2.0

public import CardModel

// OKICA, the card of Okinawa's monorail and buses, system 8FC1.
//
// Agreed (TRETJapanNFCReader, the classes of a payment terminal for OKICA; no card was published): 028F is the history of
// the Cybernetics format but for what ``OkicaHistoryBlock`` says. One source (TRETJapanNFCReader): the names of stations
// and bus companies. Services 050F and 060B look like gate log and entry record; looking like one is not enough, so they
// stay raw, as does the block with balance and last charge that the terminal reads from a service that is not known.

/// Decodes OKICA: balance and the last twenty records.
public struct OkicaDecoder: CardDecoder {
    /// `okica`
    public let id = "okica"
    /// OKICA
    public let name = LocalizedText("OKICA", "OKICA（オキカ）")
    /// The newest block of service 028F; there is no purse that is open.
    public let balanceRead = ReadRequest(0x8FC1, 0x028F, 0..<1)
    /// The twenty blocks of service 028F.
    public var historyReads: [ReadRequest] { [historyRead] }

    private let historyRead = ReadRequest(0x8FC1, 0x028F, 0..<20)

    /// The decoder.
    public init() {}

    /// Whether the system holds the history service.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(historyRead) }

    /// The balance of the newest record: bytes 10 to 12, little-endian, yen; `nil` when no record was ever written.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let newest = OkicaHistoryBlock(try dump.block(balanceRead, card: id, field: "balance", offset: 10))
        return BalanceReport(
            balances: [BalanceEntry(card: id, name: name, amount: newest?.record.balance)])
    }

    /// Balance and history; stations and bus operators are named by the card's own list.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(
                service, isUnused: { OkicaHistoryBlock($0) == nil },
                record: { OkicaHistoryBlock($0)?.record ?? HistoryRecord(serial: nil, kind: .other, raw: $0) })
            history.takeAmountsFromBalances(steps: 1...2)
            report.take(history)
        }
        try report.takeBalance(orFrom: nil) { () throws(DecodingFailure) in try balance(dump) }
        return report
    }
}
