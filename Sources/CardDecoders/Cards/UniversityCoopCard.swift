// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// Prepaid money of the University Co-op, in the common area FE00.
//
// Agreed (TRETJapanNFCReader, felica-wallet; no bytes of a real card were published): 50D7 balance, 50CF history, 50CB
// member, meals and points.

/// Decodes the prepaid money of the University Co-op: balance, member number, meals, points, the last ten records.
public struct UniversityCoopDecoder: CardDecoder {
    /// `coop`
    public let id = "coop"
    /// University Co-op prepaid
    public let name = LocalizedText("University Co-op prepaid", "大学生協プリペイド")
    /// Service 50D7, the purse.
    public let balanceRead = ReadRequest(0xFE00, 0x50D7, 0..<1)
    /// Purse and history (50CF).
    public var historyReads: [ReadRequest] { [balanceRead, historyRead] }

    /// 50CB: the number of the member, and when they last ate.
    public let personal = [PersonalBytes(0xFE00, 0x50CB)]

    private let historyRead = ReadRequest(0xFE00, 0x50CF, 0..<10)
    private let memberRead = ReadRequest(0xFE00, 0x50CB, 0..<6)

    /// The decoder.
    public init() {}

    /// Whether the common area holds the Co-op's purse or history.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(historyRead) }

    /// The balance of the purse: four bytes, little-endian, yen.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let purse = try dump.block(balanceRead, card: id, field: "balance", offset: 0)
        return BalanceReport(
            card: id, name: name, amount: Int(purse.uint32(at: 0, .little)), newest: newestBalance(dump))
    }

    /// Balance, history, member number, meals and points.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { UniversityCoopHistoryBlock(raw: $0).record }
            history.checkAmounts()
            report.take(history)
        }
        try report.takeBalance(orFrom: newestBalance(dump)) { () throws(DecodingFailure) in try balance(dump) }
        if let service = dump.opened(memberRead) { report.take(UniversityCoopMember(service)) }
        return report
    }

    private func newestBalance(_ dump: CardDump) -> Int? {
        guard let block = dump.opened(historyRead)?.blocks[0], !block.isZero else { return nil }
        return UniversityCoopHistoryBlock(raw: block).balance
    }
}
