// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// Ryuto of Niigata Kotsu, system 8B5D.
//
// Agreed (TRETJapanNFCReader, toyowata): the history of 898F in layout A, except for the money. One source (toyowata):
// the number and the day of issue in 804B. Disputed: TRETJapanNFCReader has the balance in bytes 14 and 15 and the
// amount in 10 and 11; toyowata shows bytes 10 and 11 as the balance, but prints its history like the other. No
// published card decides this, so the balance has two candidates, and the records have neither amount nor balance.

extension CardKind {
    /// Ryuto.
    public static let ryuto = CardKind(rawValue: "ryuto")
}

/// Decodes Ryuto: history, and both readings of the balance.
package struct RyutoDecoder: CardDecoder {
    package let kind = CardKind.ryuto
    package let name = LocalizedText("Ryuto", "りゅーと")
    /// The newest block of service 898F.
    package let balanceRead = ReadRequest(0x8B5D, 0x898F)
    /// The twenty blocks of service 898F, and issue data (804B).
    package var historyReads: [ReadRequest] { [historyRead, issueRead] }

    /// 804B: the number of the card.
    package let personal = [PersonalBytes(0x8B5D, 0x804B)]

    private let historyRead = ReadRequest(0x8B5D, 0x898F, 0..<20)
    private let issueRead = ReadRequest(0x8B5D, 0x804B, 0..<2, isRequired: false)

    package init() {}

    /// No amount, but the two that sources read, in yen; none when no record was ever written.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let newest = try dump.block(balanceRead, kind: kind, field: "balance", offset: 10)
        let readings = newest.isZero ? [] : [(14, "TRETJapanNFCReader"), (10, "toyowata")]
        let candidates = readings.map { offset, source in
            BalanceCandidate(
                amount: Int(newest.uint16(at: offset, .big)),
                condition: LocalizedText(
                    "bytes \(offset) and \(offset + 1), as \(source) reads it",
                    "バイト\(offset)・\(offset + 1)（\(source) の解釈）"))
        }
        return BalanceReport(
            balances: [BalanceEntry(kind: kind, name: name, amount: nil, candidates: candidates)],
            warnings: candidates.isEmpty ? [] : [.readingsDiffer])
    }

    /// Decodes the history and both readings of the balance.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        if let service = dump.opened(historyRead) {
            report.take(LocalHistory(service) { record($0) })
        }
        try report.takeBalance(orFrom: nil) { () throws(CardDecodingError) in try balance(dump) }
        if let issue = dump.opened(issueRead)?.blocks[1] { report.fields += RegionalBusIssue.fields(issue) }
        return report
    }

    private func record(_ raw: Block) -> HistoryRecord {
        var record = RegionalBusBlock(raw: raw, layout: .a, system: balanceRead.system).record
        record.amount = nil
        record.balance = nil
        record.warnings.append(.readingsDiffer)
        return record
    }
}
