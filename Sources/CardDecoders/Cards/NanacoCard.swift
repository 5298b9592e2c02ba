// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

// nanaco, in the common area FE00.
//
// Agreed (TRETJapanNFCReader, felica2money and others; no bytes of a real card were published): 5597 balance, 558B
// number, 564F history. Disputed: points in 560B, see ``NanacoPoints``. 55CB (statistics) is unpublished. The marker
// systems 04C7 and 8B61 contain nothing of use, and 8B61 is listed for other cards too.

/// Decodes nanaco: balance, number, points, the last five payments and charges.
package struct NanacoDecoder: CardDecoder {
    /// The identifier `nanaco`.
    package let id = "nanaco"
    /// nanaco.
    package let name = LocalizedText("nanaco", "nanaco")
    /// Service 5597, the purse.
    package let balanceRead = ReadRequest(0xFE00, 0x5597)
    /// Purse and history (564F).
    package var historyReads: [ReadRequest] { [balanceRead, historyRead] }

    /// 558B: the number of the card; 100B of the marker system 8B61: the member.
    package let personal = [PersonalBytes(0xFE00, 0x558B), PersonalBytes(0x8B61, 0x100B)]

    private let historyRead = ReadRequest(0xFE00, 0x564F, 0..<5)
    private let numberRead = ReadRequest(0xFE00, 0x558B)
    private let pointsRead = ReadRequest(0xFE00, 0x560B)

    /// Creates the decoder.
    package init() {}

    /// Returns whether the common area has nanaco's purse or history.
    package func recognises(_ dump: CardDump) -> Bool { dump.holds(balanceRead) || dump.holds(historyRead) }

    /// The balance of the purse: four bytes, little-endian, yen.
    package func balance(_ dump: CardDump) throws(CardDecodingError) -> BalanceReport {
        let purse = try dump.block(balanceRead, card: id, field: "balance", offset: 0)
        return BalanceReport(
            card: id, name: name, amount: Int(purse.uint32(at: 0, .little)), newest: newestRecord(dump)?.balance)
    }

    /// Decodes balance, history, number and points.
    package func decode(_ dump: CardDump, stations: any StationNames) throws(CardDecodingError) -> CardReport {
        var report = CardReport(card: id, name: name)
        if let service = dump.opened(historyRead) {
            var history = LocalHistory(service) { NanacoHistoryBlock(raw: $0).record }
            history.checkAmounts()
            report.take(history)
        }
        try report.takeBalance(orFrom: newestRecord(dump)?.balance) { () throws(CardDecodingError) in
            try balance(dump)
        }
        if let block = dump.opened(numberRead)?.blocks[0] {
            report.take(CardNumber(block.bytes.prefix(8)), LocalizedText("nanaco number", "nanaco番号"))
        }
        if let block = dump.opened(pointsRead)?.blocks[1] { report.take(NanacoPoints(raw: block)) }
        return report
    }

    private func newestRecord(_ dump: CardDump) -> NanacoHistoryBlock? {
        guard let block = dump.opened(historyRead)?.blocks[0], !block.isZero else { return nil }
        return NanacoHistoryBlock(raw: block)
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

/// Block 1 of service 560B, which sources read in three ways.
struct NanacoPoints {
    let raw: Block

    /// Three bytes at 0, big-endian (felica2money and others).
    private var first: Int { Int(raw.uint24(at: 0, .big)) }

    /// The above plus the three bytes at 5: this year's points and last year's (TRETJapanNFCReader).
    private var bothYears: Int { first + Int(raw.uint24(at: 5, .big)) }

    /// Two bytes at 1, big-endian (toyowata).
    private var short: Int { Int(raw.uint16(at: 1, .big)) }

    /// The points when all readings agree; otherwise all readings.
    var field: CardField {
        guard !isDisputed else {
            let readings = [first, bothYears, short].map { String($0) }
            return CardField(
                key: "pointsReadings", name: LocalizedText("Points (readings differ)", "ポイント（諸説あり）"),
                value: readings.joined(separator: " "),
                label: LocalizedText(
                    "\(readings[0]); with the year before \(readings[1]); in two bytes \(readings[2])",
                    "\(readings[0])、前年分を含めて\(readings[1])、2バイトでは\(readings[2])"),
                isPersonal: false)
        }
        return .points(first)
    }

    /// Whether the readings differ.
    var isDisputed: Bool { first != bothYears || first != short }
}

extension CardReport {
    /// Adds the points of a nanaco.
    mutating func take(_ points: NanacoPoints) {
        fields.append(points.field)
        if points.isDisputed { warnings.append(.readingsDiffer) }
    }
}
