// SPDX-License-Identifier: Apache-2.0

public import CardModel

// KMT (COMMET), the card of Jakarta's commuter trains, system 90B7.
//
// One source (Metrodroid): purse 1017, number 300B, history 200F. No published card holds a history. Times are
// Jakarta's; those before 2019 are marked, see ``KMTHistoryBlock``.

/// Decodes KMT: balance, last amount, number, history.
public struct KMTDecoder: CardDecoder {
    /// `kmt`
    public let id = "kmt"
    /// KMT
    public let name = LocalizedText("KMT (COMMET)", "KMT（COMMET、ジャカルタ）")
    /// Service 1017, the purse.
    public let balanceRead = ReadRequest(0x90B7, 0x1017, 0..<1)
    /// Purse, history (200F), number (300B).
    public var historyReads: [ReadRequest] { [balanceRead, historyRead, numberRead] }

    /// 300B: the number of the card.
    public let personal = [PersonalBytes(0x90B7, 0x300B)]

    private let historyRead = ReadRequest(0x90B7, 0x200F, 0..<20)
    private let numberRead = ReadRequest(0x90B7, 0x300B, 0..<1, isRequired: false)

    /// The decoder.
    public init() {}

    /// Whether the system holds purse or history.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(historyRead) }

    /// Four bytes, little-endian, rupiah.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let purse = JakartaPurse(try dump.block(balanceRead, card: id, field: "balance", offset: 0))
        return BalanceReport(
            card: id, name: name, amount: purse.balance, currency: .rupiah, warnings: [.oneSource])
    }

    /// Balance, last amount, number and history; the records hold no balance.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
        if let service = dump.opened(historyRead) {
            report.take(LocalHistory(service) { KMTHistoryBlock(raw: $0).record })
        }
        try report.takeBalance(orFrom: nil) { () throws(DecodingFailure) in try balance(dump) }
        if let number = dump.opened(numberRead)?.blocks[0] {
            report.fields.append(
                CardField(
                    key: "number", name: LocalizedText("Card number", "カード番号"),
                    value: CardText.asciiOrHex(number.bytes), isPersonal: true))
        }
        if let purse = dump.opened(balanceRead)?.blocks[0] { report.fields += JakartaPurse(purse).fields }
        return report
    }
}
