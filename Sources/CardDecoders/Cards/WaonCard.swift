// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// WAON, in the common area FE00.
//
// Agreed (TRETJapanNFCReader, felica2money and others; no bytes of a real card were published): 6817 balance, 684F
// number, 684B points and their expiry, 680B history. Disputed: the place of a record's serial and bits, see
// ``WaonHistoryPair``. 67CF is an identification of its own to felica2money only and not given; where the flags in
// 67CB lie (invalid, auto-charge) is unpublished, as are 680F, 688B, 688F, 68CB and 68CF. The marker system 852B says
// nothing that is needed.

/// Decodes WAON: balance, number, points with their expiry, the last three payments and charges.
public struct WaonDecoder: CardDecoder {
    /// `waon`
    public let id = "waon"
    /// WAON
    public let name = LocalizedText("WAON", "WAON")
    /// Service 6817, the purse.
    public let balanceRead = ReadRequest(0xFE00, 0x6817, 0..<1)
    /// Purse and history: blocks 0 to 5 of 680B, which has nine.
    public var historyReads: [ReadRequest] { [balanceRead, historyRead] }

    /// 684F: the number of the card; 67CF, an identification of its own to felica2money.
    public let personal = [PersonalBytes(0xFE00, 0x684F), PersonalBytes(0xFE00, 0x67CF)]

    private let historyRead = ReadRequest(0xFE00, 0x680B, 0..<6)
    private let numberRead = ReadRequest(0xFE00, 0x684F, 0..<2)
    private let pointsRead = ReadRequest(0xFE00, 0x684B, 0..<1)

    /// The decoder.
    public init() {}

    /// Whether the common area holds WAON's purse or history.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(historyRead) }

    /// The balance of the purse: four bytes, little-endian, yen.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let purse = try dump.block(balanceRead, card: id, field: "balance", offset: 0)
        return BalanceReport(
            card: id, name: name, amount: Int(purse.uint32(at: 0, .little)),
            newest: dump.opened(historyRead).flatMap { WaonHistory($0).newestBalance })
    }

    /// Balance, history, number, points and their expiry.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
        let history = dump.opened(historyRead).map { WaonHistory($0) }
        if let history {
            report.history = history.records
            report.warnings += history.warnings
        }
        try report.takeBalance(orFrom: history?.newestBalance) { () throws(DecodingFailure) in
            try balance(dump)
        }
        if let block = dump.opened(numberRead)?.blocks[0] {
            report.take(CardNumber(block.bytes.prefix(8)), LocalizedText("WAON number", "WAON番号"))
        }
        if let block = dump.opened(pointsRead)?.blocks[0] {
            report.fields.append(.points(Int(block.uint24(at: 0, .big))))
            if let expiry = CalendarDate(decimalYear: block[11], month: block[12], day: block[13]) {
                report.fields.append(
                    CardField(
                        key: "pointsExpiry", name: LocalizedText("Points expire", "ポイント有効期限"),
                        value: expiry.description, isPersonal: false))
            }
        }
        return report
    }
}
