// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// ayuca of Gifu Bus, system 83EE.
//
// One source each, without contradictions (felica-wallet, TRETJapanNFCReader): the history of 898F in layout B, the
// balance and the points of 884B.

/// Decodes ayuca: balance, points, history.
package struct AyucaDecoder: CardDecoder {
    /// The identifier `ayuca`.
    package let id = "ayuca"
    /// ayuca.
    package let name = LocalizedText("ayuca", "ayuca（アユカ）")
    /// Service 884B.
    package let balanceRead = ReadRequest(0x83EE, 0x884B)
    /// Balance with points (884B) and history (898F).
    package var historyReads: [ReadRequest] { [ReadRequest(0x83EE, 0x884B, 0..<2), historyRead] }

    private let historyRead = ReadRequest(0x83EE, 0x898F, 0..<20)

    /// Creates the decoder.
    package init() {}

    /// Returns whether the system has the balance or the history.
    package func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(historyRead) }

    /// The balance in 884B: bytes 0 and 1, big-endian, yen.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let raw = try dump.block(balanceRead, card: id, field: "balance", offset: 0)
        let newest = dump.opened(historyRead)?.blocks[0].flatMap { $0.isZero ? nil : record(of: $0).balance }
        return BalanceReport(
            card: id, name: name, amount: Int(raw.uint16(at: 0, .big)), newest: newest, warnings: [.oneSource])
    }

    /// Decodes balance, points and history.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(card: id, name: name)
        var newest: Int?
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { record(of: $0).record }
            history.checkAmounts()
            newest = service.blocks[0] == nil ? nil : history.records.first?.balance
            report.take(history)
        }
        try report.takeBalance(orFrom: newest) { () throws(CardDecodingError) in try balance(dump) }
        // Twenty bits from bit 32: bytes 4, 5 and the high nibble of 6, in tenths of a point.
        if let points = dump.opened(balanceRead)?.blocks[1] {
            report.fields.append(.points(tenths: points.uint24(at: 4, .big) >> 4))
        }
        return report
    }

    private func record(of raw: Block) -> RegionalBusBlock {
        RegionalBusBlock(raw: raw, layout: .b, system: balanceRead.system)
    }
}
