// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

// RapiCa and the Iwasaki IC card of Kagoshima, one system 8194. All numbers are big-endian, years count from 2000.
//
// One source (felica-look), never checked on a published card. The history of 008F tells month, day, hour and minute,
// but no year: the year is inferred from 004B, which dates the last ride, and from the order of the records; where that
// cannot be done the date is not given. Byte 3 of a record tells the company, by its high nibble.

/// Decodes RapiCa and the Iwasaki IC card: balance, points, history, charges, day of issue.
public struct RapiCaDecoder: CardDecoder {
    /// `rapica`
    public let id = "rapica"
    /// RapiCa or the Iwasaki IC card; the company of the issue data tells which.
    public let name = LocalizedText("RapiCa or Iwasaki IC card", "RapiCa・いわさきICカード")
    /// Block 1 of service 004B.
    public let balanceRead = ReadRequest(0x8194, 0x004B, 1..<2)
    /// Attributes (004B), history (008F), charges (00CF), issue data (000B).
    public var historyReads: [ReadRequest] { [attributeRead, historyRead, chargeRead, issueRead] }

    private let attributeRead = ReadRequest(0x8194, 0x004B, 0..<4)
    private let historyRead = ReadRequest(0x8194, 0x008F, 0..<20)
    private let chargeRead = ReadRequest(0x8194, 0x00CF, 0..<10, isRequired: false)
    private let issueRead = ReadRequest(0x8194, 0x000B, 0..<1, isRequired: false)

    /// The decoder.
    public init() {}

    /// Whether the system holds balance or history.
    public func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(historyRead) }

    /// Bytes 3 to 5 of block 1 of 004B, yen.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let block = try dump.block(balanceRead, card: id, field: "balance", offset: 3)
        return BalanceReport(
            balances: [BalanceEntry(card: id, name: brand(dump), amount: Int(block.uint24(at: 3, .big)))],
            warnings: [.oneSource])
    }

    /// Balance, points, history, charges and day of issue.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: brand(dump))
        let attributes = dump.opened(attributeRead)?.blocks ?? [:]
        let issue = dump.opened(issueRead)?.blocks[0].map { RapiCaIssue($0) }
        var newest: Int?
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { RapiCaHistoryBlock(raw: $0).record }
            history.takeAmountsFromBalances()
            RapiCaYears(lastRide: attributes[0], issued: issue?.date).apply(to: &history)
            newest = service.blocks[0] == nil ? nil : history.records.first?.balance
            report.take(history)
        }
        try report.takeBalance(orFrom: newest) { () throws(DecodingFailure) in try balance(dump) }
        report.fields += issue?.fields ?? []
        if let money = attributes[1] {
            report.fields.append(.points(Int(money.uint16(at: 8, .big))))
            report.fields.append(.number("premium", "Premium", "プレミアム", money.uint16(at: 6, .big)))
            report.fields.append(.number("serial", "Running number", "通番", money.uint24(at: 11, .big)))
        }
        if let charges = dump.opened(chargeRead) { report.fields += RapiCaCharges.fields(charges) }
        return report
    }

    private func brand(_ dump: CardDump) -> LocalizedText {
        switch dump.opened(issueRead)?.blocks[0]?.uint16(at: 0, .big) {
        case 0x232F: LocalizedText("RapiCa", "RapiCa（ラピカ）")
        case 0x2332: LocalizedText("Iwasaki IC card", "いわさきICカード")
        default: name
        }
    }
}
