// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// ayuca of Gifu Bus, system 83EE.
//
// Certain (the real card published with felica-wallet; its program and TRETJapanNFCReader agree): the history of 898F in
// layout B, the balance and the points of 884B. A ride can be paid partly with points: the fare of the record is then
// more than the money. 804B/1 dates the issue, as on other cards of the family.

extension CardKind {
    /// ayuca.
    public static let ayuca = CardKind(rawValue: "ayuca")
}

/// Decodes ayuca: balance, points, history, days of issue and of the last use, top-up and redemption.
package struct AyucaDecoder: CardDecoder {
    package let kind = CardKind.ayuca
    package let name = LocalizedText("ayuca", "ayuca（アユカ）")
    /// Service 884B.
    package let balanceRead = ReadRequest(0x83EE, 0x884B)
    /// Balance with points (884B), history (898F) and issue data (804B).
    package var historyReads: [ReadRequest] { [ReadRequest(0x83EE, 0x884B, 0..<2), historyRead, issueRead] }

    /// 804B: the number of the card on other cards of the family.
    package let personal = [PersonalBytes(0x83EE, 0x804B)]

    private let historyRead = ReadRequest(0x83EE, 0x898F, 0..<20)
    private let issueRead = ReadRequest(0x83EE, 0x804B, 0..<2, isRequired: false)

    package init() {}

    /// The balance in 884B: bytes 0 and 1, big-endian, yen.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let raw = try dump.block(balanceRead, kind: kind, field: "balance", offset: 0)
        let newest = dump.opened(historyRead)?.blocks[0].flatMap { $0.isZero ? nil : record(of: $0).balance }
        return BalanceReport(kind: kind, name: name, amount: Int(raw.uint16(at: 0, .big)), newest: newest)
    }

    /// Decodes balance, points, history and days.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        var newest: Int?
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { record(of: $0).record }
            history.takeRedeemedPoints()
            newest = service.blocks[0] == nil ? nil : history.records.first?.balance
            report.take(history)
        }
        try report.takeBalance(orFrom: newest) { () throws(CardDecodingError) in try balance(dump) }
        let purse = dump.opened(balanceRead)?.blocks ?? [:]
        // Twenty bits from bit 32: bytes 4, 5 and the high nibble of 6, in tenths of a point.
        if let points = purse[1] { report.fields.append(.points(tenths: points.uint24(at: 4, .big) >> 4)) }
        if let issue = dump.opened(issueRead)?.blocks[1], let day = CalendarDate(packed: issue.uint16(at: 0, .big)) {
            report.fields.append(.issueDate(day))
        }
        report.fields += [purse[0].flatMap(lastUse), purse[0].flatMap(lastTopUp), purse[1].flatMap(lastRedemption)]
            .compactMap { $0 }
        return report
    }

    private func record(of raw: Block) -> RegionalBusBlock {
        RegionalBusBlock(raw: raw, layout: .b, system: balanceRead.system)
    }

    /// Bytes 7 and 8 of 884B/0.
    private func lastUse(_ block: Block) -> CardField? {
        CalendarDate(packed: block.uint16(at: 7, .big)).map { .day("lastUseDate", "Last used", "最終利用日", $0) }
    }

    /// Bytes 11 to 14 of 884B/0: the day, then six bits hour and six bits minute.
    private func lastTopUp(_ block: Block) -> CardField? {
        guard let day = CalendarDate(packed: block.uint16(at: 11, .big)) else { return nil }
        let packed = block.uint16(at: 13, .big)
        let time = ClockTime(hour: Int(packed.bits(10...15)), minute: Int(packed.bits(4...9)))
        return CardField(
            key: "lastTopUp", name: LocalizedText("Last top-up", "最終チャージ"),
            value: day.description + (time.map { " \($0.hourAndMinute)" } ?? ""), isPersonal: false)
    }

    /// Bytes 2 and 3 of 884B/1.
    private func lastRedemption(_ block: Block) -> CardField? {
        CalendarDate(packed: block.uint16(at: 2, .big)).map {
            .day("lastRedemptionDate", "Points last redeemed", "最終ポイント利用日", $0)
        }
    }
}
