// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// ecomyca and passca of Toyama, which share system 832C.
//
// Agreed (TRETJapanNFCReader, toyowata): the history of 898F, layout A, and the balance of 884B. One source: the number
// and the day of issue in 804B, and that its first two bytes identify which of the two cards it is.

extension CardKind {
    /// ecomyca or passca.
    public static let toyama = CardKind(rawValue: "toyama")
}

/// Decodes ecomyca and passca: balance, history, number, day of issue.
package struct ToyamaDecoder: CardDecoder {
    package let kind = CardKind.toyama
    /// Both cards; a report names the right one when 804B identifies it.
    package let name = LocalizedText("ecomyca or passca", "えこまいか・passca")
    /// Service 884B.
    package let balanceRead = ReadRequest(0x832C, 0x884B)
    /// Balance, history (898F) and issue data (804B).
    package var historyReads: [ReadRequest] { [balanceRead, historyRead, issueRead] }

    /// The issue data.
    package var brandReads: [ReadRequest] { [issueRead] }

    /// 804B: the number of the card.
    package let personal = [PersonalBytes(0x832C, 0x804B)]

    private let historyRead = ReadRequest(0x832C, 0x898F, 0..<20)
    private let issueRead = ReadRequest(0x832C, 0x804B, 0..<2, isRequired: false)

    package init() {}

    /// The balance in 884B: bytes 0 and 1, big-endian, yen.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let block = try dump.block(balanceRead, kind: kind, field: "balance", offset: 0)
        let newest = dump.opened(historyRead)?.blocks[0].flatMap { $0.isZero ? nil : record(of: $0).balance }
        return BalanceReport(
            kind: kind, name: brand(dump)?.name ?? name, amount: Int(block.uint16(at: 0, .big)), newest: newest)
    }

    /// Decodes balance, history, number and day of issue.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: brand(dump)?.name ?? name)
        var newest: Int?
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { record(of: $0).record }
            history.checkAmounts()
            newest = service.blocks[0] == nil ? nil : history.records.first?.balance
            report.take(history)
        }
        try report.takeBalance(orFrom: newest) { () throws(CardDecodingError) in try balance(dump) }
        if let issue = dump.opened(issueRead)?.blocks[1] { report.fields += RegionalBusIssue.fields(issue) }
        return report
    }

    private func record(of raw: Block) -> RegionalBusBlock {
        RegionalBusBlock(raw: raw, layout: .a, system: balanceRead.system)
    }

    /// The brand by the first two bytes of the issue data.
    package func brand(_ dump: CardDump) -> CardBrand? {
        switch dump.opened(issueRead)?.blocks[0]?.uint16(at: 0, .big) {
        case 0x0367: brands[0]
        case 0x0D69: brands[1]
        default: nil
        }
    }

    /// ecomyca and passca.
    package let brands = [
        CardBrand(id: "ecomyca", name: LocalizedText("ecomyca", "えこまいか")),
        CardBrand(id: "passca", name: LocalizedText("passca", "passca（パスカ）")),
    ]
}
