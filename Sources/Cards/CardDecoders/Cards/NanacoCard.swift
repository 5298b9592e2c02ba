// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// nanaco, in the common area FE00.
//
// Certain (a real card in the tests of TRETJapanNFCReader v2.x; TRETJapanNFCReader, felica2money and others agree): 5597
// balance, 558B number, 564F history, 560B points with their expiry. Probable: a day of issue in 558B. 55CB (statistics) is unpublished. The marker
// systems 04C7 and 8B61 contain nothing of use, and 8B61 is listed for other cards too.

extension CardKind {
    /// nanaco.
    public static let nanaco = CardKind(rawValue: "nanaco")
}

/// Decodes nanaco: balance, number, points, the last five payments and charges.
package struct NanacoDecoder: PurseDecoder {
    package let kind = CardKind.nanaco
    package let name = LocalizedText("nanaco", "nanaco")
    /// Service 5597, the purse.
    package let balanceRead = ReadRequest(0xFE00, 0x5597)
    /// Purse and history (564F).
    package var historyReads: [ReadRequest] { [balanceRead, historyRead] }
    /// Bytes 13 and 14 of a record.
    package let serials: SerialNumbers? = SerialNumbers(bits: 16)

    /// 558B: the number of the card; 100B of the marker system 8B61: the member.
    package let personal = [PersonalBytes(0xFE00, 0x558B), PersonalBytes(0x8B61, 0x100B)]

    private let historyRead = ReadRequest(0xFE00, 0x564F, 0..<5)
    private let numberRead = ReadRequest(0xFE00, 0x558B)
    private let pointsRead = ReadRequest(0xFE00, 0x560B)

    package init() {}

    package func newestBalance(_ dump: CardDump) -> Int? {
        guard let block = dump.opened(historyRead)?.blocks[0], !block.isZero else { return nil }
        return NanacoHistoryBlock(raw: block).balance
    }

    /// Decodes balance, history, number and points.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(kind: kind, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { NanacoHistoryBlock(raw: $0).record }
            history.checkAmounts()
            report.take(history)
        }
        try report.takeBalance(orFrom: newestBalance(dump)) { () throws(CardDecodingError) in
            try balance(dump)
        }
        if let block = dump.opened(numberRead)?.blocks[0] {
            report.take(CardNumber(block.bytes.prefix(8)), LocalizedText("nanaco number", "nanaco番号"))
        }
        // On the one published card a plausible day of issue; no source says so.
        if let day = dump.opened(numberRead)?.blocks[1].flatMap({ CalendarDate(packed: $0.uint16(at: 1, .big)) }) {
            report.fields.append(.day("probableIssueDate", "Issued, probably", "発行日（推定）", day))
        }
        report.fields += dump.opened(pointsRead).map { NanacoPoints(service: $0).fields } ?? []
        return report
    }
}

/// One block of service 564F: kind, amount and balance (32 bits each), stamp (32 bits), serial (16 bits), big-endian.
///
/// The stamp is eleven bits of years since 2000, four of month, five of day, six of hour, six of minute. Byte 15 is
/// unknown. Only an all-zero block is unused: no source says that kind 00 alone is enough.
struct NanacoHistoryBlock {
    private static let kinds = DecoderTables.purseKinds["nanaco"] ?? [:]

    let raw: Block

    var balance: Int { Int(raw.uint32(at: 5, .big)) }

    var record: HistoryRecord {
        let stamp = raw.uint32(at: 9, .big)
        let date = CalendarDate(
            year: 2000 + Int(stamp.bits(21...31)), month: Int(stamp.bits(17...20)), day: Int(stamp.bits(12...16)))
        let time = ClockTime(hour: Int(stamp.bits(6...11)), minute: Int(stamp.bits(0...5)))
        let kind = Self.kinds[raw[0]]
        return HistoryRecord(
            serial: Int(raw.uint16(at: 13, .big)),
            date: date,
            time: time,
            kind: kind?.recordKind ?? .other,
            process: kind?.value ?? CodedValue(code: raw[0], name: nil),
            amount: kind?.signed(Int(raw.uint32(at: 1, .big))),
            balance: balance,
            warnings: DecodingWarning.invalid(date, time),
            raw: raw)
    }
}

/// Service 560B: the points of two years, and the day of the last movement.
///
/// Block 1: this year's points (three bytes at 0) with the day on which they expire (3, 4), then last year's in the same
/// way (5 to 7; 8, 9). Block 0, bytes 2 and 3: the day of the last movement. Days are packed, seven bits year, four month,
/// five day.
struct NanacoPoints {
    let service: ServiceDump

    /// The fields; a day that is not valid has none.
    var fields: [CardField] {
        let used = service.blocks[0].flatMap { CalendarDate(packed: $0.uint16(at: 2, .big)) }
        var fields = used.map { [CardField.day("lastUseDate", "Last used", "最終利用日", $0)] } ?? []
        guard let block = service.blocks[1] else { return fields }
        let (current, previous) = (Int(block.uint24(at: 0, .big)), Int(block.uint24(at: 5, .big)))
        fields.append(.points(current + previous))
        if let day = CalendarDate(packed: block.uint16(at: 3, .big)) {
            fields.append(.number("pointsCurrent", "Points of this period", "今期のポイント", current))
            fields.append(.day("pointsCurrentExpiry", "They expire", "同 有効期限", day))
        }
        if let day = CalendarDate(packed: block.uint16(at: 8, .big)) {
            fields.append(.number("pointsPrevious", "Points of the last period", "前期のポイント", previous))
            fields.append(.day("pointsPreviousExpiry", "They expire", "同 有効期限", day))
        }
        return fields
    }
}
