// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// ICa of Hokuriku Railroad (Kanazawa), system 80EF.
//
// One source: the balance in bytes 13 and 14 of 898F. The other bytes of a record are unpublished.

extension CardKind {
    /// ICa.
    public static let ica = CardKind(rawValue: "ica")
}

/// Decodes ICa: the balance, from the newest block of its history.
package struct ICaDecoder: CardDecoder {
    /// The identifier `ica`.
    package let kind = CardKind.ica
    package let name = LocalizedText("ICa", "ICa（アイカ）")
    /// The newest block of service 898F.
    package let balanceRead = ReadRequest(0x80EF, 0x898F)
    /// The twenty blocks of service 898F.
    package var historyReads: [ReadRequest] { [historyRead] }
    /// The records have no serial numbers.
    package let serials: SerialNumbers? = nil

    private let historyRead = ReadRequest(0x80EF, 0x898F, 0..<20)

    package init() {}

    /// Returns whether the system has the history service.
    package func recognizes(_ dump: CardDump) -> Bool { dump.holds(historyRead) }

    /// The balance: bytes 13 and 14 of the newest record, big-endian, yen; `nil` when no record was ever written.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let newest = try dump.block(balanceRead, kind: kind, field: "balance", offset: 13)
        return BalanceReport(
            balances: [BalanceEntry(kind: kind, name: name, amount: newest.isZero ? nil : balance(of: newest))],
            warnings: [.oneSource])
    }

    /// Decodes the balance, and the records with their balances and bytes.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) {
                HistoryRecord(serial: nil, kind: .other, balance: balance(of: $0), raw: $0)
            }
            history.takeAmountsFromBalances()
            report.take(history)
        }
        try report.takeBalance(orFrom: nil) { () throws(CardDecodingError) in try balance(dump) }
        return report
    }

    private func balance(of block: Block) -> Int { Int(block.uint16(at: 13, .big)) }
}
